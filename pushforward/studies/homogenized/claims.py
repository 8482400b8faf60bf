"""Claims on the law of overlaps: the exact pair, the simplex, high temperature."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.studies.homogenized import _corrections
from pushforward.studies.homogenized._chains import (
    collapse,
    exact_pair,
    mean_and_error,
    pair_run,
    pairs,
    simplex,
    soft_chain,
    soft_diffusion,
    warm_mean,
)
from pushforward.studies.homogenized.study import (
    Parameters,
    at_least,
    at_most,
    open_claim,
    paper,
    within,
)
from pushforward.theory import homogenized

ETA = 0.1  # step of the layers of a pair
SIGMAS = 4.0  # a Gaussian exceeds this with probability 6e-5
BETAS = (0.0, 4.0, 16.0, 64.0, 256.0)
TABLE = {  # by an independent code, to 0.01
    8: (0.565, 0.540, 0.500, 0.485, 0.474),
    32: (0.748, 0.747, 0.694, 0.616, 0.590),
}


def _pair(d: int, p: Parameters):
    mean, error = mean_and_error(pair_run(d, p.replicas, p.seed, ETA, 1.0)[:, -1])
    return within(
        f"beta = 0, two orthogonal tokens, d = {d}: E <x, y> at s = 1",
        paper("Gram diffusion"),
        "theorem",
        mean,
        exact_pair(d, [1.0])[0],
        # a layer is slow by 1 + eta^2 m, which costs at most eta^2 / 4 here
        SIGMAS * error + ETA**2 / 4,
        f"against the generator; {p.replicas} chains, eta = {ETA}",
    )


def pair_in_three(p: Parameters):
    """d = 3."""
    return _pair(3, p)


def pair_in_eight(p: Parameters):
    """d = 8."""
    return _pair(8, p)


def pair_in_many(p: Parameters):
    """d = 64."""
    return _pair(64, p)


@functools.cache
def initial_drift(draws: int, seed: int, eta: float = 0.1) -> tuple[float, float]:
    """dE R/ds at the simplex .2 from one layer, values with both signs: (mean, error).

    The sign cancels the martingale part, which would be 1/eta times as large.
    """
    mu, noise = simplex(4, 8, 0.2), pf.RandomWeights(4.0, 8**-0.5)

    @jax.jit
    @jax.vmap
    def rate(key):
        push = noise.increment(key, jnp.asarray(eta), mu)
        ends = [mu.moved(mu.space.project(mu.points + s * push)) for s in (1.0, -1.0)]
        return (sum(pairs(end) for end in ends) / 2 - 0.2).mean() / eta**2

    samples = np.asarray(rate(jax.random.split(pf.key_for(seed, "drift"), draws)))
    return mean_and_error(samples)


def _moments(p: Parameters) -> tuple[float, float]:
    return homogenized.simplex_moments(0.2, 4, 8, 0.5, draws=5 * p.draws, seed=p.seed)


def exact_drift(p: Parameters):
    """The drift of the simplex in dimension 8, with its terms of order 1/d."""
    mean, error = initial_drift(p.draws, p.seed)
    predicted = float(homogenized.simplex_drift(0.2, *_moments(p), 8))
    return within(
        "d = 8, n = 4, beta = 4, overlaps .2: dE R/ds at 0 against the exact drift",
        paper("simplex"),
        "identity",
        mean,
        predicted,
        SIGMAS * error + 0.01,  # one layer of eta = 0.1: eta^2 times a number near one
        "exact in d: 0.2266",
    )


def published_drift_is_the_limit(p: Parameters):
    """The published b(gamma) is the drift of infinite dimension."""
    mean, error = initial_drift(p.draws, p.seed)
    b = float(homogenized.simplex_drift_limit(0.2, *_moments(p)))
    claim = "the same against the published b: excess of b, in standard errors"
    note = f"b = {b:.4f}, measured {mean:.4f}: b is the drift at d = infinity"
    return at_least(
        claim, paper("simplex"), "experiment", (b - mean) / error, SIGMAS, note
    )


def chain_becomes_the_diffusion(p: Parameters):
    """E R at s = 2 by layers of eta = 1/4 and by the diffusion."""
    a, b = soft_chain(0.25, p.replicas, p.seed), soft_diffusion(p.replicas // 4, p.seed)
    (x, dx), (y, dy) = (mean_and_error(r[:, 2].mean(1)) for r in (a, b))
    return within(
        "the same model at s = 2: E R by layers (eta = 1/4) and by the diffusion",
        paper("theorem, diffusive regime"),
        "theorem",
        x,
        y,
        SIGMAS * float(np.hypot(dx, dy)),
    )


def large_steps_are_late(p: Parameters):
    """P(R > .9) at s = 2 for eta = 1 is far below that of the diffusion."""
    coarse = (soft_chain(1.0, p.replicas, p.seed)[:, 2] > 0.9).mean(1)
    fine = (soft_chain(0.25, p.replicas, p.seed)[:, 2] > 0.9).mean(1)
    (x, dx), (y, dy) = mean_and_error(coarse), mean_and_error(fine)
    gap = (y - x) / np.hypot(dx, dy)
    claim = "P(R > .9) at s = 2: eta = 1/4 above eta = 1, in standard errors"
    note = f"{y:.3f} against {x:.3f}"
    return at_least(claim, paper("weak error"), "experiment", gap, 5.0, note)


def logistic_law(p: Parameters):
    """beta = 0, n = 8, d = 256: m follows u' = u (1 - u)."""
    mean, error = mean_and_error(warm_mean(256, p.wide, p.seed)[:, -1])
    u = float(homogenized.logistic(1.0, (1 + 7 * 0.3) / 8))
    return within(
        "beta = 0, n = 8, overlaps .3, d = 256: mean overlap at s = 1",
        paper("theorem, high temperature"),
        "experiment",
        mean,
        u,
        SIGMAS * error + 2 / 256,
        "a theorem up to C/d, with C not explicit: 2/d is allowed",
    )


