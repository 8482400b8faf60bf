"""Figures of the study as states of the explorer."""

import numpy as np

from pushforward.studies import Preset
from pushforward.studies.metastability.runs import ANGLES, KINETIC
from pushforward.studies.metastability.study import Parameters


def states(p: Parameters) -> tuple[Preset, ...]:
    """Staircase, saddles, rainbow, escape, kinetic data."""
    long = {"merge": True, "clock": "log", "d": 2, "seed": p.seed}
    return (*_climbs(long), *_others(p, long))


def _climbs(long: dict) -> tuple[Preset, ...]:
    steps = {**long, "model": "usa", **_at(ANGLES), "frames": 401}
    return (
        Preset(
            "staircase",
            "Staircase, β = 500",
            "The energy climbs in steps, one per merger, at times e^{cβ}.",
            {**steps, "beta": 500.0, "t1": 1e20},
        ),
        Preset(
            "saddle-to-saddle",
            "From saddle to saddle, β = 2000",
            "Five tokens pass near states of 4, 3 and 2 clusters, each for ages.",
            {**steps, "beta": 2000.0, "t1": 1e70},
        ),
    )


def _others(p: Parameters, long: dict) -> tuple[Preset, ...]:
    return (
        Preset(
            "rainbow",
            f"Rainbow, {p.crowd} tokens, β = 100",
            "Clusters merge over eighty decades of time until one is left.",
            {**long, "n": p.crowd, "beta": 100.0, "t1": 1e88, "frames": 301},
        ),
        Preset(
            "escape",
            "Escape of two clusters, β = 40",
            "Two clusters at a right angle meet at t = 2.9e15.",
            {**long, **_at(np.array([0.0, np.pi / 2])), "beta": 40.0, "t1": 1e17},
        ),
        Preset(
            "kinetic",
            "The five tokens of the published script, β = 4",
            "Mergers at t = 1.3, 2.5, 5.2 and 328.",
            {
                "d": 2,
                "n": 5,
                "init": "equispaced",
                "moved": [[i, x] for i, x in enumerate(KINETIC.tolist())],
                "beta": 4.0,
                "t1": 400.0,
                "clock": "log",
            },
        ),
    )


def _at(angles: np.ndarray) -> dict:
    """Tokens at these angles of the circle."""
    points = np.round(np.stack([np.cos(angles), np.sin(angles)], axis=1), 15).tolist()
    moved = [[i, x] for i, x in enumerate(points)]
    return {"n": len(angles), "init": "equispaced", "moved": moved}
