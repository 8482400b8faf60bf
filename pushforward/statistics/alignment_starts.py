"""Where a search for a relabelling starts: cheap guesses from the two matrices."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from scipy.optimize import linear_sum_assignment

from pushforward.errors import InputError


@dataclass(frozen=True)
class RowProfiles:
    """Match features whose sorted rows look alike.

    C_ij = |sort(A_i.) - sort(B_j.)|^2 + (A_ii - B_jj)^2 over off-diagonal entries,
    solved as a linear assignment.
    """

    def labels(self, A: np.ndarray, B: np.ndarray) -> Int[np.ndarray, "d"]:
        """labels[i] is the feature of B put against feature i of A."""
        profile_a, profile_b = _profiles(A), _profiles(B)
        cost = (
            np.square(profile_a).sum(1)[:, None]
            + np.square(profile_b).sum(1)[None, :]
            - 2.0 * profile_a @ profile_b.T
            + np.square(np.diag(A)[:, None] - np.diag(B)[None, :])
        )
        return linear_sum_assignment(cost)[1]


@dataclass(frozen=True)
class Spectral:
    """Match through all pairs of eigenvectors, weighted by how close eigenvalues are.

    X = sum_ij (u_i^T 1)(v_j^T 1) u_i v_j^T / ((lambda_i - mu_j)^2 + eta^2), rounded by
    a linear assignment (the GRAMPA weights). [fan2020grampa]
    """

    eta: float = 0.3

    def __post_init__(self) -> None:
        if not (np.isfinite(self.eta) and self.eta > 0.0):
            raise InputError(
                f"`eta` must be positive, got {self.eta}. It is a bandwidth on "
                "eigenvalues; try 0.2 to 0.5 on correlation matrices."
            )

    def labels(self, A: np.ndarray, B: np.ndarray) -> Int[np.ndarray, "d"]:
        """labels[i] is the feature of B put against feature i of A."""
        e, U = np.linalg.eigh(A)
        f, V = np.linalg.eigh(B)
        kernel = 1.0 / (np.square(e[:, None] - f[None, :]) + self.eta**2)
        kernel *= np.outer(U.sum(0), V.sum(0))
        return linear_sum_assignment(-(U @ kernel @ V.T))[1]


@dataclass(frozen=True)
class AsGiven:
    """Start from the labels as they come: the two tables already agree, perhaps."""

    def labels(self, A: np.ndarray, B: np.ndarray) -> Int[np.ndarray, "d"]:
        """The identity."""
        return np.arange(len(A))


def _profiles(M: np.ndarray) -> np.ndarray:
    d = len(M)
    rows = M[~np.eye(d, dtype=bool)].reshape(d, d - 1)
    return np.sort(rows, axis=1)
