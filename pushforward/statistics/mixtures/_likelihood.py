"""A mixture seen through noise: likelihood, and the function D that certifies it.

Observation i has likelihood L_i(x) if its location is x; with data weights p_i,

    f_i = int L_i drho,   l(rho) = -sum_i p_i log f_i,   D(x) = sum_i p_i L_i(x) / f_i.

rho maximizes the likelihood iff D <= 1 everywhere, and always
0 <= l(rho) - min l <= log max D, because l is convex. Everything is carried as a
logarithm, so an atom 40 standard deviations from the nearest datum is not an overflow.
[yan2024npmle]

Positions are in units of the noise, so that one set of tolerances serves all: the
most precise observation has unit standard deviation.
"""

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

CELL = 0.5  # of data that are nearly the same, in standard deviations
FEW = 1000  # data that are all looked at from the start
PART = 4096  # observations whose tables are made at once where they are used again
BLOCK = 4_000_000  # entries of a pairwise table held at once: 32 MB


class AbstractSample(abc.ABC):
    """Observations with weights and likelihoods, whatever the noise is.

    Each log L_i is linear in `statistics` S_i, with coefficients that depend on x; so
    the moments of S under shares of the data give every derivative of log D.
    """

    weights: Float[np.ndarray, "n"]

    @property
    @abc.abstractmethod
    def places(self) -> Float[np.ndarray, "n d"]:
        """Where each observation alone would put its location."""

    @property
    @abc.abstractmethod
    def statistics(self) -> Float[np.ndarray, "n r"]:
        """S_i, on which the slope of log L_i depends linearly."""

    @cached_property
    def moments(self) -> Float[np.ndarray, "n m"]:
        """1, S, and all products of two entries of S."""
        S = self.statistics
        squares = (S[:, :, None] * S[:, None, :]).reshape(len(S), -1)
        return np.concatenate([np.ones((len(S), 1)), S, squares], axis=1)

    @abc.abstractmethod
    def log_kernel(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m n"]:
        """log L_i(x_j), up to a constant for each i."""

    @abc.abstractmethod
    def scores(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "d m n"]:
        """grad log L_i(x_j)."""

    @abc.abstractmethod
    def information(
        self, shares: Float[np.ndarray, "m n"], x: Float[np.ndarray, "m d"]
    ) -> Float[np.ndarray, "m d d"]:
        """-sum_i shares_ji Hess log L_i(x_j)."""

    @abc.abstractmethod
    def tilted(
        self,
        mean: Float[np.ndarray, "m r"],
        covariance: Float[np.ndarray, "m r r"],
        x: Float[np.ndarray, "m d"],
    ) -> tuple[Float[np.ndarray, "m d"], Float[np.ndarray, "m d d"]]:
        """grad log D and -Hess log D at x from the moments of S seen from there."""

    @abc.abstractmethod
    def box(
        self, log_ratio: Float[np.ndarray, "n"]
    ) -> tuple[Float[np.ndarray, "d"], Float[np.ndarray, "d"]] | None:
        """Corners of a box beyond which D < 1 or has no maximum; None if unknown.

        `log_ratio` is log p_i / f_i.
        """

    @abc.abstractmethod
    def factor(
        self, k: int, axis: Float[np.ndarray, "a"], rows: slice = slice(None)
    ) -> Float[np.ndarray, "a m"] | None:
        """The factor of L_i that depends on x_k, on an axis; None if not a product."""

    def inside(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m d"]:
        """The same positions, where L_i is defined."""
        return x

    @property
    def parts(self) -> Sequence["AbstractSample"]:
        """The same observations in blocks, whose tables fit into a cache."""
        return [self]

    def coarse(self) -> "AbstractSample | None":
        """Far fewer observations that say nearly the same, or None."""
        return None

    def log_mixture(
        self, atoms: Float[np.ndarray, "k d"], weights: Float[np.ndarray, "k"]
    ) -> Float[np.ndarray, "n"]:
        """log f_i = log sum_j w_j L_i(mu_j), in blocks."""
        alive = weights > 0
        atoms, log_w = atoms[alive], np.log(weights[alive])
        rows = max(1, BLOCK // len(self.weights))
        total = np.full(len(self.weights), -np.inf)
        for s in range(0, len(atoms), rows):
            logs = self.log_kernel(atoms[s : s + rows]) + log_w[s : s + rows, None]
            total = np.logaddexp(total, _log_sum(np.ascontiguousarray(logs.T)))
        return total


@dataclass(frozen=True, eq=False)
class Sample(AbstractSample):
    """Whitened, centered data with weights; `points` has unit Gaussian noise."""

    points: Float[np.ndarray, "n d"]
    weights: Float[np.ndarray, "n"]

    @property
    def places(self) -> Float[np.ndarray, "n d"]:
        """The data."""
        return self.points

    @property
    def statistics(self) -> Float[np.ndarray, "n d"]:
        """The data: the slope is X_i - x."""
        return self.points

    def log_kernel(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m n"]:
        """log phi(x_j - X_i)."""
        return log_kernel(x, self.points)

    def scores(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "d m n"]:
        """X_i - x_j."""
        return np.subtract(self.points.T[:, None], x.T[:, :, None], order="C")

    def information(
        self, shares: Float[np.ndarray, "m n"], x: Float[np.ndarray, "m d"]
    ) -> Float[np.ndarray, "m d d"]:
        """The identity, as often as there are shares."""
        return shares.sum(axis=1)[:, None, None] * np.eye(x.shape[1])

    def tilted(
        self,
        mean: Float[np.ndarray, "m r"],
        covariance: Float[np.ndarray, "m r r"],
        x: Float[np.ndarray, "m d"],
    ) -> tuple[Float[np.ndarray, "m d"], Float[np.ndarray, "m d d"]]:
        """E[X] - x and I - Cov(X)."""
        return mean - x, np.eye(x.shape[1]) - covariance

    def box(
        self, log_ratio: Float[np.ndarray, "n"]
    ) -> tuple[Float[np.ndarray, "d"], Float[np.ndarray, "d"]]:
        """Maxima are weighted means of the data."""
        return self.points.min(axis=0), self.points.max(axis=0)

    @cached_property
    def parts(self) -> list["Sample"]:
        """Blocks of rows."""
        found = blocks(len(self.weights))
        return [Sample(self.points[b], self.weights[b]) for b in found]

    def coarse(self) -> "Sample | None":
        """Data of one cell as their mean."""
        found = by_cells(self.points / CELL, self.points, self.weights)
        return None if found is None else Sample(*found)

    def factor(
        self, k: int, axis: Float[np.ndarray, "a"], rows: slice = slice(None)
    ) -> Float[np.ndarray, "a m"]:
        """phi(x_k - X_ik) on the line."""
        far = np.subtract.outer(axis, self.points[rows, k])
        far *= far
        far *= -0.5
        return np.exp(far, out=far) / np.sqrt(2 * np.pi)


def blocks(n: int) -> list[slice]:
    """Rows from 0 to n, PART at a time."""
    return [slice(s, s + PART) for s in range(0, n, PART)]


def by_cells(
    cells: Float[np.ndarray, "n c"],
    statistics: Float[np.ndarray, "n r"],
    weights: Float[np.ndarray, "n"],
) -> tuple[Float[np.ndarray, "m r"], Float[np.ndarray, "m"]] | None:
    """Mean statistics of the observations in each cell, and their weight.

    The mean of log L_i over a cell is that of the mean statistics. None where that is
    not worth its while.
    """
    if len(weights) < FEW:
        return None
    _, index = np.unique(np.floor(cells), axis=0, return_inverse=True)
    index = index.reshape(-1)
    mass = np.bincount(index, weights=weights)
    if 2 * len(mass) > len(weights):
        return None
    sums = [np.bincount(index, weights=weights * s) for s in statistics.T]
    return np.stack(sums, axis=1) / mass[:, None], mass


def log_kernel(
    x: Float[np.ndarray, "m d"], y: Float[np.ndarray, "n d"]
) -> Float[np.ndarray, "m n"]:
    """log phi(x_i - y_j), from differences so that nothing cancels."""
    d = x.shape[1]
    squares = np.zeros((len(x), len(y)))
    for k in range(d):
        squares += np.subtract.outer(x[:, k], y[:, k]) ** 2
    return -0.5 * squares - 0.5 * d * np.log(2 * np.pi)


def log_mixture(
    x: Float[np.ndarray, "m d"],
    atoms: Float[np.ndarray, "k d"],
    weights: Float[np.ndarray, "k"],
) -> Float[np.ndarray, "m"]:
    """log f(x) for f = sum_j w_j phi(x - mu_j), in blocks."""
    alive = weights > 0
    log_w = np.log(weights[alive])
    rows = max(1, BLOCK // max(1, int(alive.sum())))
    return np.concatenate(
        [
            _log_sum(log_kernel(x[s : s + rows], atoms[alive]) + log_w)
            for s in range(0, len(x), rows)
        ]
    )


def loss(
    sample: AbstractSample,
    atoms: Float[np.ndarray, "k d"],
    weights: Float[np.ndarray, "k"],
) -> float:
    """l(rho) = -sum_i p_i log f_i."""
    return float(-sample.weights @ sample.log_mixture(atoms, weights))


def log_certificate(
    x: Float[np.ndarray, "m d"], sample: AbstractSample, log_f: Float[np.ndarray, "n"]
) -> Float[np.ndarray, "m"]:
    """log D(x) given log f_i, in blocks."""
    log_ratio = np.log(sample.weights) - log_f
    rows = max(1, BLOCK // len(log_f))
    return np.concatenate(
        [
            _log_sum(sample.log_kernel(x[s : s + rows]) + log_ratio)
            for s in range(0, len(x), rows)
        ]
    )


def _log_sum(logs: Float[np.ndarray, "m n"]) -> Float[np.ndarray, "m"]:
    """log of the row sums of exp(logs); works in place on `logs`."""
    top = np.maximum(logs.max(axis=1), -1e300)  # a row of zeros has the log -inf
    logs -= top[:, None]
    with np.errstate(divide="ignore"):
        return top + np.log(np.exp(logs, out=logs).sum(axis=1))