def logistic_needs_width(p: Parameters):
    """The gap to the logistic law shrinks with d."""
    u = float(homogenized.logistic(1.0, (1 + 7 * 0.3) / 8))
    (a, da), (b, db) = (
        mean_and_error(warm_mean(d, p.wide, p.seed)[:, -1]) for d in (16, 256)
    )
    claim = "the same: gap at d = 16 less that at d = 256, in standard errors"
    sigmas = ((u - a) - (u - b)) / np.hypot(da, db)
    note = f"gaps {u - a:.4f} and {u - b:.4f}"
    return at_least(
        claim, paper("theorem, high temperature"), "experiment", sigmas, 3.0, note
    )


def collapse_table(p: Parameters):
    """E m of six tokens against temperature and dimension."""
    worst = 0.0
    for d, row in TABLE.items():
        for beta, known in zip(BETAS, row, strict=True):
            mean, error = mean_and_error(collapse(d, beta, p.wide, p.seed))
            worst = max(worst, abs(mean - known) / np.hypot(error, 0.01))
    claim = "n = 6, s = 3.06: E m for 5 temperatures, d = 8 and 32: worst gap in errors"
    return at_most(claim, paper("low temperature"), "experiment", worst, SIGMAS)


def cold_is_slow_and_wide_is_fast(p: Parameters):
    """E m falls with beta and grows with d in the clock s."""
    means = np.array(
        [[collapse(d, b, p.wide, p.seed).mean() for b in BETAS] for d in TABLE]
    )
    least = min((means[:, 0] - means[:, -1]).min(), (means[1] - means[0]).min())
    claim = "E m: least gain from beta = 256 to 0 and from d = 8 to 32"
    return at_least(claim, paper("low temperature"), "experiment", least, 0.04)


def constants(p: Parameters):
    """Bounds that have no number."""
    return open_claim(
        "weak error C e^{CT} eta (T+1) max(1, alpha); chaos under common noise C_T/n; "
        "concentration of overlaps e^{CT} sqrt((8T/d) log(2n^2/delta))",
        paper("theorems"),
        "theorem",
        "the constants C and C_T are not explicit, so there is no number to compare",
    )


CLAIMS = (
    pair_in_three,
    pair_in_eight,
    pair_in_many,
    exact_drift,
    published_drift_is_the_limit,
    chain_becomes_the_diffusion,
    large_steps_are_late,
    logistic_law,
    logistic_needs_width,
    collapse_table,
    cold_is_slow_and_wide_is_fast,
    constants,
    *_corrections.CLAIMS,
)
