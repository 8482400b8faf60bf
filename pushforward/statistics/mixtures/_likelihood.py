"""The Gaussian location mixture: likelihood, and the function D that certifies it.

With phi the standard Gaussian density, f = rho * phi and data weights p_i,

    l(rho) = -sum_i p_i log f(X_i),      D(x) = sum_i p_i phi(x - X_i) / f(X_i).

rho maximizes the likelihood iff D <= 1 everywhere, and always
0 <= l(rho) - min l <= log max D. Everything is carried as a logarithm, so an atom
40 standard deviations from the nearest datum is not an overflow.
[yan2024npmle]
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

BLOCK = 4_000_000  # entries of a pairwise table held at once: 32 MB


@dataclass(frozen=True, eq=False)
class Sample:
    """Whitened, centered data with weights; `points` has unit Gaussian noise."""

    points: Float[np.ndarray, "n d"]
    weights: Float[np.ndarray, "n"]


def log_kernel(
    x: Float[np.ndarray, "m d"], y: Float[np.ndarray, "n d"]
) -> Float[np.ndarray, "m n"]:
    """log phi(x_i - y_j), from differences so that nothing cancels."""
    d = x.shape[1]
    squares = np.zeros((len(x), len(y)))
    for k in range(d):
        squares += np.subtract.outer(x[:, k], y[:, k]) ** 2
    return -0.5 * squares - 0.5 * d * np.log(2 * np.pi)


def log_mixture(
    x: Float[np.ndarray, "m d"],
    atoms: Float[np.ndarray, "k d"],
    weights: Float[np.ndarray, "k"],
) -> Float[np.ndarray, "m"]:
    """log f(x) for f = sum_j w_j phi(x - mu_j), in blocks."""
    alive = weights > 0
    log_w = np.log(weights[alive])
    rows = max(1, BLOCK // max(1, int(alive.sum())))
    return np.concatenate(
        [
            _log_sum(log_kernel(x[s : s + rows], atoms[alive]) + log_w)
            for s in range(0, len(x), rows)
        ]
    )


def loss(
    sample: Sample,
    atoms: Float[np.ndarray, "k d"],
    weights: Float[np.ndarray, "k"],
) -> float:
    """l(rho) = -sum_i p_i log f(X_i)."""
    return float(-sample.weights @ log_mixture(sample.points, atoms, weights))


def log_certificate(
    x: Float[np.ndarray, "m d"], sample: Sample, log_f: Float[np.ndarray, "n"]
) -> Float[np.ndarray, "m"]:
    """log D(x) given log f at the data, in blocks."""
    log_ratio = np.log(sample.weights) - log_f
    rows = max(1, BLOCK // len(log_f))
    return np.concatenate(
        [
            _log_sum(log_kernel(x[s : s + rows], sample.points) + log_ratio)
            for s in range(0, len(x), rows)
        ]
    )


def _log_sum(logs: Float[np.ndarray, "m n"]) -> Float[np.ndarray, "m"]:
    """log of the row sums of exp(logs); works in place on `logs`."""
    top = logs.max(axis=1)
    logs -= top[:, None]
    return top + np.log(np.exp(logs, out=logs).sum(axis=1))
