"""Claims of the survey: layers, rates, value functions, and where they fail."""

import importlib.util

import numpy as np

from pushforward.control.classical import differential_riccati, semi_lagrangian_value
from pushforward.control.classical.heat import (
    CubicBoundary,
    boundary_heat,
    interior_heat,
    tie,
)
from pushforward.control.classical.wave import optimal_transport_inflow
from pushforward.studies._claims import Claim
from pushforward.studies.turnpike._waves import (
    grid_null_control,
    no_tracking,
    periodic_control,
    wave_cloud,
    wave_rates,
    weak_tracking,
)
from pushforward.studies.turnpike.study import (
    PAPER,
    Parameters,
    at_most,
    example,
    fitted_rate,
    open_claim,
    paper,
    scalar_example,
    semilinear,
    square,
    square_distance,
    within,
)
from pushforward.theory import turnpike as theory

LINEAR = paper("linear-quadratic turnpike")
HEAT_AND_WAVE = paper("heat and wave equations")
SEMILINEAR = paper("semilinear heat equation")
TWO_OPTIMA = paper("several stationary optima")
VALUE = paper("value function for long horizons")


def two_layers(p: Parameters) -> Claim:
    """Deviation over e^{-mu t} + e^{-mu(T-t)} does not depend on T."""
    lq = example()
    worst = []
    for horizon in (10.0, 20.0):
        path = lq.path(np.array([1.4, 1.4]), horizon, save=2001)
        layers = np.exp(-lq.rate * path.times)
        layers = layers + layers[::-1]
        worst.append(np.max(path.deviation() / layers))
    claim = "deviation over its two layers: the constant at T = 20 and at T = 10"
    return within(claim, LINEAR, "theorem", worst[1], worst[0], 1e-6)


def riccati_rate(p: Parameters) -> Claim:
    """The differential Riccati equation converges at rate 2 mu."""
    lq = example()
    times = np.linspace(0.5, 5.0, 37)
    flow = differential_riccati(lq.A, lq.gain, lq.C.T @ lq.C, times)
    error = np.linalg.norm(flow - lq.P, axis=(1, 2))
    rate = fitted_rate(times, error, (2.0, 4.0))
    return within(
        "rate of the Riccati flow, 2 mu",
        LINEAR,
        "theorem",
        rate,
        2 * lq.rate,
        1e-3,
    )


def heat_rates(p: Parameters) -> Claim:
    """Heat with control on (1/4, 3/4) settles at a rate of its own."""
    rate = interior_heat(99, omega=(0.25, 0.75)).rate()
    return within(
        "heat, interior control", HEAT_AND_WAVE, "experiment", rate, 9.91066, 1e-4
    )


def boundary_rate(p: Parameters) -> Claim:
    """Boundary-controlled heat against its transcendental equation."""
    rate = boundary_heat(80).rate()
    exact = theory.boundary_heat_rate()
    return within("heat, boundary control", HEAT_AND_WAVE, "theorem", rate, exact, 1e-4)


def square_rate(p: Parameters) -> Claim:
    """Heat on the square, controlled on one half, settles at its own rate."""
    claim = "heat on the square, rate"
    if importlib.util.find_spec("skfem") is None:
        why = 'needs scikit-fem: pip install "pushforward[control]"'
        return open_claim(claim, PAPER, "theorem", why)
    times, distance = square_distance(p.square, 15.0)
    found = fitted_rate(times, distance, (3.0, 6.0))
    return within(claim, PAPER, "theorem", found, square(p.square)[0].rate(), 2e-3)


