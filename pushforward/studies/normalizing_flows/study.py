"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses

from pushforward.studies import AbstractParameters, statements

TITLE = "Constructive conditional normalizing flows"
PAPER = "geshkovski2026conditional"
NO_RUNS = "No runs: the flows are trained or built, and applied as maps."

within, at_least, at_most, open_claim, paper = statements("normalizing_flows", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the constructions.

    - `points`: where errors of maps are measured.
    - `grids`: cells per side of the volume-preserving swirl.
    - `cases`: (m, refinement) of the general diffeomorphism.
    - `repetitions`: random choices of neurons per number of switches.
    """

    seed: int = 0
    points: int = 20_000
    grids: tuple[int, ...] = (4, 8, 16, 32)
    cases: tuple[tuple[int, int], ...] = ((6, 4), (8, 4), (12, 4))
    repetitions: int = 12

    @classmethod
    def full(cls) -> "Parameters":
        """Finer grids, more points."""
        cases = ((6, 4), (8, 4), (12, 4), (8, 8))
        return cls(0, 200_000, (4, 8, 16, 32, 64), cases, 48)
