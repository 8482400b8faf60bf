"""What the study is called, which papers it follows, and its two sizes."""

import dataclasses

from pushforward.studies import AbstractParameters, place, statements

TITLE = "Gaussian tokens: attention on mean and covariance"
PAPER = "castin2025unified"
ASYMPTOTICS = place("alcalde2026gaussian", "asymptotics")

within, at_least, at_most, open_claim, paper = statements("gaussian_tokens", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the statements.

    - `tokens`: independent tokens drawn from the Gaussian.
    """

    seed: int = 0
    tokens: int = 1000

    @classmethod
    def full(cls) -> "Parameters":
        """More tokens."""
        return cls(0, 10_000)
