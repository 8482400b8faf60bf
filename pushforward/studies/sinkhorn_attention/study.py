"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses

from pushforward.studies import AbstractParameters, statements

TITLE = "Sinkhorn attention: a gradient flow, and half of the heat"
PAPER = "sander2022sinkformers"
BETA = 4.0

within, at_least, at_most, open_claim, paper = statements("sinkhorn_attention", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the statements.

    - `betas`: inverse temperatures at which the heat limit is approached.
    - `nodes`: equispaced weighted tokens that stand for a density on the circle.
    """

    seed: int = 0
    betas: tuple[float, ...] = (12.0, 50.0, 200.0, 800.0)
    nodes: int = 256

    @classmethod
    def full(cls) -> "Parameters":
        """Nearer to the limit."""
        return cls(0, (12.0, 50.0, 200.0, 800.0, 2000.0), 512)
