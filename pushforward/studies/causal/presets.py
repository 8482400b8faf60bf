"""Figures of the study as states of the explorer."""

import numpy as np

from pushforward.studies import Preset
from pushforward.studies.causal.runs import BETA, PANELS, N
from pushforward.studies.causal.study import Parameters

WORDS = {
    "identity": "V = I: in the limit every token is where token 1 began; the last "
    "group to come is still on its way when this run ends.",
    "double top": "A double largest eigenvalue: in the limit all tokens are at one "
    "point; two groups still wait for each other when this run ends.",
    "simple top": "A simple largest eigenvalue: two antipodal points.",
    "double, negative": "A double negative one: a cloud around the plane.",
    "simple, negative": "A simple negative one: two clouds.",
    "all negative": "V = -I: tokens keep apart from those before them.",
}


def states(p: Parameters) -> tuple[Preset, ...]:
    """The six panels of the atlas, the parking circle, and the square-root law."""
    return (*(_panel(p, name) for name in PANELS), *_circles(p))


def _panel(p: Parameters, name: str) -> Preset:
    values = np.diag(PANELS[name]).tolist()
    state = {
        "model": "causal",
        "n": N,
        "beta": BETA,
        "seed": p.seed,
        "t1": p.atlas_time,
        "clock": "log",
        "V": None if name == "identity" else values,
    }
    title = f"Figure 1: causal, {name}"
    return Preset(
        f"atlas-{name.replace(', ', '-').replace(' ', '-')}", title, WORDS[name], state
    )


def _circles(p: Parameters) -> tuple[Preset, ...]:
    circle = {"model": "causal", "n": p.n, "d": 2, "seed": p.seed, "t1": 20.0}
    return (
        Preset(
            "parking",
            "Figure 2: parking on the circle, β = 64",
            "Tokens gather around early tokens that stand alone: Rényi's cars.",
            {**circle, "beta": p.betas[1], "t1": 50.0},
        ),
        Preset(
            "absorption",
            "Figure 3: absorbed by centers, β = 64",
            "At t = 20 nine tokens of ten are near a Rényi center.",
            {**circle, "beta": p.betas[1]},
        ),
        Preset(
            "square-root-law",
            "Square-root law: β = 256",
            "The number of clusters at t = 20 grows like √β.",
            {**circle, "beta": p.betas[2]},
        ),
    )
