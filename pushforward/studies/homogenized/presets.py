"""Figures of the study as states of the explorer: a chain of equal layers."""

from pushforward.studies import Preset
from pushforward.studies.homogenized.runs import ETAS, FIELD, start
from pushforward.studies.homogenized.study import Parameters


def states(p: Parameters) -> tuple[Preset, ...]:
    """Four tokens in coarse layers, and along the equation that layers approach."""
    moved = [[i, x] for i, x in enumerate(start().points.tolist())]
    four = {"n": 4, "d": 3, "beta": float(FIELD.beta), "t1": 1.0, "moved": moved}
    h = max(ETAS)
    return (
        Preset(
            "layers",
            f"Four tokens in layers of step {h}",
            "Layers lag behind their equation, by a first-order term that is known.",
            {**four, "model": "layer", "solver": "layers", "h": h, "frames": 6},
        ),
        Preset(
            "equation",
            "The same four tokens along the equation",
            "Compare the mean cosine at t = 1 with that of the layers.",
            {**four, "frames": 101},
        ),
    )
