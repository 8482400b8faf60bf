"""Zero temperature with a full sphere of tokens: m = Ax/|Ax|, in numpy."""

import functools

import numpy as np


def pair_from_gram(overlap: np.ndarray, columns: int, rng) -> np.ndarray:
    """Two Gaussian vectors of R^columns for each overlap: (replicas, 2, columns)."""
    z = rng.standard_normal((len(overlap), 2, columns))
    side = np.sqrt(np.maximum(1 - overlap**2, 0.0))
    z[:, 1] = overlap[:, None] * z[:, 0] + side[:, None] * z[:, 1]
    return z


def cosine(pair: np.ndarray) -> np.ndarray:
    """The cosine of each pair."""
    a, b = pair[:, 0], pair[:, 1]
    size = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return (a * b).sum(1) / size


def product_cosine(overlap: np.ndarray, d: int, k: int, rng) -> np.ndarray:
    """cos(Ax, Ay) for A = W W'^T with W, W' of shape (d, k), one A for each overlap.

    W'^T x and W'^T y are Gaussian with the Gram matrix of x, y; so is W of them.
    """
    inner = cosine(pair_from_gram(overlap, k, rng))
    return cosine(pair_from_gram(inner, d, rng))


@functools.cache
def slow_pair(
    replicas: int, seed: int, d: int = 64, step: float = 0.1, slow: float = 0.25
) -> np.ndarray:
    """artanh of the overlap of two tokens at slow time s/d, from orthogonal ones."""
    rng = np.random.default_rng(seed)
    x = np.zeros((replicas, 2, d))
    x[:, 0, 0] = x[:, 1, 1] = 1.0
    for _ in range(round(slow * d / step)):
        r = (x[:, 0] * x[:, 1]).sum(1)
        c = product_cosine(r, d, d, rng)
        x = x + np.sqrt(step / d) * pair_from_gram(c, d, rng)
        x /= np.linalg.norm(x, axis=2, keepdims=True)
    return np.arctanh((x[:, 0] * x[:, 1]).sum(1))
