"""Figures of the study as states of the explorer: five tokens on both sides."""

import numpy as np

from pushforward.studies import Preset
from pushforward.studies.negative_beta import runs
from pushforward.studies.negative_beta.study import Parameters

WORDS = {
    -1.46: ("below", "Three clusters of 1, 2 and 2 tokens balance."),
    -1.42: ("above", "The same start synchronizes."),
}


def states(p: Parameters) -> tuple[Preset, ...]:
    """The same start, two values of beta."""
    theta = runs.angles(5)
    points = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    common = {
        "model": "usa",
        "d": 2,
        "n": 5,
        "init": "equispaced",
        "moved": [[i, x] for i, x in enumerate(points.tolist())],
        "clock": "log",
        "t1": 1e4,
    }
    return tuple(
        Preset(
            f"five-{side}",
            f"Five tokens at β = {beta:g}",
            claim,
            {**common, "beta": beta},
        )
        for beta, (side, claim) in WORDS.items()
    )
