"""A representation in the eigenbasis of its covariance, where ridge is diagonal."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError
from pushforward.statistics._matrices import finite_matrix


@dataclass(frozen=True)
class Eigenbasis:
    """Eigenvalues e of S = E phi phi^T and the coordinates P with P^T P = diag(e).

    `coordinates` is (n, r), already divided by sqrt(n), with r = min(n, k): a
    representation wider than the sample is held through its n x n Gram matrix.
    """

    eigenvalues: Float[np.ndarray, "r"]
    coordinates: Float[np.ndarray, "n r"]

    def inverses(self, lambdas: Float[np.ndarray, "t"]) -> Float[np.ndarray, "t r"]:
        """Diagonals of (S + lambda)^{-1}; at lambda = 0 the pseudo-inverse.

        The rank is cut at e_max r eps: inverting the rounding below it is what makes
        squared distances negative.
        """
        e = self.eigenvalues
        cut = e.max() * len(e) * np.finfo(float).eps
        shifted = e + lambdas[:, None]
        ridge = (lambdas > 0)[:, None]
        keep = np.where(ridge, shifted > 0, e > cut)
        return np.where(keep, 1.0 / np.where(keep, shifted, 1.0), 0.0)


def normalized(name: str, value: object) -> Float[np.ndarray, "n k"]:
    """Centered, and scaled so that the mean squared norm of a row is one."""
    A = finite_matrix(name, value, "(n, k), samples first")
    if len(A) < 2:
        raise InputError(
            f"`{name}` has one sample, got shape {A.shape}. Rows are samples, "
            "columns are neurons: a representation needs at least 2 rows."
        )
    # over the largest entry first: squares of 1e200 overflow, units do not matter
    A = A / max(np.abs(A).max(), np.finfo(float).tiny)
    A = A - A.mean(axis=0)
    norm = np.linalg.norm(A)
    if norm <= 1e-14 * np.sqrt(A.size):
        raise InputError(
            f"`{name}` is constant over its {len(A)} samples, so it carries no "
            "representation. Pass the activations of different inputs."
        )
    return A * (np.sqrt(len(A)) / norm)


def eigenbasis(A: Float[np.ndarray, "n k"]) -> Eigenbasis:
    """The eigenbasis of a normalized representation, from its smaller Gram matrix."""
    n, k = A.shape
    if k <= n:
        e, U = np.linalg.eigh(A.T @ A / n)
        return Eigenbasis(np.maximum(e, 0.0), A @ U / np.sqrt(n))
    e, U = np.linalg.eigh(A @ A.T / n)
    e = np.maximum(e, 0.0)
    return Eigenbasis(e, U * np.sqrt(e))
