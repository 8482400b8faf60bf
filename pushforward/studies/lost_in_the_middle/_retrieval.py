"""Random prompts against the theory: means with their standard errors."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.integrate import solve_ivp

import pushforward as pf
from pushforward._checks import positive, whole
from pushforward.errors import InputError, NumericalError
from pushforward.studies.lost_in_the_middle.study import (
    Parameters,
    at_least,
    at_most,
    paper,
)
from pushforward.theory import kinetic, kinetic_lattice

BATCH = 64  # prompts that run side by side
WAVES = 8  # modes n of the correlations that are recorded: a_8 = 6e-6 at beta = 1


class Correlations(NamedTuple):
    """N Cov of mode n = 1..8 between token i at the start and the last at the end.

    Rows are prompts: means over rows estimate, their spread says how well. `plain` is
    the estimate without integration by parts.
    """

    smooth: Float[np.ndarray, "prompts n modes"]
    plain: Float[np.ndarray, "prompts n modes"]


def last_angle(
    field: pf.DecayingAttention, theta: Float[Array, "n"], t, steps: int
) -> Float[Array, ""]:
    """theta_N(t) from the angles at the start, by `steps` Runge-Kutta steps of order 4.

    The same flow as `pf.flow` on the circle, kept in angles: gradients are cheap.
    """
    weights = jnp.full(theta.shape, -jnp.log(float(theta.shape[0])))
    h = t / steps

    def velocity(theta):
        return field.angular_velocity(pf.Circle().points(theta), weights)

    def stage(carry, weights):  # one velocity in the program, not four: it compiles
        start, slope, total = carry
        ahead, share = weights
        slope = velocity(start + ahead * h * slope)
        return (start, slope, total + share * h * slope), None

    def step(theta, _):
        stages = (jnp.array([0.0, 0.5, 0.5, 1.0]), jnp.array([1.0, 2.0, 2.0, 1.0]) / 6)
        begin = (theta, jnp.zeros_like(theta), theta)
        return jax.lax.scan(jax.checkpoint(stage), begin, stages)[0][2], None

    return jax.lax.scan(step, theta, None, length=steps)[0][-1]


@eqx.filter_jit
def _batch(field, theta, t, steps: int):
    def one(theta):
        last, slope = jax.value_and_grad(lambda x: last_angle(field, x, t, steps))(
            theta
        )
        gap = (theta - last)[:, None] * jnp.arange(1.0, WAVES + 1.0)[None, :]
        waves = len(theta) * jnp.cos(gap)
        return slope[:, None] * waves, waves

    return jax.vmap(one)(theta)


def correlations(
    field: pf.DecayingAttention,
    n: int,
    t: float,
    *,
    prompts: int,
    seed: int,
    steps: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Correlations:
    """Both estimates from random prompts of n tokens, a batch of 64 at a time.

    Without `steps`, steps of 0.2. `progress` is called with (prompts done, prompts).
    """
    n, prompts = whole("n", n, 2), whole("prompts", prompts, 2)
    t = float(positive("t", t))
    if not isinstance(field, pf.DecayingAttention) or field.modes is None:
        raise InputError(
            f"`field` must be a DecayingAttention with modes, got {field!r}. "
            "For example DecayingAttention(1.0, 1.0, modes=8)."
        )
    steps = max(1, round(5 * t)) if steps is None else whole("steps", steps, 1)
    key, parts = pf.key_for(seed, "prompts"), []
    for begin in range(0, prompts, BATCH):
        here = jax.random.fold_in(key, begin)
        theta = 2 * jnp.pi * jax.random.uniform(here, (BATCH, n))
        keep = slice(0, min(BATCH, prompts - begin))
        parts.append([np.asarray(a)[keep] for a in _batch(field, theta, t, steps)])
        if progress is not None:
            progress(min(begin + BATCH, prompts), prompts)
    found = Correlations(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    if not np.isfinite(found.smooth).all():
        raise NumericalError("a prompt diverged. Take more `steps`.", found)
    return found


def in_bins(rows: np.ndarray, edges: list[tuple[float, float]]):
    """Mean and standard error over prompts of averages over low < i/N < high."""
    position = (np.arange(rows.shape[1]) + 1) / rows.shape[1]
    means = np.stack(
        [rows[:, (position > a) & (position < b)].mean(1) for a, b in edges], axis=1
    )
    return means.mean(0), means.std(0, ddof=1) / np.sqrt(len(means))


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
