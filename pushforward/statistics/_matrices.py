"""Turning what a caller passes into a finite float64 matrix, or a clear refusal.

A representation in the eigenbasis of its covariance, where ridge is diagonal.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError

LARGEST = 1e75  # two products of such entries still fit in a float64


def finite_matrix(name: str, value: object, axes: str) -> Float[np.ndarray, "n d"]:
    """`value` as a finite float64 matrix; `axes` names the convention in errors."""
    try:
        given = np.asarray(value)
        if np.iscomplexobj(given):
            raise TypeError("its numbers are complex")
        matrix = given.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"`{name}` must be a matrix of numbers {axes}, got "
            f"{type(value).__name__} that does not convert: {error}. Pass a "
            "two-dimensional numeric array."
        ) from None
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError(
            f"`{name}` must be a non-empty matrix {axes}, got shape {matrix.shape}. "
            "A single feature is a column: use `value[:, None]`."
        )
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if bad.size:
        raise InputError(
            f"`{name}` has NaN or infinite values in {bad.size} of {len(matrix)} "
            f"rows, the first is row {bad[0]}. Drop or impute those rows."
        )
    return matrix


def square_matrices(A: object, B: object) -> tuple[np.ndarray, np.ndarray]:
    """Two symmetric matrices of one size, or a refusal that says which is wrong."""
    A, B = finite_matrix("A", A, "(d, d)"), finite_matrix("B", B, "(d, d)")
    for name, matrix in (("A", A), ("B", B)):
        if matrix.shape[0] != matrix.shape[1]:
            raise InputError(
                f"`{name}` must be a square covariance (d, d), got shape "
                f"{matrix.shape}. From samples X (n, d) use `np.cov(X.T)` or "
                "`np.corrcoef(X.T)`."
            )
        if np.abs(matrix).max() > LARGEST:
            raise InputError(
                f"`{name}` has entries up to {np.abs(matrix).max():.3g}, whose "
                "products overflow. Rescale it, or align correlation matrices."
            )
        asymmetry = np.abs(matrix - matrix.T).max()
        if asymmetry > 1e-8 * max(1.0, np.abs(matrix).max()):
            raise InputError(
                f"`{name}` must be symmetric, its largest asymmetry is "
                f"{asymmetry:.3g}. Use `({name} + {name}.T) / 2` if that is rounding."
            )
    if A.shape != B.shape:
        raise InputError(
            f"`A` and `B` must have one size, got {A.shape} and {B.shape}. Both "
            "studies must measure the same d features; else use `align_studies`."
        )
    if len(A) < 2:
        raise InputError(
            "`A` and `B` have one feature only, so there is nothing to align. Pass "
            "covariances of at least 2 features."
        )
    return (A + A.T) / 2, (B + B.T) / 2


@dataclass(frozen=True)
class Eigenbasis:
    """Eigenvalues e of S = E phi phi^T and the coordinates P with P^T P = diag(e).

    `coordinates` is (n, r), already divided by sqrt(n), with r = min(n, k): a
    representation wider than the sample is held through its n x n Gram matrix.
    """

    eigenvalues: Float[np.ndarray, "r"]
    coordinates: Float[np.ndarray, "n r"]

    def inverses(self, lambdas: Float[np.ndarray, "t"]) -> Float[np.ndarray, "t r"]:
        """Diagonals of (S + lambda)^{-1}."""
        return ridge_inverses(self.eigenvalues, lambdas)


def ridge_inverses(
    e: Float[np.ndarray, "r"], lambdas: Float[np.ndarray, "t"]
) -> Float[np.ndarray, "t r"]:
    """1 / (e + lambda); at lambda = 0 the pseudo-inverse.

    The rank is cut at e_max r eps: inverting the rounding below it is what makes
    squared distances negative.
    """
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
