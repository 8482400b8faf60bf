"""Where rescaled tokens e^{-tV} x_i(t) end up in R^d, read off the spectrum of V.

The unprojected model dx_i/dt = sum_j P_ij V x_j, P = softmax(<Q x_i, K x_j>).
[geshkovski2023clusters]
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import schur

from pushforward.errors import InputError
from pushforward.theory._checks import square


class Regime(Enum):
    """The long-time geometry of the rescaled tokens."""

    POLYTOPE = "a finite set on the boundary of a convex polytope (or its center 0)"
    HYPERPLANES = "at most three parallel hyperplanes"
    PRODUCT = "(boundary of a polytope in an eigenspace, or 0) times the complement"
    SUBSPACES = "at most three parallel affine subspaces (conjecture)"
    COLLAPSE = "the origin, for the tokens themselves, not rescaled"
    OPEN = "not covered by any statement we know"


@dataclass(frozen=True)
class LimitShape:
    """What is predicted, why, and the linear forms that see it.

    `forms` is (k, d): rows on which the limit takes few values (left eigenvectors of
    the growing eigenvalues). For PRODUCT the polytope lives in the coordinates
    `forms @ z`. `codimension` is their number, 0 for POLYTOPE and COLLAPSE.
    """

    regime: Regime
    eigenvalues: np.ndarray
    forms: np.ndarray
    proven: bool

    @property
    def codimension(self) -> int:
        """Number of linear forms that freeze."""
        return len(self.forms)


def predict_limit(
    V: ArrayLike, Q: ArrayLike | None = None, K: ArrayLike | None = None
) -> LimitShape:
    """The regime of the triple (Q, K, V); Q and K are the identity when left out.

    Eigenvalues count as equal when they differ by less than 1e-9 of the largest.

    >>> shape = predict_limit([[2.0, 1.0], [0.0, 0.5]])
    >>> shape.regime.name, shape.codimension
    ('HYPERPLANES', 1)
    """
    V = square("V", V)
    d = len(V)
    Q, K = (
        np.eye(d) if M is None else _fits(n, square(n, M), d)
        for n, M in (("Q", Q), ("K", K))
    )
    B = Q.T @ K
    values, forms = _left_eigenvectors(V)
    tol = _tolerance(values)
    top = values[0].real

    scalar_matrix = np.abs(V - top * np.eye(d)).max() <= tol
    none = np.empty((0, d))
    if scalar_matrix and top > tol and _positive_definite(B):
        return LimitShape(Regime.POLYTOPE, values, none, True)
    if scalar_matrix and top < -tol and np.abs(B - np.eye(d)).max() <= 1e-9:
        return LimitShape(Regime.COLLAPSE, values, none, True)

    leading = np.abs(values - top) <= tol
    dominates = top > tol and np.all(np.abs(values[~leading]) < top - tol)
    multiplicity = int(leading.sum())
    if dominates and multiplicity == 1:
        phi = _right_eigenvector(V, top)
        if phi @ B @ phi > 0:
            return LimitShape(
                Regime.HYPERPLANES, values, _dual(forms[:1].real, phi), True
            )
    if dominates and multiplicity > 1 and _positive_definite(B):
        kernel = _null_space(V.T - top * np.eye(d), multiplicity)
        if kernel is not None:
            return LimitShape(Regime.PRODUCT, values, kernel, True)
    return _conjectured(V, values, tol)


def _conjectured(V: np.ndarray, values: np.ndarray, tol: float) -> LimitShape:
    """k eigenvalues of positive real part: codimension k, observed and not proven."""
    k = int((values.real > tol).sum())
    if k == 0:
        return LimitShape(Regime.OPEN, values, np.empty((0, len(V))), False)
    return LimitShape(Regime.SUBSPACES, values, growing_forms(V), False)


def growing_forms(V: ArrayLike) -> np.ndarray:
    """Orthonormal rows spanning the left eigenspaces of V with positive real part.

    The conjecture says that all of them freeze, also where a theorem gives one.
    """
    V = square("V", V)
    tol = _tolerance(np.linalg.eigvals(V))
    _, Z, k = schur(V.T, output="real", sort=lambda real, imaginary=0.0: real > tol)
    return Z[:, :k].T


def _tolerance(values: np.ndarray) -> float:
    return 1e-9 * max(1.0, float(np.abs(values).max()))


def _left_eigenvectors(V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = np.linalg.eig(V.T)
    order = np.argsort(-values.real, kind="stable")
    return values[order], vectors.T[order]


def _right_eigenvector(V: np.ndarray, value: float) -> np.ndarray:
    _, _, rows = np.linalg.svd(V - value * np.eye(len(V)))
    return rows[-1]


def _dual(form: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """Scaled so that the form is 1 on the unit right eigenvector of positive sum."""
    phi = phi * (1.0 if phi.sum() >= 0 else -1.0)
    return form / (form @ phi)[:, None]


def _null_space(M: np.ndarray, dimension: int) -> np.ndarray | None:
    """Rows spanning the kernel, or None when a Jordan block makes it too small."""
    _, sizes, rows = np.linalg.svd(M)
    scale = max(1.0, sizes[0])
    return rows[-dimension:] if sizes[-dimension] <= 1e-8 * scale else None


def _positive_definite(B: np.ndarray) -> bool:
    symmetric = np.abs(B - B.T).max() <= 1e-9 * max(1.0, np.abs(B).max())
    return bool(symmetric and np.linalg.eigvalsh((B + B.T) / 2)[0] > 0)


def _fits(name: str, M: ArrayLike, d: int) -> np.ndarray:
    M = np.asarray(M, dtype=float)
    if M.ndim != 2 or M.shape[1] != d or not np.isfinite(M).all():
        raise InputError(
            f"`{name}` must be a finite matrix with {d} columns like V, got shape "
            f"{M.shape}."
        )
    return M
