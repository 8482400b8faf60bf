"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses

from pushforward.studies import AbstractParameters, statements

TITLE = "Clustering in causal attention masking"
PAPER = "karagodin2024causal"

within, at_least, at_most, open_claim, paper = statements("causal", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes of the ensembles; everything else is fixed by the paper.

    - `runs`: sequences per temperature, followed to t = 50.
    - `curve_runs`: sequences behind the absorption curves.
    - `draws`: random sequences in which centers are counted.
    - `atlas_time`: how long the panels of the atlas run, 5000 in the paper.
    """

    seed: int = 0
    n: int = 200
    betas: tuple[float, ...] = (16.0, 64.0, 256.0)
    runs: int = 8
    curve_runs: int = 40
    draws: int = 300
    atlas_time: float = 5000.0

    @classmethod
    def full(cls) -> "Parameters":
        """The size of the paper: 5,000 runs."""
        return cls(
            seed=0,
            n=200,
            betas=(16.0, 64.0, 256.0),
            runs=200,
            curve_runs=5000,
            draws=5000,
            atlas_time=5000.0,
        )
