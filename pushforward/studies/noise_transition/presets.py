"""Figures of the study as states of the explorer: one noise, two ends."""

import math

from pushforward import theory
from pushforward.studies import Preset
from pushforward.studies.noise_transition.study import BETA, D, Parameters

RATIO = 0.88  # of the threshold: inside the window, above the jump
ENDS = {
    "spread": ("Spread tokens stay spread", "uniform", "nothing gathers"),
    "gathered": ("Gathered tokens stay gathered", "gaussian", "r stays near {:.2f}"),
}


def states(p: Parameters) -> tuple[Preset, ...]:
    """The same noise from two starts."""
    kappa = RATIO * theory.stability.noise_threshold(BETA, D)
    # The explorer's USA runs slower by e^beta, and so does its noise.
    sigma = math.sqrt(2 / kappa * math.exp(-BETA))
    order = theory.transition.ordered_state(BETA, D, kappa).r
    common = {
        "model": "usa",
        "d": D,
        "n": 400,
        "beta": BETA,
        "seed": p.seed,
        "noise": round(sigma, 6),
        "solver": "heun",
        "h": 0.25,
        "t1": 200.0,
    }
    return tuple(
        Preset(
            f"window-{name}",
            f"{title}: κ = {RATIO:g} of the threshold",
            f"Below the threshold, above the jump: {words.format(order)}.",
            {**common, "init": init},
        )
        for name, (title, init, words) in ENDS.items()
    )
