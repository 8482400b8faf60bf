"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses
import functools

from pushforward import studies
from pushforward.studies import AbstractParameters, statements

TITLE = "Measure-to-measure interpolation using Transformers"
PAPER = "geshkovski2024measure"
NO_RUNS = "No runs: steering builds its fields piece by piece and replays them."

within, at_least, at_most, open_claim, paper = statements("interpolation", PAPER)
refuted = functools.partial(studies.refuted, "interpolation")


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; the construction is the same in both presets.

    - `points`: per input.
    - `draws`: random instances in which a statement is tested.
    - `inputs`: the numbers of inputs N at which switches are counted.
    - `atoms`: of the simple maps that approximate a transport map.
    - `steps`: of Adam, the same for refining and for the learned baseline.
    """

    seed: int = 0
    points: int = 40
    draws: int = 6
    inputs: tuple[int, ...] = (2, 4, 8)
    atoms: tuple[int, ...] = (1, 2, 4)
    steps: int = 60

    @classmethod
    def full(cls) -> "Parameters":
        """More points, more inputs, more atoms."""
        return cls(0, 300, 40, (2, 3, 4, 5, 6, 7, 8, 10), (1, 2, 4, 8), 400)
