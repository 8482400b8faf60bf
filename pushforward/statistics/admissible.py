"""Which features may be matched: pairs whose masses agree."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pushforward._checks import above_zero
from pushforward.transport import Pairs


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
