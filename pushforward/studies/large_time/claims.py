"""Claims T1 to T3 and the experiments on circles, chess board and digits."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from pushforward.control.neural.families import Out, relu
from pushforward.control.neural.gauss_newton import ILQR
from pushforward.control.neural.point_sets import moons
from pushforward.control.neural.problem import Parameters as Weights
from pushforward.control.neural.schemes import RungeKutta
from pushforward.control.neural.targets import target_problem
from pushforward.control.neural.training import minimal_norm_interpolator, optimize
from pushforward.control.space_time import (
    SpaceTimeProblem,
    cosine_lift,
    march,
    train_space_time,
    width_profile,
)
from pushforward.studies._claims import Claim, at_least, at_most, within
from pushforward.studies.large_time.experiments import (
    chess_board,
    chess_exact_zeros,
    circles_objective,
    digits_depth,
)
from pushforward.studies.large_time.study import (
    GOAL,
    KEY,
    PAPER,
    START,
    Parameters,
    rescaled_norm,
    scalar_sweep,
    tracked,
    triple_sweep,
)
from pushforward.theory import depth as theory

NAME = "large_time"


def minimal_norm(p: Parameters) -> Claim:
    """The least norm that interpolates one point is a squared distance."""
    problem = target_problem(
        Out(1, relu),
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
    return within(NAME, "T1 minimal norm (C3-1)", PAPER, "theorem", found, exact, 2e-5)


def risk_bound(p: Parameters) -> Claim:
    """T1: E(T) <= lam ||v*||^2/T for every T."""
    runs = scalar_sweep()
    worst = max(float(r.problem.horizon) * r.risk()[-1] for r in runs)
    exact = theory.scalar_minimal_norm(0.5, math.e)
    return at_most(NAME, "T1 largest T E(T) (C3-3)", PAPER, "theorem", worst, exact)


def norms_increase(p: Parameters) -> Claim:
    """T1: rescaled controls grow toward the minimal norm, risks fall."""
    runs = triple_sweep()
    norms = np.array([rescaled_norm(r) for r in runs])
    risks = np.array([r.risk()[-1] for r in runs])
    least = min(np.min(np.diff(norms)), np.min(-np.diff(risks)))
    note = f"norms {', '.join(f'{v:.6f}' for v in norms[[0, 2, 4, 7]])} (C3-4)"
    return at_least(NAME, "T1 least increment", PAPER, "theorem", least, 0.0, note)


def limit_norm(p: Parameters) -> Claim:
    """T1: the norm at T = 16384."""
    return within(
        NAME,
        "T1 ||v_T||^2 at T = 16384 (C3-4)",
        PAPER,
        "theorem",
        rescaled_norm(triple_sweep()[-1]),
        1.207358,
        1e-5,
    )


def squared_constant(p: Parameters) -> Claim:
    """T1': T^2 E tends to lam^2 D^2/(1 + e^2) for the squared loss."""
    last = scalar_sweep()[-1]
    return within(
        NAME,
        "T1' T^2 E at T = 1024 (C3-2)",
        PAPER,
        "theorem",
        float(last.problem.horizon) ** 2 * last.risk()[-1],
        theory.squared_risk_constant(0.5, math.e, 1.0),
        5e-5,
    )


def squared_slope(p: Parameters) -> Claim:
    """T1': the risk of three particles falls with slope -2."""
    runs = triple_sweep()[2:]
    horizons = [float(r.problem.horizon) for r in runs]
    slope = np.polyfit(np.log(horizons), np.log([r.risk()[-1] for r in runs]), 1)[0]
    return within(NAME, "T1' slope (C3-4)", PAPER, "theorem", slope, -2.0, 0.02)


