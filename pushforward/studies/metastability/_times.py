"""How long clusters stay apart: escape times, kinetic data, the staircase."""

import numpy as np
from scipy.integrate import solve_ivp

import pushforward as pf
from pushforward import studies, theory
from pushforward.observables import Clusters, cluster_life
from pushforward.studies.metastability.runs import (
    ANGLES,
    KINETIC,
    climb,
    crowd,
    generic,
    kinetic,
    log_escape,
    mass_squares,
)
from pushforward.studies.metastability.study import (
    Parameters,
    at_most,
    open_claim,
    paper,
    within,
)

BETA, CLOSE = 4.0, 0.999


def _velocity(_: float, angles: np.ndarray) -> np.ndarray:
    """theta_i' = sum_j softmax_j(beta cos a_ij) sin a_ij, a_ij = theta_j - theta_i."""
    apart = angles[None, :] - angles[:, None]
    weights = np.exp(BETA * (np.cos(apart) - 1))
    weights /= weights.sum(axis=1, keepdims=True)
    return (weights * np.sin(apart)).sum(axis=1)


def _narrowest(_: float, angles: np.ndarray) -> float:
    return np.cos(angles[None, :] - angles[:, None]).min() - CLOSE


_narrowest.terminal = True  # type: ignore[attr-defined]


def _followed(t1: float, **options):
    start = np.unwrap(np.arctan2(KINETIC[:, 1], KINETIC[:, 0]))
    return solve_ivp(
        _velocity, (0.0, t1), start, method="LSODA", rtol=1e-11, atol=1e-13, **options
    )


def energy(t: float) -> float:
    """n^{-2} sum_ij e^{beta (cos(theta_i - theta_j) - 1)} at time t."""
    angles = _followed(t).y[:, -1]
    return float(np.exp(BETA * (np.cos(angles[None] - angles[:, None]) - 1)).mean())


def last_merger() -> float:
    """When all cosines exceed 0.999."""
    return float(_followed(1000.0, events=_narrowest).t_events[0][0])


def last_merger_in_steps(step: float = 0.1) -> float:
    """The same for x <- N(x + step softmax(beta X X^T) X)."""
    x = KINETIC / np.linalg.norm(KINETIC, axis=1, keepdims=True)
    for k in range(10_000):
        if (x @ x.T).min() > CLOSE:
            return k * step
        weights = np.exp(BETA * (x @ x.T - 1))
        x = x + step * (weights / weights.sum(axis=1, keepdims=True)) @ x
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    raise RuntimeError("no merger in 10,000 steps")


TEN = np.log(10.0)


def escape_at_beta_40(p: Parameters):
    """Two orthogonal clusters: T = 2.946022e15."""
    claim = "two clusters 90 degrees apart, beta = 40: time to 0.999, over its integral"
    exact = 10.0 ** float(theory.two_tokens.log10_merging_time(40.0))
    measured = np.exp(log_escape(40.0)) / exact
    note = f"the integral of d gamma over its speed is {exact:.6e}"
    return within(claim, paper("section 1"), "identity", measured, 1.0, 1e-6, note)


def escape_exponent(p: Parameters):
    """d log(beta T)/d beta tends to 1 - g_0."""
    slope = (np.log(40) + log_escape(40.0) - np.log(32) - log_escape(32.0)) / 8
    claim = "slope of log(beta T) between beta = 32 and 40, from g_0 = 0"
    return within(claim, paper("section 1"), "identity", slope, 1.0, 3e-4)


def escape_exponent_at_120_degrees(p: Parameters):
    """The same from g_0 = -1/2: 3/2."""
    slope = np.log(40 / 32) + log_escape(40.0, -0.5) - log_escape(32.0, -0.5)
    claim = "slope of log(beta T) between beta = 32 and 40, from g_0 = -1/2"
    return within(claim, paper("section 1"), "identity", slope / 8, 1.5, 2e-3)


def escape_beyond_all_numbers(p: Parameters):
    """beta = 4000: T = 10^1733.275, by the flow."""
    claim = "two clusters 90 degrees apart, beta = 4000: log10 of the time to 0.999"
    exact = float(theory.two_tokens.log10_merging_time(4000.0))
    measured = log_escape(4000.0) / TEN
    return within(claim, paper("section 1"), "identity", measured, exact, 1e-4)


def last_kinetic_event(p: Parameters):
    """kinetic.py under the exact flow: one cluster from t = 328.4."""
    run = kinetic(False)
    count = run.observe(lambda mu: Clusters(np.arccos(0.999))(mu).count)
    measured = float(run.times[np.argmax(count == 1)])
    claim = "kinetic.py, exact flow: time of the last merger"
    exact = last_merger()  # seen on a grid of 0.1
    return within(claim, paper("figure 1"), "experiment", measured, exact, 0.1)


def last_kinetic_event_of_the_script(p: Parameters):
    """Its own steps of 0.1 run slow: 364.1."""
    run = kinetic(True)
    count = run.observe(lambda mu: Clusters(np.arccos(0.999))(mu).count)
    measured = float(run.times[np.argmax(count == 1)])
    claim = "kinetic.py with its steps of 0.1, as layers: time of the last merger"
    note = "11 % late against the flow it stands for"
    exact = last_merger_in_steps()
    return within(claim, paper("figure 1"), "experiment", measured, exact, 0.15, note)


