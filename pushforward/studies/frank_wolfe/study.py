"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses

from pushforward.studies import AbstractParameters, statements

TITLE = "Attention's forward pass and Frank-Wolfe"
PAPER = "alcalde2025frankwolfe"

within, at_least, at_most, open_claim, paper = statements("frank_wolfe", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the statements.

    - `tokens`: inside the polygon of the figure.
    - `chains`: pairs of the Markov chain.
    """

    seed: int = 0
    tokens: int = 60
    chains: int = 20_000

    @classmethod
    def full(cls) -> "Parameters":
        """More of both."""
        return cls(0, 200, 400_000)
