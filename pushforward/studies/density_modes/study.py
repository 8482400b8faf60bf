"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses

import pushforward as pf
from pushforward.studies import AbstractParameters, Preset, shown, statements

TITLE = "Modes of a Gaussian kernel density estimate"
PAPER = "geshkovski2024modes"
NO_RUNS = "No runs: points are drawn and counted; nothing moves."

within, at_least, at_most, open_claim, paper = statements("density_modes", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the statements.

    - `draws`: of 100 points; larger samples are drawn less often.
    """

    seed: int = 0
    draws: int = 400

    @classmethod
    def full(cls) -> "Parameters":
        """Ten times as many."""
        return cls(0, 4000)


BETA = 20.0


def in_the_explorer() -> dict[str, pf.Experiment]:
    """Blurring mean shift: 80 normal tokens on the line, a bandwidth of beta^{-1/2}."""
    field = pf.DistanceAttention(BETA) + pf.Linear([[-1.0]])
    start = pf.Normal(80, 1, "euclidean", [0.0], 1.0)
    return {"mean-shift": pf.Experiment(start, field, 10.0, save=201)}


def states(p: Parameters) -> tuple[Preset, ...]:
    """Where the modes are, tokens gather."""
    return (
        Preset(
            "mean-shift",
            "As many groups as modes: mean shift on the line",
            "The study counts modes and moves nothing. Here 80 normal tokens climb the "
            "density estimate that they form, which has 6 modes: 6 groups at t = 10.",
            shown(in_the_explorer()["mean-shift"]),
        ),
    )
