"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses
import functools

from pushforward import studies
from pushforward.studies import AbstractParameters, statements

TITLE = "Perceptrons and localization of attention's mean-field landscape"
PAPER = "alvarezlopez2026perceptrons"

within, at_least, at_most, open_claim, paper = statements("landscape", PAPER)
refuted = functools.partial(studies.refuted, "landscape")


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the paper and its code.

    - `tokens`: particles on the circle with the published weights (code: 1000).
    - `draws`: random configurations in which inequalities are tested.
    - `omegas`: minimizers along the diagram of atoms against omega.
    - `crowd`: particles of each cell of the (d, beta) maps and of each run on S^2.
    - `seeds`: perceptrons over which a cell of a map is averaged.
    """

    seed: int = 42
    tokens: int = 200
    draws: int = 4
    omegas: int = 16
    crowd: int = 48
    seeds: int = 2

    @classmethod
    def full(cls) -> "Parameters":
        """The sizes of the published code where it states them."""
        return cls(seed=42, tokens=1000, draws=40, omegas=80, crowd=256, seeds=8)
