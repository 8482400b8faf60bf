"""The film: tokens while the noise falls and rises again."""

import os
import pathlib

from pushforward import plot
from pushforward.studies.noise_transition.figures import compute_loop, draw_loop
from pushforward.studies.noise_transition.study import Parameters


def film(path: str | os.PathLike, p: Parameters) -> pathlib.Path:
    """Write the film of the loop, three frames at every value of the noise."""
    data = compute_loop(p)
    frames = range(len(data["points"]))
    return plot.film((draw_loop(data, k) for k in frames), path, fps=10)