def constant_speed(p: Parameters) -> Claim:
    """T1'': without tracking |u(t)| is constant."""
    problem = target_problem(
        Out(2),
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
    return within(
        NAME,
        "T1'' constant |u| (C3-5)",
        PAPER,
        "theorem",
        np.mean(norms),
        0.26187,
        1e-5,
        f"relative spread {spread:.1e}",
    )


def exponential_decay(p: Parameters) -> Claim:
    """T2': tracking decays at sqrt(omega/lam) times the least singular value."""
    run = tracked(40.0, p.layers)
    window = (run.times > 12) & (run.times < 24)
    distance = np.sqrt(run.risk()[window])
    rate = -np.polyfit(run.times[window], np.log(distance), 1)[0]
    exact = theory.tracking_rates(np.tanh(GOAL), 1 / 3, 0.5)[-1]
    return within(NAME, "T2' tracking rate (C3-6)", PAPER, "theorem", rate, exact, 5e-4)


def scalar_tracking(p: Parameters) -> Claim:
    """T2': scalar tracking costs its infinite-horizon integral."""
    problem = target_problem(
        Out(1, relu), [[0.5]], [[2.0]], lam=1.0, horizon=8.0, layers=p.layers, final=0.0
    )
    found = optimize(problem, solver=ILQR(), key=KEY).objective
    exact = theory.scalar_tracking_cost(0.5, 2.0, 1.0)
    return within(NAME, "T2' scalar cost (C3-7)", PAPER, "theorem", found, exact, 3e-4)


def hamiltonian_law(p: Parameters) -> Claim:
    """T2'': lam|u|^2 = E - E(T), to second order in the layer length."""
    defects = [tracked(4.0, k).hamiltonian_defect() for k in (50, 100)]
    return within(
        NAME,
        "T2'' defect ratio per doubling (C3-8)",
        PAPER,
        "identity",
        defects[0] / defects[1],
        4.0,
        0.3,
        f"defects {defects[0]:.2e}, {defects[1]:.2e}",
    )


def no_final_layer(p: Parameters) -> Claim:
    """T2: no layer at the end: the last state is the nearest to the target."""
    risk = tracked(40.0, p.layers).risk()
    return at_most(
        NAME,
        "T2 final risk minus least risk",
        PAPER,
        "theorem",
        risk[-1] - np.min(risk),
        1e-15,
    )


def scaling(p: Parameters) -> Claim:
    """Only lam/T matters, exactly, also after discretization."""
    u = jax.random.normal(KEY, (7, 6))
    deep, unit = (
        target_problem(
            Out(2), START, GOAL, lam=0.3 * t / 3.7, horizon=t, layers=7, tracking=0.0
        )
        for t in (3.7, 1.0)
    )
    gap = deep.objective(Weights(u, None)) - unit.objective(Weights(3.7 * u, None))
    size = float(deep.objective(Weights(u, None)))
    return at_most(
        NAME,
        "scaling identity (C3-9)",
        PAPER,
        "identity",
        abs(float(gap)) / size,
        1e-13,
    )


def _march_error(n: int) -> float:
    nodes = np.linspace(0, 1, n)
    x = march(
        lambda z, s: (1 + 0.5 * np.sin(2 * np.pi * z)) * np.exp(-s),
        lambda z: 1.5 + np.cos(3 * z),
        [nodes] * 400,
        1.0,
        activation=lambda s: np.maximum(s, 0.0),
    )
    return float(np.max(np.abs(x - theory.rank_one_network(1.0, nodes))))


def rank_one_kernel(p: Parameters) -> Claim:
    """T3: a rank-one kernel on a grid of 41 nodes against its exact solution."""
    return within(
        NAME,
        "T3 error of the grid, 41 nodes (C3-10)",
        PAPER,
        "identity",
        _march_error(41),
        1.5e-4,
        1e-5,
    )


def width_independence(p: Parameters) -> Claim:
    """T3: with scaled unknowns the optimal cost hardly depends on the width."""
    points, labels = moons(1, 20)
    values = []
    for widths in ([9] * 17, [*range(6, 14), 13, *range(13, 5, -1)]):
        problem = SpaceTimeProblem(
            cosine_lift(points), labels, width_profile(widths), lam=0.01, horizon=4.0
        )
        values.append(train_space_time(problem, steps=p.width_steps, key=KEY)[1])
    note = f"constant width {values[0]:.4f}, diamond {values[1]:.4f}"
    return within(
        NAME,
        "T3 cost of a diamond over constant width",
        PAPER,
        "experiment",
        values[1] / values[0],
        1.0,
        0.05,
        note,
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