def kinetic_plateau(p: Parameters):
    """13/25 + (12/25) e^{-beta (1 - cos phi)} between t = 5 and 328."""
    measured = float(pf.InteractionEnergy(4.0)(kinetic(False).at(11.0)))
    predicted = energy(11.0)
    claim = "kinetic.py, energy of the plateau at t = 11"
    note = f"two clusters far apart have (2^2 + 3^2)/25 = {13 / 25}"
    return within(
        claim, paper("figure 1"), "experiment", measured, predicted, 1e-8, note
    )


def plateaus_of_the_staircase(p: Parameters):
    """0.20, 0.28, 0.44, 0.52, 1."""
    life = cluster_life(climb(4000.0).trajectory)
    seen = [np.sum(np.square(q.masses)) for q in life.plateaus()]
    off = np.abs(np.array(seen) - [0.20, 0.28, 0.44, 0.52, 1.0]).max()
    claim = "plateaus sum m_c^2/n^2 at beta = 4000: largest deviation"
    where = paper("staircase theorem")
    return at_most(claim, where, "theorem", off, 1e-12)


def jumps_of_the_staircase(p: Parameters):
    """Arc lengths at which clusters meet."""
    predicted = [m.arclength for m in theory.staircase.mergers(ANGLES)]
    off = np.abs(climb(4000.0).tree.arc - predicted).max()
    claim = "arc lengths of the four jumps at beta = 4000: largest deviation"
    where = paper("staircase theorem")
    return at_most(claim, where, "theorem", off, 1e-5)


def _share_off_plateaus(beta: float) -> float:
    """Share of the clock on which the energy is more than 0.02 off its plateau."""
    run = climb(beta)
    off = np.abs(run.energy - mass_squares(run)) > 0.02
    return float(np.sum(np.diff(run.arc) * off[1:]) / run.arc[-1])


def energy_between_jumps(p: Parameters):
    """The share of the clock off the plateaus vanishes like beta^{-1/2}.

    A pair at distance r adds 2 m_a m_b e^{-beta r^2/2}: it is seen while r is below a
    constant over sqrt(beta), and r is linear in the arc length.
    """
    shares = [_share_off_plateaus(beta) for beta in (1000.0, 4000.0)]
    claim = "share of the clock more than 0.02 off a plateau: its power of beta"
    where = paper("staircase theorem")
    note = f"shares {shares[0]:.4f} and {shares[1]:.4f} at beta = 1000 and 4000"
    power = np.log(shares[1] / shares[0]) / np.log(4.0)
    row = ("metastability", claim, where, "experiment", power, -0.5, 0.05)
    return studies.rate(*row, note=note)


def physical_time_of_the_last_jump(p: Parameters):
    """log10 T = 132.7 for the flow with 1/n^2."""
    last = theory.staircase.mergers(ANGLES)[-1]
    predicted = theory.staircase.log10_merging_time(4000.0, last.distance, 3, 2, 5)
    measured = climb(4000.0).tree.log_times[-1] / TEN + np.log10(5)
    claim = "beta = 4000: log10 of the physical time of the last jump"
    where = paper("section 6")
    return within(claim, where, "identity", measured, float(predicted), 0.01)


def crowd_becomes_one(p: Parameters):
    """n tokens at beta = 100 followed to one cluster."""
    run = crowd(p.seed, p.crowd)
    counts = cluster_life(run.trajectory).counts
    decades = run.tree.log_times[-1] / TEN
    claim = f"n = {p.crowd}, beta = 100: clusters left at the end of the run"
    note = f"{run.trajectory.outcome} log10 of the last merger {decades:.1f}"
    where = paper("section 1")
    return within(claim, where, "experiment", counts[-1], 1, 0, note)


def staircase_of_generic_tokens(p: Parameters):
    """SA from generic data: energy against sum m_c^2 on the clock of arc length."""
    run = generic(p.seed, p.generic, 1000.0)
    off = np.abs(run.energy - mass_squares(run))
    steps = np.diff(run.arc)
    mean = float(np.sum(steps * off[1:]) / run.arc[-1])
    claim = (
        f"SA, {p.generic} uniform tokens, beta = 1000: mean distance from a staircase"
    )
    where = paper("open problem on the clock")
    note = f"{len(run.tree.arc)} jumps; existence of such a clock is posed as open"
    return at_most(claim, where, "conjecture", mean, 0.02, note)


def limiting_clock(p: Parameters):
    """A clock for SA and generic data in the limit."""
    return open_claim(
        "a clock exists on which SA from generic data converges to a staircase",
        paper("open problem on the clock"),
        "conjecture",
        "a limit cannot be reached by a run; the claim above measures beta = 1000",
    )


CLAIMS = (
    escape_at_beta_40,
    escape_exponent,
    escape_exponent_at_120_degrees,
    escape_beyond_all_numbers,
    last_kinetic_event,
    last_kinetic_event_of_the_script,
    kinetic_plateau,
    plateaus_of_the_staircase,
    jumps_of_the_staircase,
    energy_between_jumps,
    physical_time_of_the_last_jump,
    crowd_becomes_one,
    staircase_of_generic_tokens,
    limiting_clock,
)
