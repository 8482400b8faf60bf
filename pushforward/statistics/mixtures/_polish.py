"""Newton's method on the optimality equations of a mixture with k atoms.

    D(mu_j) = 1,   grad D(mu_j) = 0,     j = 1..k,

in the unknowns (w, mu). The weights then sum to one by themselves, because
sum_j w_j D(mu_j) = 1 always.
"""

import numpy as np
from jaxtyping import Float

from pushforward.statistics.mixtures._likelihood import Sample, log_kernel


def polish(
    sample: Sample,
    atoms: Float[np.ndarray, "k d"],
    weights: Float[np.ndarray, "k"],
    *,
    rounds: int = 30,
) -> tuple[Float[np.ndarray, "k d"], Float[np.ndarray, "k"]] | None:
    """Atoms and weights that solve the equations, or None if Newton leaves the region.

    The caller certifies the result: a solution of these equations with D > 1
    elsewhere is not an NPMLE.
    """
    k, d = atoms.shape
    previous = np.inf
    for _ in range(rounds):
        residual, jacobian = _equations(sample, atoms, weights)
        size = float(np.abs(residual).max())
        if size < 1e-15 or (size < 1e-11 and size >= previous):
            break  # converged, or rounding is all that is left
        step = np.linalg.lstsq(jacobian, -residual, rcond=1e-14)[0]
        atoms = atoms + step[k:].reshape(k, d)
        weights = weights + step[:k]
        if not (np.isfinite(step).all() and (weights > 0).all()):
            return None
        previous = size
    if size > 1e-9 or abs(weights.sum() - 1) > 1e-9:
        return None
    return atoms, weights / weights.sum()


def _equations(
    sample: Sample, atoms: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Residual (D - 1, grad D), and its derivative in (w, mu)."""
    k, d = atoms.shape
    logs = log_kernel(sample.points, atoms)
    r = np.exp(logs - logs.max(axis=1, keepdims=True))
    r /= (r @ weights)[:, None]  # R_ij = phi_ij / f_i
    offset = sample.points[:, None, :] - atoms[None]  # (n, k, d)
    moment = (r[:, :, None] * offset).reshape(len(r), k * d)
    p = sample.weights[:, None]
    value = (p * r).sum(axis=0)
    gradient = (p * moment).sum(axis=0)
    features = np.concatenate([r, moment], axis=1)  # d of (D, grad D) through f
    through_f = np.concatenate([r, moment * np.repeat(weights, d)], axis=1)
    jacobian = -(p * features).T @ through_f
    second = np.einsum("ij,ijk,ijl->jkl", p * r, offset, offset, optimize=True)
    for j in range(k):
        block = slice(k + j * d, k + (j + 1) * d)
        jacobian[j, block] += gradient[j * d : (j + 1) * d]
        jacobian[block, block] += second[j] - value[j] * np.eye(d)
    return np.concatenate([value - 1, gradient]), jacobian
