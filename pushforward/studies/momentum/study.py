"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses

from pushforward.studies import statements

TITLE = "Attention with momentum"
PAPER = "zimin2026yuriiformer"

within, at_least, at_most, open_claim, paper = statements("momentum", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters:
    """Sizes; everything else is fixed by the statements.

    - `layers`: after which the radius of a layer is measured.
    """

    seed: int
    layers: int

    @classmethod
    def quick(cls) -> "Parameters":
        """Seconds per claim on two cores."""
        return cls(0, 60)

    @classmethod
    def full(cls) -> "Parameters":
        """Deeper."""
        return cls(0, 90)
