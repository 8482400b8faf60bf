"""What the observations say about their locations: the likelihoods that `npmle` takes.

Each is an object that turns data into a sample in units of the noise, and says in
words what is assumed.
"""

import abc
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError
from pushforward.statistics.mixtures._heteroscedastic import HeteroscedasticSample
from pushforward.statistics.mixtures._likelihood import AbstractSample, log_kernel
from pushforward.statistics.mixtures._whitening import (
    FARTHEST,
    Whitening,
    as_data,
    as_sample,
    as_weights,
    distinct,
)

Rows = Float[np.ndarray, "m d"]


@runtime_checkable
class Chart(Protocol):
    """The positions of the solver in the units of the data, and back."""

    def whiten(self, x: Rows) -> Rows:
        """To units of the noise."""

    def color(self, x: Rows) -> Rows:
        """Back."""


class Observed(NamedTuple):
    """Data made ready: distinct observations, their chart and constants.

    `shift` is what the loss of the sample lacks: the constants of the likelihoods.
    """

    data: Float[np.ndarray, "n d"]
    sample: AbstractSample
    chart: Chart
    total: float
    shift: float


class AbstractLikelihood(abc.ABC):
    """How an observation depends on its location."""

    @property
    @abc.abstractmethod
    def words(self) -> str:
        """What is assumed, in words."""

    @abc.abstractmethod
    def observe(self, data: object, weights: object | None) -> Observed:
        """The data, checked and in units of the noise."""

    @abc.abstractmethod
    def log_table(self, x: object, atoms: Rows) -> Float[np.ndarray, "n k"]:
        """log p(x_i | location = atom_j), normalized in x."""


@dataclass(frozen=True, eq=False)
class GaussianNoise(AbstractLikelihood):
    """X_i = location + N(0, covariance), the same for all: a variance or a matrix.

    `chosen` says where the covariance comes from.
    """

    covariance: float | Float[np.ndarray, "d d"] = 1.0
    chosen: str = "given"

    @property
    def words(self) -> str:
        """The variance, and how it was chosen."""
        value = np.asarray(self.covariance)
        if value.ndim == 0:
            sd = np.sqrt(float(value))
            return (
                f"Gaussian noise of variance {value:.6g} (sd {sd:.6g}), {self.chosen}"
            )
        rows = np.array2string(value, precision=6, separator=", ").replace("\n", "")
        return f"Gaussian noise of covariance {rows}, {self.chosen}"

    def observe(self, data: object, weights: object | None) -> Observed:
        """Whitened data."""
        x = as_data("data", data, None)
        noise = Whitening.of(self.covariance, x)
        sample, count = as_sample(noise.whiten(x), weights)
        return Observed(x, sample, noise, count, noise.log_scale)

    def log_table(self, x: object, atoms: Rows) -> Float[np.ndarray, "n k"]:
        """log N(x_i; atom_j, covariance)."""
        rows = as_data("x", x, atoms.shape[1])
        noise = Whitening.of(self.covariance, atoms)
        inside = log_kernel(noise.whiten(rows), noise.whiten(atoms))
        return inside - noise.log_scale


