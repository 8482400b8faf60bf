"""Cosines between tokens: how far the cloud has collapsed.

Whether all tokens lie in one open hemisphere, which forces collapse.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float, PRNGKeyArray

from pushforward._checks import AnyArray, Number, measure, scalar, whole
from pushforward.errors import InputError, NumericalError
from pushforward.measures import Density, Gaussian, Particles
from pushforward.spaces import norm
from pushforward.sums import by_rows

MOST_PAIRED = 20_000  # tokens whose n (n - 1) / 2 cosines still fit into 1.6 GB
MOST_COUNTED = 200_000  # tokens whose pairs are counted one by one in minutes


def directions(mu: Particles) -> Float[Array, "n d"]:
    """x / |x| for every token; on the sphere, the tokens themselves."""
    if isinstance(mu, Gaussian):
        raise InputError(
            "`mu` must be Particles, got a Gaussian, which has no tokens. Use "
            "mu.sample(key, n)."
        )
    return mu.points / jnp.linalg.norm(mu.points, axis=-1, keepdims=True)


def pair_cosines(mu: Particles) -> Float[Array, "p"]:
    """<x_i, x_j> for all pairs i < j."""
    measure("mu", mu)
    if mu.n > MOST_PAIRED:
        raise InputError(
            f"all pairs of n = {mu.n} tokens would need "
            f"{mu.n * (mu.n - 1) * 4 / 1e9:.0f} GB. Use cosine_histogram(mu)."
        )
    x = directions(mu)
    i, j = np.triu_indices(mu.n, k=1)
    return (x @ x.T)[i, j]


def mean_cosine(mu: Any) -> Float[Array, ""]:
    """The mean of <x_i, x_j> over i != j, with weights: one after collapse.

    (|sum_i w_i x_i|^2 - sum_i w_i^2) / (1 - sum_i w_i^2), in linear time; for a density
    |int x dmu|^2.
    """
    if isinstance(mu, Density):
        return jnp.sum(mu.mean() ** 2)
    measure("mu", mu)
    return _mean_cosine(mu)


@jax.jit
def _mean_cosine(mu: Particles) -> Float[Array, ""]:
    """One program instead of eight: a short run spends its time on loading them."""
    w = mu.weights
    mean = w @ directions(mu)
    alone = jnp.sum(w**2)
    if mu.n == 1:
        return jnp.ones_like(alone)
    return (mean @ mean - alone) / (1.0 - alone)


def cosine_histogram(
    mu: Particles,
    bins: int = 100,
    *,
    pairs: int | None = None,
    key: PRNGKeyArray | None = None,
) -> tuple[Float[np.ndarray, "b"], Float[np.ndarray, "e"]]:
    """Share of the pairs i < j in each of `bins` equal parts of [-1, 1], and the edges.

    Over all pairs, in row blocks; with `pairs` and `key`, over that many random ones,
    whose shares p have a standard error of sqrt(p (1 - p) / pairs).
    """
    measure("mu", mu)
    bins = whole("bins", bins, 1)
    edges = np.linspace(-1.0, 1.0, bins + 1)
    x = np.asarray(directions(mu))
    if pairs is None:
        counts = _all_pairs(x, edges)
    else:
        counts = _random_pairs(x, edges, whole("pairs", pairs, 1), key)
    return counts / max(counts.sum(), 1.0), edges


def _all_pairs(x: np.ndarray, edges: np.ndarray) -> np.ndarray:
    n = len(x)
    if n > MOST_COUNTED:
        raise InputError(
            f"`mu` has n = {n} tokens, whose {n * (n - 1) // 2:.0e} pairs would take "
            "hours. Pass pairs=10_000_000 and a `key` to draw some at random."
        )
    counts = np.zeros(len(edges) - 1)
    block = max(1, 8_000_000 // n)
    for start in range(0, n, block):
        rows = np.arange(start, min(start + block, n))
        cosines = np.clip(x[rows] @ x.T, -1.0, 1.0)
        later = np.arange(n)[None, :] > rows[:, None]
        counts += np.histogram(cosines[later], edges)[0]
    return counts


def _random_pairs(x: np.ndarray, edges: np.ndarray, pairs: int, key) -> np.ndarray:
    """Pairs drawn with replacement, i uniform and j uniform among the others."""
    n = len(x)
    if key is None:
        raise InputError("`pairs` needs a `key`, for example key=jax.random.key(0).")
    if n < 2:
        raise InputError(f"`mu` must have at least 2 tokens to draw pairs, got {n}.")
    counts = np.zeros(len(edges) - 1)
    for part in range(0, pairs, 1_000_000):
        size = (min(1_000_000, pairs - part),)
        key_i, key_j = jax.random.split(jax.random.fold_in(key, part))
        i = np.asarray(jax.random.randint(key_i, size, 0, n))
        j = (i + 1 + np.asarray(jax.random.randint(key_j, size, 0, n - 1))) % n
        cosines = np.clip(np.einsum("pd,pd->p", x[i], x[j]), -1.0, 1.0)
        counts += np.histogram(cosines, edges)[0]
    return counts


class ClosePairs(eqx.Module):
    """The share of pairs i != j with <x_i, x_j> >= threshold.

    With 0.999 it is the statistic of the phase diagrams of
    [geshkovski2023perspective].
    """

    threshold: Float[AnyArray, ""]

    def __init__(self, threshold: Number = 0.999):
        self.threshold = scalar("threshold", threshold)

    def __call__(self, mu: Particles) -> Float[Array, ""]:
        """The share, in [0, 1]; one for a single token."""
        measure("mu", mu)
        x = directions(mu)
        threshold = self.threshold.astype(x.dtype)
        near = by_rows(lambda i: jnp.sum(x[i] @ x.T >= threshold, axis=1), mu.n, mu.n)
        close = jnp.sum(near) - mu.n
        return close / max(mu.n * (mu.n - 1), 1) if mu.n > 1 else jnp.ones(())


def order_parameter(mu: Particles | Density) -> Float[Array, ""]:
    """|int x dmu|: Kuramoto's r on the circle, one at consensus, zero when balanced."""
    measure("mu", mu)
    return norm(mu.mean())


