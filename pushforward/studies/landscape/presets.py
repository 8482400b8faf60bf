"""Figures of the study as states of the explorer: attention alone on the circle."""

from pushforward.studies import Preset
from pushforward.studies.landscape.study import Parameters


def states(p: Parameters) -> tuple[Preset, ...]:
    """Up and down the energy at beta = 1; with a perceptron there is no such model."""
    base = {"model": "usa", "d": 2, "n": p.tokens, "beta": 1.0, "seed": p.seed}
    return (
        Preset(
            "ascent",
            "Trajectories: ascent, attention alone, β = 1",
            "Uphill all tokens meet in one point, the maximizer.",
            {**base, "t1": 100.0, "clock": "log"},
        ),
        Preset(
            "descent",
            "Trajectories: descent, attention alone, β = 1",
            "Downhill the mean goes to zero: the uniform measure is the minimizer. "
            "Short waves are hardly felt at β = 1, so tokens stay uneven.",
            {**base, "t1": 300.0, "clock": "log", "V": "minus"},
        ),
    )
