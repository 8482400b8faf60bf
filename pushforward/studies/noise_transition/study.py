"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses

from pushforward.studies import AbstractParameters, statements

TITLE = "Noise against attention: the order of the transition"
PAPER = "mun2026phase"
THEOREM = "phase transitions in arbitrary dimension"
D, BETA = 3, 4.0  # of the phase diagram and of the loop: the window is 21 % wide

within, at_least, at_most, open_claim, paper = statements("noise_transition", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the statements.

    - `tokens`, `dwell`: of the loop, and the time spent at each value of the noise.
    - `betas`, `ratios`: the grid of the phase diagram, kappa over its threshold.
    - `grid`: betas and dimensions on which the conjecture is tested.
    """

    seed: int = 0
    tokens: int = 300
    dwell: float = 12.0
    betas: tuple[float, ...] = (1.0, 2.5, 3.5, 4.5)
    ratios: tuple[float, ...] = (0.65, 0.8, 0.9, 0.98, 1.1)
    grid: tuple[tuple[float, ...], tuple[int, ...]] = (
        (0.5, 1.0, 2.5, 4.0, 9.0, 20.0),
        (2, 3, 4, 8, 16, 64),
    )

    @classmethod
    def full(cls) -> "Parameters":
        """More tokens, and finer grids."""
        betas = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0, 20.0, 40.0)
        grid = betas, (2, 3, 4, 5, 6, 8, 12, 16, 32, 64, 128, 256)
        ratios = (0.65, 0.75, 0.8, 0.85, 0.9, 0.94, 0.98, 1.03, 1.1)
        return cls(
            0, 1000, 30.0, (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5), ratios, grid
        )
