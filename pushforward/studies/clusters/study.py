"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses
import functools

from pushforward.studies import AbstractParameters, place, statements

TITLE = "The emergence of clusters in self-attention dynamics"
PAPER = "geshkovski2023clusters"
FRANK_WOLFE = "alcalde2025frankwolfe"

within, at_least, at_most, open_claim, paper = statements("clusters", PAPER)
frank_wolfe = functools.partial(place, FRANK_WOLFE)  # the paper on hardmax attention


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes of the ensembles; everything else is fixed by the paper.

    - `replicas`: independent starts per statement.
    - `tokens`: tokens of a figure, and of a start of a claim.
    - `frames`: saved times of a trajectory that is drawn.
    - `grid`: cells are painted on a grid of `grid` x `grid` points.
    - `width`: dimension of the low-rank figure.
    """

    seed: int = 0
    replicas: int = 12
    tokens: int = 40
    frames: int = 81
    grid: int = 400
    width: int = 80

    @classmethod
    def full(cls) -> "Parameters":
        """More starts, finer pictures; tokens and dimensions are those of the paper."""
        return cls(seed=0, replicas=200, tokens=40, frames=241, grid=1000, width=80)
