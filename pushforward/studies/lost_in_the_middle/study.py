"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses

from pushforward.studies import AbstractParameters, statements

TITLE = "Kinetic theory for Transformers and the lost-in-the-middle phenomenon"
PAPER = "duerinckx2026kinetic"

within, at_least, at_most, open_claim, paper = statements("lost_in_the_middle", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the paper.

    - `tokens`, `prompts`: length and number of the random prompts of the Monte Carlo.
    - `crowd`: tokens of the mean-field comparison.
    """

    seed: int = 0
    tokens: int = 128
    prompts: int = 1024
    crowd: int = 4000

    @classmethod
    def full(cls) -> "Parameters":
        """More of everything: minutes."""
        return cls(seed=0, tokens=256, prompts=5120, crowd=40_000)
