"""The similarities people compare with GULP, and objects in the plane by their
distances.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.statistics._matrices import (
    Eigenbasis,
    eigenbasis,
    finite_matrix,
    normalized,
)
from pushforward.statistics.representations.gulp import paired, squared_distances

RIDGE = 1e-2  # of GULP between layers


@dataclass(frozen=True)
class KernelAlignment:
    """Linear centered kernel alignment; `negative` flags an impossible similarity.

    The unbiased estimate may fall below zero when the representations share nothing
    that n samples can resolve: then it means "no similarity", not an opposite one.
    """

    value: float
    unbiased: float

    @property
    def negative(self) -> bool:
        """Whether the unbiased estimate is below zero."""
        return self.unbiased < 0.0

    @property
    def distance(self) -> float:
        """1 - CKA, the biased form that the literature plots."""
        return 1.0 - self.value


@dataclass(frozen=True)
class CanonicalCorrelations:
    """Canonical correlations rho_1 >= rho_2 >= ... of two representations.

    `projected` is the average of PWCCA: rho weighted by how much of A each
    canonical variable of A carries.
    """

    correlations: Float[np.ndarray, "k"]
    projected: float

    @property
    def mean(self) -> float:
        """Mean canonical correlation."""
        return float(self.correlations.mean())

    @property
    def mean_squared(self) -> float:
        """Mean squared canonical correlation."""
        return float(np.square(self.correlations).mean())


def cka(A: object, B: object) -> KernelAlignment:
    """Linear CKA, biased and unbiased, without forming an n x n matrix.

        CKA = ||S_AB||_F^2 / (||S_A||_F ||S_B||_F)

    and the same ratio of unbiased Hilbert-Schmidt criteria (diagonals of the Gram
    matrices removed), which needs n >= 4. [kornblith2019cka]
    """
    A, B = paired(A, B)
    if len(A) < 4:
        raise InputError(
            f"`A` and `B` have {len(A)} samples; the unbiased CKA needs at least 4. "
            "Evaluate both representations on more inputs."
        )
    cross = np.square(A.T @ B).sum()
    own = np.sqrt(np.square(A.T @ A).sum() * np.square(B.T @ B).sum())
    own_unbiased = _unbiased_hsic(A, A) * _unbiased_hsic(B, B)
    if own_unbiased <= 0.0:
        raise InputError(
            f"`A` or `B` has no structure that its {len(A)} samples resolve: the "
            "unbiased criterion of a representation with itself is not positive. "
            "Evaluate on more inputs."
        )
    unbiased = _unbiased_hsic(A, B) / np.sqrt(own_unbiased)
    return KernelAlignment(float(cross / own), float(unbiased))


def cca(A: object, B: object) -> CanonicalCorrelations:
    """Canonical correlations and the projection weighting of PWCCA.

    Computed as singular values of Q_A^T Q_B between orthonormal bases, with the rank
    cut where GULP cuts it, never iteratively. [morcos2018pwcca]
    """
    A, B = paired(A, B)
    Q_A, Q_B = _orthonormal(A), _orthonormal(B)
    U, rho, _ = np.linalg.svd(Q_A.T @ Q_B, full_matrices=False)
    rho = np.clip(rho, 0.0, 1.0)
    weights = np.abs((Q_A @ U).T @ A).sum(axis=1)
    return CanonicalCorrelations(rho, float(weights @ rho / weights.sum()))


def procrustes(A: object, B: object) -> float:
    """Squared orthogonal Procrustes distance min_Q ||A - B Q||_F^2 / n, in [0, 2].

        E|phi|^2 + E|psi|^2 - 2 ||S_AB||_*

    with both representations scaled to E|phi|^2 = 1. [schonemann1966]
    """
    A, B = paired(A, B)
    nuclear = np.linalg.svd(A.T @ B / len(A), compute_uv=False).sum()
    return float(max(2.0 - 2.0 * nuclear, 0.0))


def _orthonormal(A: np.ndarray) -> np.ndarray:
    basis = eigenbasis(A)
    w = basis.inverses(np.zeros(1))[0]
    return basis.coordinates[:, w > 0] * np.sqrt(w[w > 0])


def _unbiased_hsic(A: np.ndarray, B: np.ndarray) -> float:
    """Song's estimator from row sums: K~ = A A^T and L~ = B B^T without diagonals."""
    n = len(A)
    a, b = np.square(A).sum(1), np.square(B).sum(1)
    trace = np.square(A.T @ B).sum() - a @ b
    row_a, row_b = A @ A.sum(0) - a, B @ B.sum(0) - b
    total = row_a.sum() * row_b.sum() / ((n - 1) * (n - 2))
    return float((trace + total - 2.0 * (row_a @ row_b) / (n - 2)) / (n * (n - 3)))


