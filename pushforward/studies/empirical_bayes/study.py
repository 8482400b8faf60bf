"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses

from pushforward.studies import AbstractParameters, statements

TITLE = "Attention as in-context empirical Bayes, beside the NPMLE"
PAPER = "smart2026empirical"
A = 2.0  # theta = +A or -A with equal chance, noise of variance one

within, at_least, at_most, open_claim, paper = statements("empirical_bayes", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the statements.

    - `tokens`, `draws`: of the contexts on which denoisers are compared.
    """

    seed: int = 0
    tokens: int = 500
    draws: int = 12

    @classmethod
    def full(cls) -> "Parameters":
        """The number of the notes."""
        return cls(0, 500, 24)
