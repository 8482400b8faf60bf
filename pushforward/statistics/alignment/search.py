"""Search for a relabelling: where it starts, and what exchanging two labels changes."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment

from pushforward._checks import above_zero, number
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


def _between(M: np.ndarray) -> np.ndarray:
    """u^T M u for every u = e_i - e_j."""
    diagonal = np.diag(M)
    return diagonal[:, None] + diagonal[None, :] - M - M.T


@dataclass(frozen=True)
class GromovWasserstein:
    """||A - P^T B P||_F^2: squared-loss Gromov-Wasserstein, d^2 times its value.

    For positive semi-definite matrices no coupling beats the best permutation.
    [han2025covariance]
    """

    def value(self, A: np.ndarray, B: np.ndarray) -> float:
        """The objective when B is already relabelled."""
        return float(np.square(A - B).sum())

    def changes(self, A: np.ndarray, B: np.ndarray) -> Float[np.ndarray, "d d"]:
        """Change of the objective if labels i and j of B were exchanged.

        4 u^T A v = 4 u^T A B u - 2 (u^T A u)(u^T B u).
        """
        return 4.0 * _between(A @ B) - 2.0 * _between(A) * _between(B)


@dataclass(frozen=True)
class QuasiLikelihood:
    """log det(s A + (1 - s) P^T B P + ridge): the Gaussian likelihood, profiled.

    The share s is that of the samples behind A: one half for studies of one size, else
    n / (n + m). Needs the pooled matrix nonsingular: more than d/2 samples per study,
    or a ridge.
    [han2025covariance]
    """

    ridge: float = 0.0
    share: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < number("share", self.share) < 1:
            raise InputError(
                f"`share` must lie in (0, 1), got {self.share}. It is n / (n + m), the "
                "share of the samples behind A."
            )
        if not (isinstance(self.ridge, int | float) and self.ridge == 0.0):
            above_zero(
                "ridge",
                self.ridge,
                "It must be finite and >= 0; use 0 when each study has more than d "
                "samples.",
            )

    def value(self, A: np.ndarray, B: np.ndarray) -> float:
        """The objective when B is already relabelled."""
        sign, logdet = np.linalg.slogdet(self.pooled(A, B))
        if sign <= 0 or not np.isfinite(logdet):
            raise InputError(
                "`A` + `B` is singular, so the likelihood is unbounded. Use more "
                "samples than d/2 per study or `QuasiLikelihood(ridge=1e-3)`."
            )
        return float(logdet)

    def changes(self, A: np.ndarray, B: np.ndarray) -> Float[np.ndarray, "d d"]:
        """Change of the objective if labels i and j of B were exchanged.

        log((1 - c u^T R v)^2 - c^2 (u^T R u)(v^T R v)) with R the inverse of the pool
        and c = 1 - s the weight of B.
        """
        self.value(A, B)  # refuses a singular pool by name
        R = np.linalg.inv(self.pooled(A, B))
        alpha, uRu = _between(B), _between(R)
        uRw, wRw = _between(R @ B), _between(B @ R @ B)
        uRv = uRw - 0.5 * alpha * uRu
        vRv = wRw - alpha * uRw + 0.25 * alpha**2 * uRu
        c = 1.0 - self.share
        ratio = np.square(1.0 - c * uRv) - c**2 * uRu * vRv
        return np.log(np.maximum(ratio, np.finfo(float).tiny))

    def pooled(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """The pooled covariance, for one B or many."""
        pool = self.share * A + (1.0 - self.share) * B
        return pool + self.ridge * np.eye(len(A))


def descend(
    objective: GromovWasserstein | QuasiLikelihood,
    A: np.ndarray,
    B: np.ndarray,
    labels: np.ndarray,
) -> tuple[np.ndarray, int]:
    """Best-improvement exchanges until none helps: the labels and the passes taken."""
    labels = labels.copy()
    scale = 1e-13 * (np.abs(A).max() * np.abs(B).max() * len(A) + 1.0)
    passes = 0
    while True:
        table = objective.changes(A, B[np.ix_(labels, labels)])
        np.fill_diagonal(table, 0.0)
        i, j = np.unravel_index(np.argmin(table), table.shape)
        if not table[i, j] < -scale:
            return labels, passes
        labels[[i, j]] = labels[[j, i]]
        passes += 1
