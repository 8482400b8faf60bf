"""The study in the explorer: tokens inside a polygon go to its vertices."""

import numpy as np

import pushforward as pf
from pushforward.studies import Preset, shown
from pushforward.studies.frank_wolfe import runs
from pushforward.studies.frank_wolfe.study import Parameters


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """The polygon of the figure, twice as deep."""
    tokens = np.round(runs.inside(p), 4)[:60]
    return {"polygon": runs.layers(tokens, 0.2, 40)}


def states(p: Parameters) -> tuple[Preset, ...]:
    """The five vertices and the tokens between them."""
    return (
        Preset(
            "polygon",
            "Hardmax layers are steps of Frank and Wolfe",
            "Every layer takes a token a fifth of the way to the vertex that it likes "
            "best. The five vertices rest; 60 tokens between them each end at one.",
            shown(experiments(p)["polygon"]),
        ),
    )
