"""Intensities that a table does not have."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float


@dataclass(frozen=True)
class HalfMinimum:
    """What is missing was below detection: half the feature's least positive value.

    A feature that no sample has is left out.
    """

    def filled(
        self, values: Float[np.ndarray, "p n"]
    ) -> tuple[Float[np.ndarray, "p n"], Bool[np.ndarray, "p"], str]:
        """Values without gaps, the features that have any, and what was done."""
        lost = np.isnan(values)
        least = np.where(values > 0, values, np.inf).min(axis=1, initial=np.inf)
        some = np.isfinite(least)
        filled = np.where(lost, least[:, None] / 2, values)
        word = f"{int(lost[some].sum())} missing intensities are half their minimum"
        gone = f", {int((~some).sum())} features without any left out"
        return filled, some, word + (gone if not some.all() else "")
