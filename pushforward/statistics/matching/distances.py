"""Which features may be matched, and how far apart those of one table are."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pushforward._checks import above_zero
from pushforward.errors import InputError
from pushforward.statistics.tables.tables import FeatureTable
from pushforward.transport import Pairs


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
                "by mass and time alone (--no-transport, `transport=None`)."
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


@dataclass(frozen=True)
class MassGate:
    """|m/z_A - m/z_B| <= gap, in m/z units (not ppm)."""

    gap: float = 0.01

    def __post_init__(self) -> None:
        _check("gap", self.gap, "0.01")

    def widths(self, mz: Float[np.ndarray, "p"]) -> Float[np.ndarray, "p"]:
        """Half-width of the gate around each mass."""
        return np.full_like(mz, self.gap)


@dataclass(frozen=True)
class PpmGate:
    """|m/z_A - m/z_B| <= ppm 1e-6 m/z_A."""

    ppm: float = 15.0

    def __post_init__(self) -> None:
        _check("ppm", self.ppm, "15")

    def widths(self, mz: Float[np.ndarray, "p"]) -> Float[np.ndarray, "p"]:
        """Half-width of the gate around each mass."""
        return mz * (self.ppm * 1e-6)


Gate = MassGate | PpmGate


def admissible_pairs(
    mz_a: Float[np.ndarray, "p"], mz_b: Float[np.ndarray, "q"], gate: Gate
) -> Pairs:
    """Pairs inside the gate, found by binary search on sorted masses."""
    order = np.argsort(mz_b, kind="stable")
    sorted_b = mz_b[order]
    width = gate.widths(mz_a)
    slack = width * (1.0 + 1e-9)  # search a hair wider, then test exactly
    first = np.searchsorted(sorted_b, mz_a - slack, side="left")
    last = np.searchsorted(sorted_b, mz_a + slack, side="right")
    counts = last - first
    rows = np.repeat(np.arange(len(mz_a)), counts)
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    cols = order[np.repeat(first, counts) + offsets]
    inside = np.abs(mz_a[rows] - mz_b[cols]) <= width[rows]
    rows, cols = rows[inside], cols[inside]
    by_row = np.lexsort((cols, rows))
    return Pairs(rows[by_row], cols[by_row], (len(mz_a), len(mz_b)))


def _check(name: str, value: float, example: str) -> None:
    above_zero(name, value, f"Try {example}.")