def semilinear_rate(p: Parameters) -> Claim:
    """Both layers of the semilinear heat equation have the linearized rate."""
    problem, path = semilinear(p.heat_steps)
    # means over a step: the midpoint rule lets the stiffest modes alternate in sign
    means = 0.5 * (path.states[1:] + path.states[:-1])
    distance = np.linalg.norm(means - problem.static().state, axis=1)
    early = fitted_rate(path.midpoints, distance, (0.25, 0.5))
    late = fitted_rate(path.times[-1] - path.midpoints, distance, (0.25, 0.5))
    note = f"at the start {early:.3f}, at the end {late:.3f}"
    return within(
        "semilinear heat, rate",
        SEMILINEAR,
        "theorem",
        0.5 * (early + late),
        problem.rate(),
        0.15,
        note,
    )


def average_cost(p: Parameters) -> Claim:
    """Two more units of time cost twice the static optimum."""
    problem, short = semilinear(p.heat_steps)
    steps = 2 * p.heat_steps
    long = problem.optimize(np.zeros(problem.n), 4.0, steps=steps)
    return within(
        "J(4) - J(2) = 2 J_s",
        SEMILINEAR,
        "theorem",
        long.cost - short.cost,
        2 * problem.static().cost,
        1e-5,
    )


def two_optima(p: Parameters) -> Claim:
    """At one outer target two stationary optima cost the same."""
    outer, plus, minus, cost = tie(p.cubic_nodes)
    note = f"v+ = {plus:.5f}, v- = {minus:.6f}, cost {cost:.5f}"
    return within(
        "outer target of the tie",
        TWO_OPTIMA,
        "experiment",
        outer,
        86.5534,
        1e-4,
        note,
    )


def ceiling(p: Parameters) -> Claim:
    """The middle of the cubic profile stays below its ceiling for any boundary."""
    middle = CubicBoundary(6399).state(600.0)[3200]
    return at_most(
        "cubic ceiling, v = 600",
        PAPER,
        "theorem",
        middle,
        theory.cubic_ceiling(),
    )


def value_function(p: Parameters) -> Claim:
    """V(T, x) - T V_s - phi - c vanishes like e^{-mu T} with a known factor."""
    lq = scalar_example()
    rest = lq.value(8.0, np.zeros(1)) - 8 * lq.static.cost
    rest = (rest - lq.value_limit(np.zeros(1))) * np.exp(lq.rate * 8)
    exact = theory.scalar_value_remainder(1.0, 1.0, 0.0)
    return within(
        "value minus T V_s - phi - c, times e^{mu T}",
        VALUE,
        "theorem",
        rest,
        exact,
        1e-6,
    )


def dynamic_programming(p: Parameters) -> Claim:
    """Semi-Lagrangian value iteration agrees to first order in the step."""
    lq = scalar_example()
    states = np.linspace(-1.0, 2.0, 121)
    errors = []
    for steps in (40, 80):
        value = semi_lagrangian_value(
            lambda x, u: x + u,
            lambda x, u: 0.5 * (x - 1) ** 2 + 0.5 * u**2,
            states,
            np.linspace(-4.0, 2.0, 601),
            2.0,
            steps=steps,
        )
        exact = lq.value(2.0, np.array([0.5]))
        errors.append(abs(np.interp(0.5, states, value) - exact))
    return within(
        "value iteration: error ratio per halved step",
        VALUE,
        "identity",
        errors[0] / errors[1],
        2.0,
        0.2,
    )


def transport(p: Parameters) -> Claim:
    """The transport inflow is m/(1 + m) to rounding."""
    path = optimal_transport_inflow(np.zeros(p.cells), 10)
    error = np.max(np.abs(path.controls - theory.transport_control(path.times, 10.0)))
    return at_most(
        "optimal inflow of a transport equation, largest error",
        PAPER,
        "identity",
        error,
        1e-13,
    )


CLAIMS = (
    two_layers,
    riccati_rate,
    heat_rates,
    boundary_rate,
    square_rate,
    wave_rates,
    wave_cloud,
    no_tracking,
    weak_tracking,
    semilinear_rate,
    average_cost,
    two_optima,
    ceiling,
    value_function,
    dynamic_programming,
    periodic_control,
    grid_null_control,
    transport,
)
