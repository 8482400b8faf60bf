"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses
import functools

from pushforward import studies
from pushforward.studies import AbstractParameters, statements

TITLE = "Homogenized Transformers"
PAPER = "koubbi2026homogenized"

within, at_least, at_most, open_claim, paper = statements("homogenized", PAPER)
rate = functools.partial(studies.rate, "homogenized")
refuted = functools.partial(studies.refuted, "homogenized")


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed.

    - `replicas`: independent runs of a small model (d = 8).
    - `wide`: independent runs of a wide one (d = 32 to 256).
    - `draws`: random matrices for expectations at fixed overlaps.
    """

    seed: int = 0
    replicas: int = 2000
    wide: int = 300
    draws: int = 4000

    @classmethod
    def full(cls) -> "Parameters":
        """Ten times as many of everything: minutes."""
        return cls(seed=0, replicas=20_000, wide=3000, draws=40_000)
