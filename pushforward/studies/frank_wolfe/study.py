"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses

from pushforward.studies import statements

TITLE = "Attention's forward pass and Frank-Wolfe"
PAPER = "alcalde2025frankwolfe"

within, at_least, at_most, open_claim, paper = statements("frank_wolfe", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters:
    """Sizes; everything else is fixed by the statements.

    - `tokens`: inside the polygon of the figure.
    - `chains`: pairs of the Markov chain.
    """

    seed: int
    tokens: int
    chains: int

    @classmethod
    def quick(cls) -> "Parameters":
        """Seconds per claim on two cores."""
        return cls(0, 60, 20_000)

    @classmethod
    def full(cls) -> "Parameters":
        """More of both."""
        return cls(0, 200, 400_000)
