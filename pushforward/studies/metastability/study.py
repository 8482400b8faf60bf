"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses
import functools

from pushforward import studies
from pushforward.studies import AbstractParameters, statements

TITLE = "Dynamic metastability in the self-attention model"
PAPER = "geshkovski2024metastability"

within, at_least, at_most, open_claim, paper = statements("metastability", PAPER)
refuted = functools.partial(studies.refuted, "metastability")


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the paper.

    - `crowd`: tokens of the rainbow at beta = 100, to one cluster.
    - `draws`: random configurations in which inequalities are tested.
    - `generic`: tokens of the staircase from generic data.
    """

    seed: int = 0
    crowd: int = 200
    draws: int = 200
    generic: int = 16

    @classmethod
    def full(cls) -> "Parameters":
        """Larger crowds."""
        return cls(seed=0, crowd=1024, draws=5000, generic=32)