@dataclass(frozen=True)
class Scaling:
    """Coordinates whose distances approximate the given ones.

    `explained` is the share of the positive spectrum that the kept axes carry: near
    one, the picture is faithful.
    """

    points: Float[np.ndarray, "m k"]
    explained: float


def classical_scaling(distances: object, dimension: int = 2) -> Scaling:
    """The best Euclidean picture of a distance matrix D (m, m).

    Eigenvectors of -J D^2 J / 2 with J the centering matrix; each axis is turned so
    that its largest coordinate is positive, so the picture does not flip by chance.

    >>> x = np.array([0.0, 1.0, 3.0])
    >>> found = classical_scaling(np.abs(x[:, None] - x[None, :]), 1)
    >>> np.round(found.points[:, 0] - found.points[0, 0], 6).tolist()
    [0.0, 1.0, 3.0]
    """
    D = finite_matrix("distances", distances, "(m, m)")
    m = len(D)
    if D.shape != (m, m) or np.abs(D - D.T).max() > 1e-8 * max(1.0, np.abs(D).max()):
        raise InputError(
            f"`distances` must be a symmetric square matrix, got shape {D.shape}. Pass "
            "`gulp_matrix(...).at(lam)`."
        )
    if np.abs(D).max() > 1e100:
        raise InputError(
            f"`distances` must be at most 1e100, got {np.abs(D).max():g}. Rescale them."
        )
    if not 1 <= whole("dimension", dimension, 1) < m:
        raise InputError(
            f"`dimension` must lie between 1 and {m - 1} for {m} objects, got "
            f"{dimension}."
        )
    J = np.eye(m) - 1.0 / m
    e, V = np.linalg.eigh(-0.5 * J @ np.square(D) @ J)
    e, V = np.maximum(e[::-1], 0.0), V[:, ::-1]
    points = V[:, :dimension] * np.sqrt(e[:dimension])
    largest = points[np.abs(points).argmax(0), np.arange(dimension)]
    points = points * np.where(largest < 0, -1.0, 1.0)
    total = e.sum()
    return Scaling(points, float(e[:dimension].sum() / total) if total > 0 else 1.0)


def layer_similarity(
    rows: Sequence[np.ndarray], columns: Sequence[np.ndarray]
) -> dict[str, Float[np.ndarray, "r c"]]:
    """CKA, Procrustes and GULP between two lists of representations of one sample.

    Each entry is (n, d_k). CKA is a similarity, one for equal; the squared Procrustes
    distance and GULP (ridge 0.01) are distances, zero for equal. One decomposition
    per representation and one product per pair serve all three.
    [kornblith2019cka, schonemann1966, boixadsera2022gulp]
    """
    sizes = {len(a) for a in (*rows, *columns)}
    if len(sizes) != 1:
        raise InputError(
            f"representations must share their samples, got {sorted(sizes)} rows. "
            "Models that cut a text differently share words: use Recording.words()."
        )
    bases = [[_basis(a) for a in rows], [_basis(a) for a in columns]]
    values = np.zeros((len(rows), len(columns), 3))
    same = rows is columns
    for i, a in enumerate(bases[0]):
        for j, b in enumerate(bases[1]):
            known = same and j < i
            values[i, j] = values[j, i] if known else _compared(a, b)
    names = ("CKA (1 = alike)", "Procrustes (0 = alike)", "GULP (0 = alike)")
    return {name: values[..., k] for k, name in enumerate(names)}


def _basis(representation: np.ndarray) -> Eigenbasis:
    return eigenbasis(normalized("representation", representation))


def _compared(a: Eigenbasis, b: Eigenbasis) -> tuple[float, float, float]:
    """`cka`, `procrustes` and `gulp`, from one product of coordinates.

    In the two eigenbases S_AB is W = P_A^T P_B, S_A and S_B are diagonal, and rotations
    change none of the norms that these measures are made of.
    """
    W = a.coordinates.T @ b.coordinates
    e, f = a.eigenvalues, b.eigenvalues
    Q = np.square(W)
    nuclear = np.linalg.svd(W, compute_uv=False).sum()
    gulp = squared_distances(e, f, Q, np.array([RIDGE]))[0]
    cka = Q.sum() / (np.linalg.norm(e) * np.linalg.norm(f))
    return cka, max(2.0 - 2.0 * nuclear, 0.0), np.sqrt(max(gulp, 0.0))
