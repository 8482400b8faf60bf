"""Claims K1 to K6 of the survey, each with the number it must give."""

import importlib.util

import numpy as np

from pushforward.control.hjb import semi_lagrangian_value
from pushforward.control.pde.cubic import CubicBoundary, tie
from pushforward.control.pde.heat import boundary_heat, interior_heat
from pushforward.control.pde.transport import optimal_transport_inflow
from pushforward.control.pde.wave import (
    Gradient,
    NoTracking,
    Position,
    PositionAndVelocity,
    grid_frequencies,
    leapfrog_dirichlet,
    wave_hamiltonian,
    wave_null_control,
)
from pushforward.control.riccati import differential_riccati
from pushforward.studies._claims import Claim, at_most, open_claim, within
from pushforward.studies.turnpike.study import (
    PAPER,
    Parameters,
    example,
    fitted_rate,
    scalar_example,
    semilinear,
    square,
    square_distance,
)
from pushforward.theory import turnpike as theory

NAME = "turnpike"


def two_layers(p: Parameters) -> Claim:
    """K1: deviation over e^{-mu t} + e^{-mu(T-t)} does not depend on T."""
    lq = example()
    worst = []
    for horizon in (10.0, 20.0):
        path = lq.path(np.array([1.4, 1.4]), horizon, save=2001)
        layers = np.exp(-lq.rate * path.times)
        layers = layers + layers[::-1]
        worst.append(np.max(path.deviation() / layers))
    note = f"constant at T = 10: {worst[0]:.7f} (C1-3)"
    return within(
        NAME, "K1 constant at T = 20", PAPER, "theorem", worst[1], 3.0506558, 1e-6, note
    )


def riccati_rate(p: Parameters) -> Claim:
    """K1: the differential Riccati equation converges at rate 2 mu."""
    lq = example()
    times = np.linspace(0.5, 5.0, 37)
    flow = differential_riccati(lq.A, lq.gain, lq.C.T @ lq.C, times)
    error = np.linalg.norm(flow - lq.P, axis=(1, 2))
    rate = fitted_rate(times, error, (2.0, 4.0))
    return within(
        NAME, "K1 Riccati rate (C1-4)", PAPER, "theorem", rate, 2 * lq.rate, 1e-3
    )


def heat_rates(p: Parameters) -> Claim:
    """K2: heat with control on (1/4, 3/4) has the rate of the notes."""
    rate = interior_heat(99, omega=(0.25, 0.75)).rate()
    return within(
        NAME, "K2 heat, interior control (C1-6)", PAPER, "theorem", rate, 9.91066, 1e-4
    )


def boundary_rate(p: Parameters) -> Claim:
    """K2: boundary-controlled heat against its transcendental equation."""
    rate = boundary_heat(80).rate()
    exact = theory.boundary_heat_rate()
    return within(
        NAME, "K2 heat, boundary control (C1-7)", PAPER, "theorem", rate, exact, 1e-4
    )


def square_rate(p: Parameters) -> Claim:
    """K2: heat on the square, controlled on one half, settles at its own rate."""
    claim = "K2 heat on the square, rate"
    if importlib.util.find_spec("skfem") is None:
        why = 'needs scikit-fem: pip install "pushforward[control]"'
        return open_claim(NAME, claim, PAPER, "theorem", why)
    times, distance = square_distance(p.square, 15.0)
    found = fitted_rate(times, distance, (3.0, 6.0))
    return within(
        NAME, claim, PAPER, "theorem", found, square(p.square)[0].rate(), 2e-3
    )


def wave_rates(p: Parameters) -> Claim:
    """K2: every mode of the controlled wave decays at its own rate."""
    n = 50
    spectrum = np.linalg.eigvals(wave_hamiltonian(n, Gradient(), omega=(0.0, 1.0)))
    found = np.sort(spectrum.real[spectrum.real > 0])
    exact = np.sort(np.repeat(theory.wave_rate(grid_frequencies(n)), 2))
    gap = np.max(np.abs(found - exact))
    return at_most(
        NAME, "K2 wave, largest error of a rate (C1-9)", PAPER, "theorem", gap, 1e-9
    )


def wave_cloud(p: Parameters) -> Claim:
    """K2: with tracking of energy type the travelling modes sit at sqrt(|omega|)/2."""
    spectrum = np.linalg.eigvals(
        wave_hamiltonian(p.wave_nodes, PositionAndVelocity(), omega=p.wave_share)
    )
    low = np.abs(spectrum.imag) < 0.5 * np.max(np.abs(spectrum.imag))
    bulk = np.mean(np.abs(spectrum.real[low]))
    exact = theory.wave_cloud(p.wave_share[1] - p.wave_share[0])
    return within(
        NAME,
        "K2 wave, bulk of the spectrum (C1-8)",
        PAPER,
        "theorem",
        bulk,
        exact,
        2e-3,
    )


def no_tracking(p: Parameters) -> Claim:
    """Without tracking the Hamiltonian spectrum lies on the imaginary axis."""
    spectrum = np.linalg.eigvals(wave_hamiltonian(p.wave_nodes, NoTracking()))
    return at_most(
        NAME,
        "no tracking: largest |Re|",
        PAPER,
        "identity",
        np.max(np.abs(spectrum.real)),
        2e-12,
    )


