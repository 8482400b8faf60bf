"""Gaussian observations, each with a covariance of its own.

    L_i(x) = e^{-(x - X_i)^T Lambda_i (x - X_i) / 2},    Lambda_i = U_i^T U_i <= I .

A coordinate that was not observed has a row and a column of zeros in Lambda_i.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from pushforward.statistics.mixtures._concavity import bounded_radius
from pushforward.statistics.mixtures._likelihood import AbstractSample


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
    def _entries(self) -> list[list[tuple[int, np.ndarray]]]:
        """Of each row of U, the columns that are not zero for all data."""
        d = self.points.shape[1]
        return [
            [(k, self.roots[:, j, k]) for k in range(d) if self.roots[:, j, k].any()]
            for j in range(d)
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
        pulled = np.einsum("nde,ne->nd", self.precisions, self.points)
        rows, cols = self._upper
        return np.concatenate([pulled, self.precisions[:, rows, cols]], axis=1)

    @property
    def _upper(self) -> tuple[np.ndarray, np.ndarray]:
        d = self.points.shape[1]
        both = (np.arange(d), np.arange(d))
        return both if self.diagonal else np.triu_indices(d)

    def log_kernel(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m n"]:
        """-|U_i (x_j - X_i)|^2 / 2, from differences so that nothing cancels."""
        far = [np.subtract.outer(x[:, k], self.points[:, k]) for k in range(x.shape[1])]
        squares = np.zeros((len(x), len(self.points)))
        for row in self._entries:
            if row:
                squares += sum(far[k] * u for k, u in row) ** 2
        return -0.5 * squares

    def scores(self, x: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "n m d"]:
        """Lambda_i (X_i - x_j)."""
        far = self.points[:, None, :] - x[None]
        if self.diagonal:
            return far * np.diagonal(self.precisions, axis1=1, axis2=2)[:, None, :]
        return np.einsum("nde,nme->nmd", self.precisions, far)

    def information(
        self, shares: Float[np.ndarray, "n m"], x: Float[np.ndarray, "m d"]
    ) -> Float[np.ndarray, "m d d"]:
        """sum_i shares_ij Lambda_i."""
        d = x.shape[1]
        flat = self.precisions.reshape(len(self.points), -1)
        return (shares.T @ flat).reshape(-1, d, d)

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
        far = np.subtract.outer(axis, self.points[rows, k])
        return np.exp(-0.5 * (far * self.roots[rows, k, k]) ** 2)

    def concave(
        self, log_ratio: Float[np.ndarray, "n"], modes: Float[np.ndarray, "m d"]
    ) -> Float[np.ndarray, "m"]:
        """By a bound of the Hessian of D."""
        logs, scores = self.log_kernel(modes) + log_ratio, self.scores(modes)
        return np.array(
            [
                bounded_radius(logs[j], scores[:, j], self.precisions, 0.0)
                for j in range(len(modes))
            ]
        )
