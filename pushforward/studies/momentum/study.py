"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses

from pushforward.studies import AbstractParameters, statements

TITLE = "Attention with momentum"
PAPER = "zimin2026yuriiformer"

within, at_least, at_most, open_claim, paper = statements("momentum", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the statements.

    - `layers`: after which the radius of a layer is measured.
    """

    seed: int = 0
    layers: int = 60

    @classmethod
    def full(cls) -> "Parameters":
        """Deeper."""
        return cls(0, 90)
