"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses
import functools

from pushforward import studies
from pushforward.studies import AbstractParameters, statements

TITLE = "Normalization in attention dynamics: where the norm sits sets the speed"
PAPER = "karagodin2025normalization"
N, BETA = 16, 2.0  # orthogonal tokens of the runs

within, at_least, at_most, open_claim, paper = statements("normalization", PAPER)
refuted = functools.partial(studies.refuted, "normalization")


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the statements.

    - `end`: the time up to which particles are followed.
    - `contexts`: numbers of random tokens whose speed at the start is measured.
    """

    seed: int = 0
    end: float = 100.0
    contexts: tuple[int, ...] = (64, 256, 1024)

    @classmethod
    def full(cls) -> "Parameters":
        """Longer and larger."""
        return cls(0, 1000.0, (64, 256, 1024, 4096, 8192))