def weak_tracking(p: Parameters) -> Claim:
    """Tracking y in L2 only leaves no uniform gap for waves."""
    spectrum = np.linalg.eigvals(wave_hamiltonian(100, Position()))
    gap = np.min(np.abs(spectrum.real))
    return within(
        NAME, "tracking y alone: min |Re|", PAPER, "experiment", gap, 0.0016, 5e-5
    )


def semilinear_rate(p: Parameters) -> Claim:
    """K3: both layers of the semilinear heat equation have the linearized rate."""
    problem, path = semilinear(p.heat_steps)
    # means over a step: the midpoint rule lets the stiffest modes alternate in sign
    means = 0.5 * (path.states[1:] + path.states[:-1])
    distance = np.linalg.norm(means - problem.static().state, axis=1)
    early = fitted_rate(path.midpoints, distance, (0.25, 0.5))
    late = fitted_rate(path.times[-1] - path.midpoints, distance, (0.25, 0.5))
    note = f"at the start {early:.3f}, at the end {late:.3f}"
    return within(
        NAME,
        "K3 semilinear heat, rate (C1-11, C1-13)",
        PAPER,
        "theorem",
        0.5 * (early + late),
        problem.rate(),
        0.15,
        note,
    )


def average_cost(p: Parameters) -> Claim:
    """K3: two more units of time cost twice the static optimum."""
    problem, short = semilinear(p.heat_steps)
    steps = 2 * p.heat_steps
    long = problem.optimize(np.zeros(problem.n), 4.0, steps=steps)
    return within(
        NAME,
        "K3 J(4) - J(2) = 2 J_s (C1-12)",
        PAPER,
        "theorem",
        long.cost - short.cost,
        2 * problem.static().cost,
        1e-5,
    )


def two_optima(p: Parameters) -> Claim:
    """K4: at one outer target two stationary optima cost the same."""
    outer, plus, minus, cost = tie(p.cubic_nodes)
    note = f"v+ = {plus:.5f}, v- = {minus:.6f}, cost {cost:.5f} (C1-15)"
    return within(
        NAME, "K4 outer target of the tie", PAPER, "theorem", outer, 86.5534, 1e-4, note
    )


def ceiling(p: Parameters) -> Claim:
    """The middle of the cubic profile stays below its ceiling for any boundary."""
    middle = CubicBoundary(6399).state(600.0)[3200]
    return at_most(
        NAME,
        "cubic ceiling, v = 600 (C1-14)",
        PAPER,
        "theorem",
        middle,
        theory.cubic_ceiling(),
    )


def value_function(p: Parameters) -> Claim:
    """K5: V(T, x) - T V_s - phi - c vanishes like e^{-mu T} with a known factor."""
    lq = scalar_example()
    rest = lq.value(8.0, np.zeros(1)) - 8 * lq.static.cost
    rest = (rest - lq.value_limit(np.zeros(1))) * np.exp(lq.rate * 8)
    exact = theory.scalar_value_remainder(1.0, 1.0, 0.0)
    return within(
        NAME, "K5 remainder times e^{mu T} (C1-1)", PAPER, "theorem", rest, exact, 1e-6
    )


def dynamic_programming(p: Parameters) -> Claim:
    """K5: semi-Lagrangian value iteration agrees to first order in the step."""
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
        NAME,
        "K5 error ratio per halved step",
        PAPER,
        "identity",
        errors[0] / errors[1],
        2.0,
        0.2,
    )


def periodic_control(p: Parameters) -> Claim:
    """K6: without tracking the null control of a wave is periodic, no turnpike."""
    n, t1 = 100, 6
    times = np.arange(t1 * n + 1) / n
    y0 = np.sin(np.pi * np.linspace(0, 1, n + 1))
    before, now = leapfrog_dirichlet(y0, theory.wave_null_control(times, t1))
    left = max(np.max(np.abs(now)), n * np.max(np.abs(now - before)[1:-1]))
    return at_most(
        NAME, "K6 what is left at T = 6 (C1-10)", PAPER, "theorem", left, 2e-12
    )


def grid_null_control(p: Parameters) -> Claim:
    """Discrete null controls converge at Courant number one."""
    cost = wave_null_control(100, 1.0, 5.0).cost
    bad = wave_null_control(100, 0.9, 5.0).cost
    return within(
        NAME,
        "null-control cost, 100 nodes (C1-16)",
        PAPER,
        "experiment",
        cost,
        1.0054,
        1e-3,
        f"at Courant number 0.9 the same costs {bad:.2g}",
    )


def transport(p: Parameters) -> Claim:
    """The transport inflow is m/(1 + m) to rounding."""
    path = optimal_transport_inflow(np.zeros(p.cells), 10)
    error = np.max(np.abs(path.controls - theory.transport_control(path.times, 10.0)))
    return at_most(NAME, "transport inflow (C1-5)", PAPER, "identity", error, 1e-13)


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
