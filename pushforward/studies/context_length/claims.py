"""Every claim of the study."""

import functools

import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.studies.context_length.study import (
    KEYS,
    Parameters,
    at_most,
    open_claim,
    paper,
    within,
)
from pushforward.theory import long_context, random_keys

DERIVED = paper("derived here")

RHO, CHUNK = 0.3, 100


@functools.cache
def layer(n: int, gamma: float, rho: float, layers: int = 1) -> float:
    """The overlap after layers of the library's attention on n equiangular tokens."""
    x = jnp.linalg.cholesky((1 - rho) * jnp.eye(n) + rho)
    field = pf.Attention(gamma * np.log(n))
    for _ in range(layers):
        x = field.at(0.0, x, pf.Particles(pf.Euclidean(n), x))
        x = x / jnp.linalg.norm(x, axis=1, keepdims=True)
    return float(x[0] @ x[1])


@functools.cache
def weights(lam: float, d: int, keys: int, draws: int, seed: int) -> np.ndarray:
    """Largest weight and sum of squares of n random keys: means and their errors."""
    rng, found = np.random.default_rng(seed), []
    beta = random_keys.critical_beta(keys, d, lam)
    for _ in range(-(-draws // CHUNK)):
        shape = (d - 1) / 2  # <q, x> = 2 B - 1 with B of this beta law
        s = beta * 2 * rng.beta(shape, shape, (CHUNK, keys))
        w = np.exp(s - s.max(axis=1, keepdims=True))
        w /= w.sum(axis=1, keepdims=True)
        found.append([w.max(axis=1), (w**2).sum(axis=1)])
    rows = np.concatenate(found, axis=1)
    return np.stack([rows.mean(axis=1), rows.std(axis=1) / np.sqrt(rows.shape[1])])


def three_phases(p: Parameters):
    """At the critical gamma the overlap of outputs is 4 rho / (1 + 3 rho)."""
    claim = "rho = 0.3, critical gamma, n = 1e12: overlap after one layer"
    found = long_context.output_overlap(1 / 0.7, RHO, 10**12)
    return within(claim, paper("phase transition"), "theorem", found, 1.2 / 1.9, 1e-6)


def a_layer_of_the_library(p: Parameters):
    """The formula for finite n is what attention does."""
    gap = max(
        abs(layer(100, g, RHO) - float(long_context.output_overlap(g, RHO, 100)))
        for g in (0.8, 1 / 0.7, 2.5)
    )
    claim = "100 tokens, three values of gamma: a layer of the library off the formula"
    return at_most(claim, paper("phase transition"), "identity", gap, 1e-10)


def inside_the_transition(p: Parameters):
    """gamma (1 - rho) = 1 + s / log n: the width is 1 / log n."""
    rows = ((0.3, 1.0), (0.3, -1.0), (0.5, 2.0))
    gap = 0.0
    for rho, s in rows:
        gamma = (1 + s / np.log(1e8)) / (1 - rho)
        found = float(long_context.output_overlap(gamma, rho, 10**8))
        limit = float(long_context.transition_overlap(s, rho))
        gap = max(gap, abs(found - limit))
    claim = "n = 1e8, s = 1, -1, 2: overlap off its limit inside the transition"
    return at_most(claim, DERIVED, "identity", gap, 1e-7)


def collapse_with_depth(p: Parameters):
    """Each layer raises rho and with it the critical gamma: 5 layers at n = 100."""
    gamma = 1.5 / 0.7
    before, after = (layer(100, gamma, RHO, k) for k in (4, 5))
    found = 5 if before < 0.99 <= after else 0
    claim = (
        "100 tokens, gamma at 1.5 of critical: layers of the library until rho = 0.99"
    )
    known = long_context.layers_to_collapse(gamma, RHO, 100)
    return within(claim, DERIVED, "identity", found, known, 0)


def _by_draws(p: Parameters, lam: float, d: int, k: int, known: float):
    mean, error = weights(lam, d, p.keys, p.draws, p.seed)
    word = ("largest weight", "sum of squared weights")[k]
    return within(
        f"d = {d}, beta = {lam:g} n^(2/(d-1)), {p.keys} random keys: mean {word}",
        KEYS,
        "theorem",
        mean[k],
        known,
        # the bias of finite n is O(n^{-2/(d-1)}) in the tail that counts
        4 * error[k] + 0.5 * p.keys ** (-2 / (d - 1)),
        f"{p.draws} draws, standard error {error[k]:.2g}",
    )


def largest_weight_on_the_sphere(p: Parameters):
    """d = 3, lambda = 1/2: e^{-gamma} with Euler's constant."""
    return _by_draws(p, 0.5, 3, 0, float(np.exp(-np.euler_gamma)))


def largest_weight_on_the_circle(p: Parameters):
    """d = 2, lambda = 1."""
    return _by_draws(p, 1.0, 2, 0, random_keys.largest_weight(1.0, 2))


def squares_in_five_dimensions(p: Parameters):
    """d = 5, lambda = 1."""
    return _by_draws(p, 1.0, 5, 1, random_keys.concentration(1.0, 5))


def far_below_the_scale(p: Parameters):
    """d = 3, beta = 20: attention is an average, with its mean in closed form."""
    rng, n = np.random.default_rng(p.seed), 20_000
    found = []
    for _ in range(200):
        u = rng.uniform(-1, 1, n)
        w = np.exp(20 * (u - 1))
        found.append((w @ u) / w.sum())
    claim = "d = 3, beta = 20, 20000 keys: mean of <q, output>"
    error = 4 * np.std(found) / np.sqrt(200) + 1e-4
    known = random_keys.output_mean(20.0, 3)
    return within(claim, KEYS, "theorem", np.mean(found), known, error)


def tangential_variance(p: Parameters):
    """The same: the variance of the output across the query."""
    rng, n = np.random.default_rng(p.seed + 1), 20_000
    found = []
    for _ in range(400):
        u, phi = rng.uniform(-1, 1, n), rng.uniform(0, 2 * np.pi, n)
        w = np.exp(20 * (u - 1))
        found.append((w @ (np.sqrt(1 - u**2) * np.cos(phi))) / w.sum())
    claim = "the same: variance of the output in one direction across, over theory"
    ratio = np.var(found) / random_keys.output_variance(20.0, n, 3)
    return within(claim, KEYS, "theorem", ratio, 1.0, 4 * np.sqrt(2 / 400))


def trained_models(p: Parameters):
    """On which side the heads of a trained model live."""
    return open_claim(
        "heads of a trained model on both sides of the critical scale",
        paper("motivation"),
        "experiment",
        "needs a model's weights; the keys of one are neither equiangular nor uniform",
    )


CLAIMS = (
    three_phases,
    a_layer_of_the_library,
    inside_the_transition,
    collapse_with_depth,
    largest_weight_on_the_sphere,
    largest_weight_on_the_circle,
    squares_in_five_dimensions,
    far_below_the_scale,
    tangential_variance,
    trained_models,
)
