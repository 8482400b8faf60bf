"""The study in the explorer: observations denoise each other on the line."""

import numpy as np

import pushforward as pf
from pushforward.studies import Preset, shown
from pushforward.studies.empirical_bayes import runs
from pushforward.studies.empirical_bayes.study import Parameters


def experiments() -> dict[str, pf.Experiment]:
    """60 quantiles of two points with noise, refined for long."""
    y = np.round(runs.quantiles(60), 3)
    return {"two-points": runs.refinement(y, 4.0, 2.0).vary(save=121, solver=None)}


def states(p: Parameters) -> tuple[Preset, ...]:
    """The context refines itself."""
    return (
        Preset(
            "two-points",
            "A context that refines itself",
            "60 quantiles of +2 or -2 with unit noise: each goes to its posterior mean "
            "under the others as a prior, and the two points come out.",
            shown(experiments()["two-points"]),
        ),
    )
