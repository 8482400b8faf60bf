"""A run beside the study, which moves nothing: tokens climb their own estimate."""

import pushforward as pf
from pushforward.studies import Preset, shown
from pushforward.studies.density_modes.study import Parameters

BETA = 20.0


def experiments() -> dict[str, pf.Experiment]:
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
            shown(experiments()["mean-shift"]),
        ),
    )
