"""Gaussian observations, each with a covariance of its own.

    L_i(x) = e^{-(x - X_i)^T Lambda_i (x - X_i) / 2},    Lambda_i = U_i^T U_i <= I .

A coordinate that was not observed has a row and a column of zeros in Lambda_i.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from pushforward.statistics.mixtures._likelihood import (
    CELL,
    AbstractSample,
    blocks,
    by_cells,
)

ALIKE = 0.35  # of the logarithm of precisions that are nearly the same


@dataclass(frozen=True, eq=False)
class HeteroscedasticSample(AbstractSample):
    """Centered data, their weights, and a root U_i of the precision of each."""

    points: Float[np.ndarray, "n d"]
    roots: Float[np.ndarray, "n d d"]
    weights: Float[np.ndarray, "n"]

    @cached_property
    def precisions(self) -> Float[np.ndarray, "n d d"]:
        """Lambda_i."""
        return np.swapaxes(self.roots, 1, 2) @ self.roots

    @cached_property
    def _columns(self) -> Float[np.ndarray, "d n"]:
        """The data, one coordinate after the other."""
        return np.ascontiguousarray(self.points.T)

    @cached_property
    def _entries(self) -> list[list[tuple[int, np.ndarray]]]:
        """Of each row of U, the columns that are not zero for all data."""
        roots = np.ascontiguousarray(self.roots.transpose(1, 2, 0))
        return [[(k, u) for k, u in enumerate(row) if u.any()] for row in roots]

    @cached_property
    def parts(self) -> list["HeteroscedasticSample"]:
        """Blocks of rows."""
        return [
            HeteroscedasticSample(self.points[b], self.roots[b], self.weights[b])
            for b in blocks(len(self.weights))
        ]

    @cached_property
    def diagonal(self) -> bool:
        """Whether errors of different coordinates are independent, always."""
        return all(k == j for j, row in enumerate(self._entries) for k, _ in row)

    @property
    def places(self) -> Float[np.ndarray, "n d"]:
        """The data."""
        return self.points

    @cached_property
    def statistics(self) -> Float[np.ndarray, "n r"]:
        """Lambda_i X_i, and the entries of Lambda_i on and above the diagonal."""
        rows, cols = self._upper
        return np.concatenate([self._pulled, self.precisions[:, rows, cols]], axis=1)

    @property
    def _pulled(self) -> Float[np.ndarray, "n d"]:
        """Lambda_i X_i."""
        return np.einsum("nde,ne->nd", self.precisions, self.points)

    @property
    def _upper(self) -> tuple[np.ndarray, np.ndarray]:
        d = self.points.shape[1]
        both = (np.arange(d), np.arange(d))
        return both if self.diagonal else np.triu_indices(d)

    def log_kernel(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m n"]:
        """-|U_i (x_j - X_i)|^2 / 2, from differences so that nothing cancels."""
        squares = np.zeros((len(x), len(self.points)))
        for row in self._entries:
            far = np.zeros((1, 1))
            for k, u in row:
                step = np.subtract.outer(x[:, k], self._columns[k])
                step *= u
                far = step if k == row[0][0] else far + step
            squares += far * far
        squares *= -0.5
        return squares

    def scores(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "d m n"]:
        """Lambda_i (X_i - x_j)."""
        far = np.subtract(self._columns[:, None], x.T[:, :, None], order="C")
        if self.diagonal:
            precise = np.diagonal(self.precisions, axis1=1, axis2=2).T
            return np.multiply(far, precise[:, None], out=far)
        return np.einsum("nde,emn->dmn", self.precisions, far)

    def information(
        self, shares: Float[np.ndarray, "m n"], x: Float[np.ndarray, "m d"]
    ) -> Float[np.ndarray, "m d d"]:
        """sum_i shares_ji Lambda_i."""
        d = x.shape[1]
        flat = self.precisions.reshape(len(self.points), -1)
        return (shares @ flat).reshape(-1, d, d)

    def tilted(
        self,
        mean: Float[np.ndarray, "m r"],
        covariance: Float[np.ndarray, "m r r"],
        x: Float[np.ndarray, "m d"],
    ) -> tuple[Float[np.ndarray, "m d"], Float[np.ndarray, "m d d"]]:
        """The slope E[Lambda X] - E[Lambda] x, by the linear map from S to slopes."""
        m, d = x.shape
        rows, cols = self._upper
        J = np.zeros((m, mean.shape[1], d))
        J[:, np.arange(d), np.arange(d)] = 1
        entry = d + np.arange(len(rows))
        J[:, entry, rows] -= x[:, cols]
        off = rows != cols
        J[:, entry[off], cols[off]] -= x[:, rows[off]]
        known = np.zeros((m, d, d))
        known[:, rows, cols] = known[:, cols, rows] = mean[:, d:]
        spread = np.einsum("mrd,mrs,mse->mde", J, covariance, J, optimize=True)
        return np.einsum("mr,mrd->md", mean, J), known - spread

    def box(
        self, log_ratio: Float[np.ndarray, "n"]
    ) -> tuple[Float[np.ndarray, "d"], Float[np.ndarray, "d"]] | None:
        """Maxima are means of the data, weighted by matrices.

        Diagonal ones keep each coordinate within its range. With others, farther than r
        from all data D <= sum_i e^{-lambda_i r^2 / 2} p_i / f_i, lambda_i the least
        eigenvalue of Lambda_i.
        """
        if self.diagonal:
            seen = np.diagonal(self.precisions, axis1=1, axis2=2) > 0
            low = np.where(seen, self.points, np.inf).min(axis=0)
            return low, np.where(seen, self.points, -np.inf).max(axis=0)
        least, r = np.linalg.eigvalsh(self.precisions)[:, 0], 1.0
        if least.min() < 1e-6:
            return None
        while np.logaddexp.reduce(log_ratio - least * r**2 / 2) > 0:
            r *= 1.2
        return self.points.min(axis=0) - r, self.points.max(axis=0) + r

    def factor(
        self, k: int, axis: Float[np.ndarray, "a"], rows: slice = slice(None)
    ) -> Float[np.ndarray, "a m"] | None:
        """The Gaussian of coordinate k, if coordinates are independent."""
        if not self.diagonal:
            return None
        far = np.subtract.outer(axis, self._columns[k, rows])
        far *= self.roots[rows, k, k]
        far *= far
        far *= -0.5
        return np.exp(far, out=far)

    def coarse(self) -> "HeteroscedasticSample | None":
        """Data of one cell, and of nearly the same precisions, as one."""
        d = self.points.shape[1]
        scale = np.sqrt(np.diagonal(self.precisions, axis1=1, axis2=2))
        seen = scale > 0
        level = np.where(seen, np.floor(np.log(np.where(seen, scale, 1.0)) / ALIKE), 1)
        cells = [self.points * np.exp(ALIKE * level) / CELL, level]
        if not self.diagonal:
            off = np.where(seen, scale, 1.0)
            angle = self.precisions / (off[:, :, None] * off[:, None, :])
            cells.append(angle[:, *np.triu_indices(d, 1)] / ALIKE)
        found = by_cells(
            np.concatenate(cells, axis=1),
            np.concatenate([self._pulled, self.precisions.reshape(-1, d * d)], axis=1),
            self.weights,
        )
        if found is None:
            return None
        pulled, precisions, mass = found[0][:, :d], found[0][:, d:], found[1]
        precisions = precisions.reshape(-1, d, d)
        lost = np.diagonal(precisions, axis1=1, axis2=2) == 0
        full = precisions + lost[:, :, None] * np.eye(d)
        points = np.linalg.solve(full, pulled[:, :, None])[:, :, 0]
        roots = np.swapaxes(np.linalg.cholesky(full), 1, 2)
        return HeteroscedasticSample(points, roots * ~lost[:, :, None], mass)
