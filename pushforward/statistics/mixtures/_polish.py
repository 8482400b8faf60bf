"""The best mixture with at most k atoms near a given one, by Newton's method.

    L(w, mu) = -sum_i p_i log f(X_i) + sum_j w_j ,     w >= 0,

whose derivatives are 1 - D(mu_j) in w_j and -w_j grad D(mu_j) in mu_j. The multiplier
of the constraint is one because sum_j w_j D(mu_j) = 1 always; so the weights sum to
one by themselves at the end. Steps go downhill in every eigenvector of the Hessian.
"""

import numpy as np
from jaxtyping import Float
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pushforward.statistics.mixtures._likelihood import Sample, log_kernel, loss

GONE = 1e-9  # atoms of less weight are dropped: the certificate brings them back
ROUNDING = 1e-14  # of the loss


def polish(
    sample: Sample,
    atoms: Float[np.ndarray, "k d"],
    weights: Float[np.ndarray, "k"],
    *,
    rounds: int = 40,
) -> tuple[Float[np.ndarray, "k d"], Float[np.ndarray, "k"]]:
    """Atoms and weights at a local minimum of L, or as near as `rounds` steps come.

    The caller certifies the result: a minimum over k atoms with D > 1 elsewhere is
    not an NPMLE.
    """
    value, before = _penalized(sample, atoms, weights), np.inf
    for _ in range(rounds):
        slope, bend = _derivatives(sample, atoms, weights)
        size = float(np.abs(slope).max())
        if size < 1e-15 or (size < 1e-11 and size >= before):
            break  # converged, or rounding is all that is left
        before = size
        moved = _downhill(sample, atoms, weights, value, slope, bend)
        if moved is None:
            break
        atoms, weights, value = moved
    return atoms, weights / weights.sum()


def _penalized(sample: Sample, atoms: np.ndarray, weights: np.ndarray) -> float:
    return loss(sample, atoms, weights) + float(weights.sum())


def _downhill(
    sample: Sample,
    atoms: np.ndarray,
    weights: np.ndarray,
    value: float,
    slope: np.ndarray,
    bend: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """A Newton step, shortened until L falls; None when rounding leaves nothing."""
    k, d = atoms.shape
    root = np.sqrt(weights)
    step = _newton(slope, bend)
    change, shift = root * step[:k], step[k:].reshape(k, d) / root[:, None]
    fall = float((change / weights).min())
    length = min(1.0 / max(1.0, np.abs(shift).max()), 0.99 / max(0.99, -fall))
    for _ in range(30):
        w, mu = weights + length * change, atoms + length * shift
        found = _penalized(sample, mu, w)
        if found <= value + ROUNDING:
            kept = w > GONE
            return mu[kept], w[kept], found
        length /= 2
    return None


def _newton(slope: np.ndarray, bend: np.ndarray) -> np.ndarray:
    """The Newton step on the Hessian, made convex by the least shift that was tried."""
    shift = 0.0
    while True:
        try:
            factor = cho_factor(bend + shift * np.eye(len(bend)))
            return -cho_solve(factor, slope)
        except LinAlgError:
            shift = max(1e-12, 30 * shift)


def _derivatives(
    sample: Sample, atoms: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian of L in (w / sqrt w_j, sqrt w_j mu), units of their own."""
    k, d = atoms.shape
    logs = log_kernel(sample.points, atoms)
    r = np.exp(logs - logs.max(axis=1, keepdims=True))
    r /= (r @ weights)[:, None]  # R_ij = phi_ij / f_i
    offset = sample.points[:, None, :] - atoms[None]  # (n, k, d)
    moment = r[:, :, None] * offset
    p, root = sample.weights, np.sqrt(weights)
    value, gradient = p @ r, np.tensordot(p, moment, 1)
    scaled = np.concatenate(
        [r * root, (moment * root[:, None]).reshape(len(r), k * d)], axis=1
    )
    bend = (p[:, None] * scaled).T @ scaled
    for j in range(k):
        block = slice(k + j * d, k + (j + 1) * d)
        second = (p * r[:, j] * offset[:, j].T) @ offset[:, j]
        bend[block, block] -= second - value[j] * np.eye(d)
        bend[j, block] -= gradient[j]
        bend[block, j] -= gradient[j]
    slope = np.concatenate(
        [root * (1 - value), -(root[:, None] * gradient).reshape(-1)]
    )
    return slope, bend
