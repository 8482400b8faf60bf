"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses

TITLE = "Homogenized Transformers"
PAPER = "koubbi2026homogenized"


@dataclasses.dataclass(frozen=True)
class Parameters:
    """Sizes; everything else is fixed by the notes.

    - `replicas`: independent runs of a small model (d = 8).
    - `wide`: independent runs of a wide one (d = 32 to 256).
    - `draws`: random matrices for expectations at fixed overlaps.
    """

    seed: int
    replicas: int
    wide: int
    draws: int

    @classmethod
    def quick(cls) -> "Parameters":
        """Seconds per claim on two cores."""
        return cls(seed=0, replicas=2000, wide=300, draws=4000)

    @classmethod
    def full(cls) -> "Parameters":
        """The sizes of the notes: minutes."""
        return cls(seed=0, replicas=20_000, wide=3000, draws=40_000)
