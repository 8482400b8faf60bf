"""Distances between the features of one table, from their intensities."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError
from pushforward.statistics.tables import FeatureTable


@dataclass(frozen=True)
class CorrelationDistance:
    """sqrt(2 (1 - corr)): intensities centered and scaled first, so units vanish.

    A feature that is constant over the samples is at distance sqrt(2) from all.
    """

    def between(self, table: FeatureTable) -> Float[np.ndarray, "p p"]:
        """The distance matrix of the features."""
        X = table.intensities / np.maximum(np.abs(table.intensities).max(0), 1e-300)
        X = X - X.mean(0)
        norm = np.linalg.norm(X, axis=0)
        varies = norm > 1e-13 * np.sqrt(len(X))  # rounding of a constant is no signal
        X = np.where(varies, X / np.where(varies, norm, 1.0), 0.0)
        D = np.sqrt(np.maximum(2.0 - 2.0 * (X.T @ X), 0.0))
        np.fill_diagonal(D, 0.0)
        return D


@dataclass(frozen=True)
class EuclideanDistance:
    """|u - v| / sqrt(n) between intensity vectors as they are (log them first)."""

    def between(self, table: FeatureTable) -> Float[np.ndarray, "p p"]:
        """The distance matrix of the features."""
        X = table.intensities - table.intensities.mean()
        squares = np.square(X).sum(0)
        D = squares[:, None] + squares[None, :] - 2.0 * (X.T @ X)
        D = np.sqrt(np.maximum(D, 0.0) / len(X))
        np.fill_diagonal(D, 0.0)
        return D


Distance = CorrelationDistance | EuclideanDistance


def joint_distances(
    A: FeatureTable, B: FeatureTable, distance: Distance
) -> tuple[np.ndarray, np.ndarray]:
    """Both distance matrices over the geometric mean of their root-mean-squares."""
    for label, table in (("A", A), ("B", B)):
        if table.n < 3:
            raise InputError(
                f"`{label}` ({table.name}) has {table.n} sample(s), so its features "
                "have no correlations to transport. Give at least 3 samples, or match "
                "by mass and time alone with `transport=None`."
            )
    D_A, D_B = distance.between(A), distance.between(B)
    means = np.array([np.sqrt(np.mean(D * D)) for D in (D_A, D_B)])
    if not np.all(means > 0):
        raise InputError(
            "All features of `A` or of `B` have the same intensities, so distances "
            "between them are zero. Check that sample columns were read."
        )
    scale = np.sqrt(means.prod())
    return D_A / scale, D_B / scale
