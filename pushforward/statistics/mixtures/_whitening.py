"""Data and known noise covariance, checked and brought to unit noise.

With covariance Sigma = L L^T, whitened data are L^{-1}(X - center); the
log-likelihood per datum then changes by log det L.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError
from pushforward.statistics.mixtures._likelihood import Sample

FARTHEST = 1e7  # noise standard deviations; beyond, squared distances lose their digits


@dataclass(frozen=True, eq=False)
class Whitening:
    """x -> L^{-1}(x - center), and back."""

    center: Float[np.ndarray, "d"]
    factor: Float[np.ndarray, "d d"]

    @classmethod
    def of(
        cls,
        covariance: float | Float[np.ndarray, "d d"],
        data: Float[np.ndarray, "n d"],
    ) -> "Whitening":
        """Check the covariance against the data and factor it."""
        d = data.shape[1]
        try:
            matrix = np.asarray(covariance, dtype=float)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"covariance must be a variance or a ({d}, {d}) matrix: {error}."
            ) from None
        if matrix.ndim == 0:
            matrix = matrix * np.eye(d)
        if matrix.shape != (d, d) or not np.isfinite(matrix).all():
            raise InputError(
                f"covariance must be a finite variance or a ({d}, {d}) matrix for data "
                f"of shape {data.shape}, got shape {matrix.shape}."
            )
        if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0):
            raise InputError("covariance must be symmetric; use (S + S.T) / 2.")
        try:
            factor = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            lowest = np.linalg.eigvalsh(matrix)[0]
            raise InputError(
                f"covariance must be positive definite, its lowest eigenvalue is "
                f"{lowest:.3g}; it is the covariance of the noise, not of the data."
            ) from None
        return cls(data.mean(axis=0), factor)

    @property
    def log_scale(self) -> float:
        """log det L, half the log determinant of the covariance."""
        return float(np.log(np.diag(self.factor)).sum())

    def whiten(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m d"]:
        """To unit noise."""
        return np.linalg.solve(self.factor, (x - self.center).T).T

    def color(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m d"]:
        """Back to the units of the data."""
        return x @ self.factor.T + self.center


def as_data(name: str, values: object, d: int | None) -> Float[np.ndarray, "n d"]:
    """A finite (n, d) float array, from (n,) on the line; else an error that helps."""
    try:
        x = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must be numbers: {error}.") from None
    given = x.shape
    if x.ndim == 1:
        x = x[:, None]
    if x.ndim != 2 or x.size == 0:
        raise InputError(f"{name} must have shape (n, d) with n, d >= 1, got {given}.")
    bad = ~np.isfinite(x).all(axis=1)
    if bad.any():
        raise InputError(
            f"{name} has NaN or infinity in {bad.sum()} of {len(x)} rows, first in "
            f"row {int(np.argmax(bad))}; drop or impute them."
        )
    if d is not None and x.shape[1] != d:
        fits = " Its transpose would fit." if x.shape[0] == d else ""
        raise InputError(f"{name} must have {d} columns, got shape {x.shape}.{fits}")
    return x


def as_sample(
    whitened: Float[np.ndarray, "n d"], weights: object | None
) -> tuple[Sample, float]:
    """Distinct whitened data with their weights, and the number of data."""
    n = len(whitened)
    if np.abs(whitened).max() > FARTHEST:
        raise InputError(
            f"data reach {np.abs(whitened).max():.3g} noise standard deviations from "
            f"their mean, beyond {FARTHEST:.0e}; is covariance in the right units?"
        )
    p = as_weights(weights, n)
    points, mass = distinct(whitened, p)
    return Sample(points, mass), float(p.sum())


def as_weights(weights: object | None, n: int) -> Float[np.ndarray, "n"]:
    """Finite non-negative weights, one each; ones if there are none."""
    try:
        p = np.full(n, 1.0) if weights is None else np.asarray(weights, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"weights must be numbers: {error}.") from None
    if p.shape != (n,) or not np.isfinite(p).all() or (p < 0).any() or p.sum() <= 0:
        raise InputError(
            f"weights must be {n} finite non-negative numbers, not all zero, got "
            f"shape {p.shape}; leave them out for equal weights."
        )
    return p


def distinct(
    rows: Float[np.ndarray, "n r"], p: Float[np.ndarray, "n"]
) -> tuple[Float[np.ndarray, "m r"], Float[np.ndarray, "m"]]:
    """Different rows, and the weight of each; weights sum to one."""
    kept, index = np.unique(rows, axis=0, return_inverse=True)
    mass = np.bincount(index.reshape(-1), weights=p, minlength=len(kept))
    alive = mass > 0
    return kept[alive], mass[alive] / mass.sum()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside, if threadpoolctl is installed; else nothing."""
    libraries = _libraries()
    if libraries is None:
        yield
        return
    with libraries.limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> Any:
    """What is loaded: to look for it again takes as long as a small fit."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()
