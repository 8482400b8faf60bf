"""Random prompts against the theory: means with their standard errors."""

import functools
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

import pushforward as pf
from pushforward.studies.lost_in_the_middle._prompts import (
    WAVES,
    Correlations,
    correlations,
    in_bins,
)
from pushforward.studies.lost_in_the_middle.study import (
    Parameters,
    at_least,
    at_most,
    paper,
)
from pushforward.theory import kinetic, kinetic_lattice

BETA, DECAY = 1.0, 1.0
FIELD = pf.DecayingAttention(BETA, DECAY, modes=8)
BINS = [(0.12, 0.25), (0.25, 0.35), (0.35, 0.5), (0.5, 0.65), (0.65, 0.8)]
FINE = [(a, a + 0.1) for a in np.arange(0.05, 0.9, 0.1).round(2)]
SIGMAS = 4.0  # a Gaussian exceeds this with probability 6e-5


class Profile(NamedTuple):
    """Binned estimates, their errors, and the lattice theory in the same bins."""

    measured: np.ndarray
    error: np.ndarray
    lattice: np.ndarray


@functools.cache
def prompts(tokens: int, number: int, seed: int, t: float = 1.0) -> Correlations:
    """Prompts at beta = lambda = 1."""
    return correlations(FIELD, tokens, t, prompts=number, seed=seed)


def profile(found: Correlations, t: float, bins, modes: np.ndarray) -> Profile:
    """sum_n modes_n N Cov_n in bins of the position, beside the lattice."""
    n = found.smooth.shape[1]
    rates = kinetic.mode_rates(BETA, WAVES)
    rows = modes @ kinetic_lattice.lattice_correlations(rates, t, n, DECAY)
    mean, error = in_bins(found.smooth @ modes, bins)
    return Profile(mean, error, in_bins(rows[None].repeat(2, 0), bins)[0])


def first_mode() -> np.ndarray:
    """The weights that pick n = 1."""
    return np.eye(WAVES)[0]


def correlations_follow_the_lattice(p: Parameters):
    """N Cov of mode 1 in five bins, in standard errors."""
    at = profile(prompts(p.tokens, p.prompts, p.seed), 1.0, BINS, first_mode())
    # The leading order leaves out O(1/N): 6 % at N = 32, so 2/N of the value.
    slack = 2 / p.tokens * at.lattice
    excess = np.maximum(np.abs(at.measured - at.lattice) - slack, 0.0) / at.error
    note = f"N = {p.tokens}, {p.prompts} prompts, errors near {at.error.mean():.4f}"
    claim = "N Cov(1) in five bins against exp(atW): worst gap in standard errors"
    return at_most(claim, paper("correlations"), "theorem", excess.max(), SIGMAS, note)


def the_middle_is_lost(p: Parameters):
    """S_t from the prompts is higher at both ends than at its predicted minimum."""
    t = 1.0
    found = prompts(p.tokens, p.prompts, p.seed, t)
    low = kinetic.minimum(t, BETA, DECAY)
    assert low is not None
    bins = [(4 / p.tokens, 0.1), (low.source - 0.15, low.source + 0.15), (0.85, 0.98)]
    rows = found.smooth @ kinetic.codeword_weights(8, WAVES)
    position = (np.arange(p.tokens) + 1) / p.tokens
    start, middle, end = (
        rows[:, (position > a) & (position < b)].mean(1) for a, b in bins
    )
    sigmas = [
        rise.mean() / (rise.std(ddof=1) / np.sqrt(len(rise)))
        for rise in (start - middle, end - middle)
    ]
    claim = "t = 1: both ends above the middle, in standard errors of the difference"
    return at_least(claim, paper("U shape"), "experiment", min(sigmas), 3.0)


def integration_by_parts_pays(p: Parameters):
    """Standard error of the plain estimate over that of the other."""
    found = prompts(p.tokens, p.prompts, p.seed)
    smooth = in_bins(found.smooth @ first_mode(), BINS)[1].mean()
    plain = in_bins(found.plain @ first_mode(), BINS)[1].mean()
    claim = "standard error of N Cov without over with integration by parts"
    return at_least(
        claim,
        paper("retrieval; estimator of this library"),
        "experiment",
        plain / smooth,
        20.0,
        f"N = {p.tokens}; the ratio grows like N",
    )


@functools.cache
def two_tokens(mode: int) -> tuple[float, float]:
    """E cos n(theta_1(0) - theta_2(1)) of two tokens, plain and by parts.

    The gap phi solves phi' = -beta sin(phi) e^{beta cos phi}; trapezoid in phi(0).
    """
    start = 2 * np.pi * np.arange(64) / 64
    force = lambda x: -BETA * np.sin(x) * np.exp(BETA * np.cos(x))  # noqa: E731
    slope = lambda x: (  # noqa: E731
        BETA * np.exp(BETA * np.cos(x)) * (BETA * np.sin(x) ** 2 - np.cos(x))
    )

    def rate(_, state):
        phi, tangent = state.reshape(2, -1)
        return np.concatenate([force(phi), slope(phi) * tangent])

    state = np.concatenate([start, np.ones(64)])
    end = solve_ivp(rate, (0, 1), state, rtol=1e-11, atol=1e-12, method="DOP853").y
    phi, tangent = end[:, -1].reshape(2, -1)
    wave = np.cos(mode * phi)
    return float(wave.mean()), float((wave * (1 - tangent)).mean())


def two_tokens_by_parts(p: Parameters):
    """Both sides of the integration by parts at N = 2."""
    gaps = [abs(a - b) for a, b in (two_tokens(1), two_tokens(2))]
    claim = "N = 2, t = 1: plain and integrated by parts, modes 1 and 2: largest gap"
    return at_most(
        claim,
        paper("retrieval; estimator of this library"),
        "identity",
        max(gaps),
        1e-8,
    )


def modes_are_pairs(p: Parameters):
    """10 modes at beta = 1 against the sum over pairs."""
    mu = pf.Particles.uniform(pf.Circle(), 64, key=pf.key_for(p.seed, "modes"))
    pairs = pf.DecayingAttention(BETA, DECAY)(0.0, mu).v
    sums = pf.DecayingAttention(BETA, DECAY, modes=10)(0.0, mu).v
    claim = "beta = 1: force from 10 modes by prefix sums minus force from pairs"
    gap = np.abs(np.asarray(pairs - sums)).max()
    return at_most(claim, paper("ordered tokens"), "identity", gap, 1e-8)


CLAIMS = (
    correlations_follow_the_lattice,
    the_middle_is_lost,
    integration_by_parts_pays,
    two_tokens_by_parts,
    modes_are_pairs,
)