def effective_rank(mu: Particles) -> Float[Array, ""]:
    """exp of the entropy of the normalized eigenvalues of the Gram matrix."""
    measure("mu", mu)
    x = mu.points * jnp.exp(mu.log_weights / 2)[:, None]
    eigenvalues = jnp.linalg.svd(x, full_matrices=False, compute_uv=False) ** 2
    p = eigenvalues / eigenvalues.sum()
    return jnp.exp(-jnp.sum(jnp.where(p > 0, p * jnp.log(jnp.where(p > 0, p, 1.0)), 0)))


def in_hemisphere(mu: Particles) -> bool:
    """Whether some w has <x_i, w> > 0 for every token: a linear program.

    maximize m subject to <x_i, w> >= m, |w_k| <= 1; tokens share a hemisphere if and
    only if the maximum is positive.
    """
    measure("mu", mu)
    x = np.asarray(mu.points, dtype=float)
    n, d = x.shape
    constraints = np.hstack([-x, np.ones((n, 1))])
    bounds = [(-1.0, 1.0)] * d + [(None, 1.0)]
    objective = np.r_[np.zeros(d), -1.0]
    solution = scipy.optimize.linprog(
        objective, A_ub=constraints, b_ub=np.zeros(n), bounds=bounds
    )
    if not solution.success:
        raise NumericalError(f"the hemisphere program failed: {solution.message}")
    return bool(np.asarray(solution.x)[-1] > 1e-9)


def hemisphere_margin(mu: Particles) -> float:
    """max over unit w of min_i <x_i, w>, when it is positive; zero otherwise.

    It is the distance from the origin to the convex hull of the tokens, found by
    nonnegative least squares.
    """
    measure("mu", mu)
    x = np.asarray(mu.points, dtype=float)
    system = np.vstack([x.T, np.ones(len(x))])
    target = np.r_[np.zeros(x.shape[1]), 1.0]
    lam, _ = scipy.optimize.nnls(system, target)
    nearest = x.T @ (lam / lam.sum())
    length = float(np.linalg.norm(nearest))
    return 0.0 if length < 1e-9 else float((x @ nearest).min() / length)
