"""Claims without and with tracking, of space-time networks, and experiments."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from pushforward.control.neural.families import WeightsOutside, relu
from pushforward.control.neural.gauss_newton import ILQR
from pushforward.control.neural.problem import Parameters as Weights
from pushforward.control.neural.problem import RungeKutta
from pushforward.control.neural.targets import target_problem
from pushforward.control.neural.training import minimal_norm_interpolator, optimize
from pushforward.studies._claims import Claim, at_least, at_most, place, rate, within
from pushforward.studies.large_time.experiments import (
    chess_board,
    chess_exact_zeros,
    circles_objective,
    digits_depth,
    rank_one_kernel,
    width_independence,
)
from pushforward.studies.large_time.study import (
    GOAL,
    KEY,
    NAME,
    PAPER,
    START,
    Parameters,
    rescaled_norm,
    scalar_sweep,
    tracked,
    triple_sweep,
)
from pushforward.theory import depth as theory

FINAL_RISK = place(PAPER, "large time without tracking")
TRACKING = place(PAPER, "large time with tracking")


def minimal_norm(p: Parameters) -> Claim:
    """The least norm that interpolates one point is a squared distance."""
    problem = target_problem(
        WeightsOutside(1, relu),
        [[0.5]],
        [[math.e]],
        lam=1.0,
        horizon=1.0,
        layers=80,
        tracking=0.0,
        scheme=RungeKutta(),
    )
    one = Weights(jnp.ones((80, 2)), None)
    found = minimal_norm_interpolator(problem, start=one).history[-1]
    exact = theory.scalar_minimal_norm(0.5, math.e)
    return within(
        NAME,
        "minimal norm that interpolates 1/2 to e",
        FINAL_RISK,
        "theorem",
        found,
        exact,
        2e-5,
    )


def risk_bound(p: Parameters) -> Claim:
    """E(T) <= lam ||v*||^2/T for every T."""
    runs = scalar_sweep()
    worst = max(float(r.problem.horizon) * r.risk()[-1] for r in runs)
    exact = theory.scalar_minimal_norm(0.5, math.e)
    return at_most(
        NAME,
        "largest T E(T), T to 1024, lam ||v*||^2",
        FINAL_RISK,
        "theorem",
        worst,
        exact,
    )


def norms_increase(p: Parameters) -> Claim:
    """Rescaled controls grow toward the minimal norm, risks fall."""
    runs = triple_sweep()
    norms = np.array([rescaled_norm(r) for r in runs])
    risks = np.array([r.risk()[-1] for r in runs])
    least = min(np.min(np.diff(norms)), np.min(-np.diff(risks)))
    note = f"norms {', '.join(f'{v:.6f}' for v in norms[[0, 2, 4, 7]])}"
    return at_least(
        NAME,
        "least increment of norms and decrement of risks",
        FINAL_RISK,
        "theorem",
        least,
        0.0,
        note,
    )


def limit_norm(p: Parameters) -> Claim:
    """Rescaled controls tend to the interpolation of least norm."""
    last = triple_sweep()[-1]
    still = Weights(jnp.zeros_like(last.controls), None)
    least = rescaled_norm(minimal_norm_interpolator(last.problem, start=still))
    claim = "three particles: ||v_T||^2 at T = 16384, and the least that interpolates"
    note = "the gap falls like 1/T"
    found = rescaled_norm(last)
    return within(NAME, claim, FINAL_RISK, "theorem", found, least, 1e-4, note)


def squared_constant(p: Parameters) -> Claim:
    """T^2 E tends to lam^2 D^2/(1 + e^2) for the squared loss."""
    last = scalar_sweep()[-1]
    return within(
        NAME,
        "T^2 E at T = 1024, lam^2 D^2/(1 + e^2)",
        FINAL_RISK,
        "theorem",
        float(last.problem.horizon) ** 2 * last.risk()[-1],
        theory.squared_risk_constant(0.5, math.e, 1.0),
        5e-5,
    )


def squared_slope(p: Parameters) -> Claim:
    """The risk of three particles falls with slope -2."""
    runs = triple_sweep()[2:]
    horizons = [float(r.problem.horizon) for r in runs]
    slope = np.polyfit(np.log(horizons), np.log([r.risk()[-1] for r in runs]), 1)[0]
    return rate(
        NAME,
        "three particles: slope of log risk in log T",
        FINAL_RISK,
        "theorem",
        slope,
        -2.0,
        0.02,
    )


def constant_speed(p: Parameters) -> Claim:
    """Without tracking |u(t)| is constant."""
    problem = target_problem(
        WeightsOutside(2),
        START,
        GOAL,
        lam=0.05,
        horizon=4.0,
        layers=80,
        tracking=0.0,
        scheme=RungeKutta(),
    )
    norms = optimize(problem, solver=ILQR(tolerance=1e-12), key=KEY).norms()
    spread = np.ptp(norms) / np.mean(norms)
    return at_most(
        NAME,
        "relative spread of |u(t)| over the layers",
        FINAL_RISK,
        "theorem",
        spread,
        1e-5,
        f"mean {np.mean(norms):.5f}",
    )


def exponential_decay(p: Parameters) -> Claim:
    """Tracking decays at sqrt(omega/lam) times the least singular value."""
    run = tracked(40.0, p.layers)
    window = (run.times > 12) & (run.times < 24)
    distance = np.sqrt(run.risk()[window])
    found = -np.polyfit(run.times[window], np.log(distance), 1)[0]
    exact = theory.tracking_rates(np.tanh(GOAL), 1 / 3, 0.5)[-1]
    return rate(
        NAME,
        "rate of decay, sqrt(omega/lam) least singular value",
        TRACKING,
        "theorem",
        found,
        exact,
        5e-4,
    )


def scalar_tracking(p: Parameters) -> Claim:
    """Scalar tracking costs its infinite-horizon integral."""
    problem = target_problem(
        WeightsOutside(1, relu),
        [[0.5]],
        [[2.0]],
        lam=1.0,
        horizon=8.0,
        layers=p.layers,
        final=0.0,
    )
    found = optimize(problem, solver=ILQR(), key=KEY).objective
    exact = theory.scalar_tracking_cost(0.5, 2.0, 1.0)
    return within(
        NAME,
        "scalar tracking: cost, and its infinite-horizon integral",
        TRACKING,
        "theorem",
        found,
        exact,
        3e-4,
    )


def hamiltonian_law(p: Parameters) -> Claim:
    """The energy lam|u|^2 = E - E(T), to second order in the layer length."""
    defects = [tracked(4.0, k).hamiltonian_defect() for k in (50, 100)]
    return rate(
        NAME,
        "order in the layer length of the defect of lam|u|^2 = E - E(T)",
        TRACKING,
        "theorem",
        np.log2(defects[0] / defects[1]),
        2.0,
        0.1,
        note=f"defects {defects[0]:.2e}, {defects[1]:.2e}",
    )


def no_final_layer(p: Parameters) -> Claim:
    """No layer at the end: the last state is the nearest to the target."""
    risk = tracked(40.0, p.layers).risk()
    return at_most(
        NAME,
        "tracking: final risk minus least risk",
        TRACKING,
        "theorem",
        risk[-1] - np.min(risk),
        1e-15,
    )


def scaling(p: Parameters) -> Claim:
    """Only lam/T matters, exactly, also after discretization."""
    u = jax.random.normal(KEY, (7, 6))
    deep, unit = (
        target_problem(
            WeightsOutside(2),
            START,
            GOAL,
            lam=0.3 * t / 3.7,
            horizon=t,
            layers=7,
            tracking=0.0,
        )
        for t in (3.7, 1.0)
    )
    gap = deep.objective(Weights(u, None)) - unit.objective(Weights(3.7 * u, None))
    size = float(deep.objective(Weights(u, None)))
    return at_most(
        NAME,
        "scaling identity",
        PAPER,
        "identity",
        abs(float(gap)) / size,
        1e-13,
    )


CLAIMS = (
    minimal_norm,
    risk_bound,
    norms_increase,
    limit_norm,
    squared_constant,
    squared_slope,
    constant_speed,
    exponential_decay,
    scalar_tracking,
    hamiltonian_law,
    no_final_layer,
    scaling,
    rank_one_kernel,
    width_independence,
    circles_objective,
    chess_board,
    chess_exact_zeros,
    digits_depth,
)