@dataclass(frozen=True, eq=False)
class GaussianErrors(AbstractLikelihood):
    """X_i = location + N(0, Sigma_i): errors that each observation brings along.

    `errors` are standard deviations, (n,) for all coordinates or (n, d) one by one, or
    covariances (n, d, d). A coordinate that was not observed has an infinite standard
    deviation (an infinite entry on the diagonal); its value is then not looked at.

    >>> import numpy as np
    >>> from pushforward.statistics import npmle
    >>> fit = npmle(np.array([0.0, 4.0]), likelihood=GaussianErrors([1.0, 2.0]))
    >>> fit.atoms.shape, fit.gap < 1e-9
    ((2, 1), True)
    """

    errors: object

    @property
    def words(self) -> str:
        """The range of the errors."""
        e = np.asarray(self.errors, dtype=float)
        kind = "covariance" if e.ndim == 3 else "standard deviation"
        if e.ndim == 3:
            e = np.sqrt(np.diagonal(e, axis1=1, axis2=2))
        seen = e[np.isfinite(e)]
        span = f"sd {seen.min():.6g} to {seen.max():.6g}" if seen.size else "no error"
        lost = f"; {int(np.isinf(e).sum())} values missing" if np.isinf(e).any() else ""
        return f"Gaussian noise, a {kind} per observation ({span}), given{lost}"

    def observe(self, data: object, weights: object | None) -> Observed:
        """Centered data in units of the most precise observation."""
        x, roots = self._read("data", data)
        seen = np.abs(roots).sum(axis=1) > 0  # (n, d)
        if not seen.any(axis=1).all():
            row = int(np.argmin(seen.any(axis=1)))
            raise InputError(
                f"`errors` must leave one coordinate of each row observed, row {row} "
                "has none. Drop it."
            )
        if not seen.any(axis=0).all():
            raise InputError("`errors` must be finite somewhere in every column.")
        filled = np.where(seen, x, 0.0)
        center = filled.sum(axis=0) / seen.sum(axis=0)
        precisions = np.swapaxes(roots, 1, 2) @ roots
        scale = 1 / np.sqrt(np.diagonal(precisions, axis1=1, axis2=2).max(axis=0))
        inner = precisions * scale[:, None] * scale
        scale = scale / np.sqrt(np.linalg.eigvalsh(inner)[:, -1].max())
        chart = Whitening(center, np.diag(scale))
        points = np.where(seen, (x - center) / scale, 0.0)
        if np.abs(points).max() > FARTHEST:
            raise InputError(
                f"data reach {np.abs(points).max():.3g} of the smallest standard "
                f"deviations from their mean, beyond {FARTHEST:.0e}; are `errors` in "
                "the right units?"
            )
        p = as_weights(weights, len(x))
        sample, shift = _distinct(points, roots * scale, p, roots)
        return Observed(np.where(seen, x, np.nan), sample, chart, float(p.sum()), shift)

    def log_table(self, x: object, atoms: Rows) -> Float[np.ndarray, "n k"]:
        """log N(x_i; atom_j, Sigma_i) of the coordinates observed."""
        rows, roots = self._read("x", x, atoms.shape[1])
        filled = np.where(np.abs(roots).sum(axis=1) > 0, rows, 0.0)
        flat = HeteroscedasticSample(filled, roots, np.ones(len(rows)))
        return flat.log_kernel(atoms).T + _constants(roots)[:, None]

    def _read(
        self, name: str, data: object, d: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows, NaN where not observed, and the roots of their precisions."""
        try:
            x = np.asarray(data, dtype=float)
            e = np.asarray(self.errors, dtype=float)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"`errors` and {name} must be numbers: {error}.") from None
        x = x[:, None] if x.ndim == 1 else x
        if x.ndim != 2 or x.size == 0 or (d is not None and x.shape[1] != d):
            raise InputError(f"{name} must have shape (n, {d or 'd'}), got {x.shape}.")
        if e.ndim == 0:
            e = np.full(len(x), float(e))
        if e.ndim == 1 and e.shape == (len(x),):
            e = np.broadcast_to(e[:, None], x.shape)
        if e.shape == x.shape:
            roots = _from_sds(e)
        elif e.shape == (*x.shape, x.shape[1]):
            roots = _from_covariances(e)
        else:
            raise InputError(
                f"`errors` must be standard deviations of shape {x.shape[:1]} or "
                f"{x.shape}, or covariances {(*x.shape, x.shape[1])}, for {name} of "
                f"shape {x.shape}, got {e.shape}. For new rows pass "
                "likelihood=GaussianErrors(...) of their own."
            )
        bad = ~np.isfinite(x) & (np.abs(roots).sum(axis=1) > 0)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise InputError(
                f"{name} must be finite where `errors` are, row {row}, column {column} "
                "is not. Give what is missing an infinite error."
            )
        return x, roots


def _from_sds(e: np.ndarray) -> np.ndarray:
    if np.isnan(e).any() or (e <= 0).any():
        row = int(np.argmax(~(e > 0).all(axis=1)))
        raise InputError(
            f"`errors` must be positive standard deviations, got {e[row]} in row {row}."
        )
    return (1 / e)[:, :, None] * np.eye(e.shape[1])


def _from_covariances(e: np.ndarray) -> np.ndarray:
    """Upper triangular U, U^T U the inverse on what was observed, zero elsewhere."""
    roots = np.zeros(e.shape)
    lost = np.isinf(np.diagonal(e, axis1=1, axis2=2))
    for pattern in np.unique(lost, axis=0):
        rows = np.flatnonzero((lost == pattern).all(axis=1))
        seen = np.flatnonzero(~pattern)
        block = e[np.ix_(rows, seen, seen)]
        if not np.allclose(block, np.swapaxes(block, 1, 2), rtol=1e-10, atol=0):
            raise InputError("`errors` must be symmetric matrices; use (S + S.T) / 2.")
        try:
            lower = np.linalg.cholesky(block)
        except np.linalg.LinAlgError:
            raise InputError(
                "`errors` must be positive definite covariances, and one is not."
            ) from None
        inverse = np.linalg.inv(lower)  # Sigma^{-1} = inverse^T inverse
        upper = np.swapaxes(
            np.linalg.cholesky(np.swapaxes(inverse, 1, 2) @ inverse), 1, 2
        )
        roots[np.ix_(rows, seen, seen)] = upper
    return roots


def _constants(roots: np.ndarray) -> Float[np.ndarray, "n"]:
    """log det U_i - d_i log(2 pi) / 2 over the coordinates observed."""
    diagonal = np.diagonal(roots, axis1=1, axis2=2)
    logs = np.log(np.where(diagonal > 0, diagonal, 1.0)).sum(axis=1)
    return logs - 0.5 * np.log(2 * np.pi) * (diagonal > 0).sum(axis=1)


def _distinct(
    points: np.ndarray, roots: np.ndarray, p: np.ndarray, plain: np.ndarray
) -> tuple[HeteroscedasticSample, float]:
    """Equal observations as one, and minus the mean constant."""
    n, d = points.shape
    kept, mass = distinct(np.concatenate([points, roots.reshape(n, -1)], axis=1), p)
    sample = HeteroscedasticSample(kept[:, :d], kept[:, d:].reshape(-1, d, d), mass)
    return sample, float(-(p / p.sum()) @ _constants(plain))
