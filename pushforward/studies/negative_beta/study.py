"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses

from pushforward.studies import AbstractParameters, statements

TITLE = "Synchronization on the circle: how negative beta may be"
PAPER = "polyanskiy2025synchronization"

within, at_least, at_most, open_claim, paper = statements("negative_beta", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the statements.

    - `starts`: random starts of five tokens at beta = -0.16.
    """

    seed: int = 0
    starts: int = 12

    @classmethod
    def full(cls) -> "Parameters":
        """More starts."""
        return cls(0, 400)
