"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses

from pushforward.studies import AbstractParameters, statements

TITLE = "Modes of a Gaussian kernel density estimate"
PAPER = "geshkovski2024modes"
NO_RUNS = "No runs: points are drawn and counted; nothing moves."

within, at_least, at_most, open_claim, paper = statements("density_modes", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the statements.

    - `draws`: of 100 points; larger samples are drawn less often.
    """

    seed: int = 0
    draws: int = 400

    @classmethod
    def full(cls) -> "Parameters":
        """Ten times as many."""
        return cls(0, 4000)
