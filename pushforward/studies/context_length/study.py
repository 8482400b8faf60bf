"""What the study is called, which papers it follows, and its two sizes."""

import dataclasses

from pushforward.studies import AbstractParameters, place, statements

TITLE = "Context length: how beta must grow for attention to choose"
PAPER = "chen2025longcontext"
NO_RUNS = "No runs: one layer at a time, which is a value of a field and not a flow."
KEYS = place("bruno2026scaling", "scaling limits")

within, at_least, at_most, open_claim, paper = statements("context_length", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the statements.

    - `keys`, `draws`: of the Monte Carlo of random keys.
    """

    seed: int = 0
    keys: int = 10_000
    draws: int = 600

    @classmethod
    def full(cls) -> "Parameters":
        """The sizes of the notes."""
        return cls(0, 20_000, 3000)
