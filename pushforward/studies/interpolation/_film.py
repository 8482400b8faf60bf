"""The film: all inputs of one schedule on one sphere, phase after phase."""

import functools
import os
import pathlib

import numpy as np
from matplotlib.colors import to_rgb

import pushforward as pf
from pushforward import plot
from pushforward.plot.style import PALETTE
from pushforward.studies.interpolation._runs import SPACE, clouds, to_atoms
from pushforward.studies.interpolation.study import Parameters

FRAMES = 14  # in every piece


@functools.cache
def frames(seed: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, points (t, 2n, 3) of both inputs, and the input of each point.

    Within a piece frames follow the distance travelled, not the clock: a gate does
    most of its work early.
    """
    steered = to_atoms(seed, n)
    ends = np.asarray(steered.field.times)
    shares = np.linspace(0, 1, FRAMES) ** 2
    times = np.unique(
        np.concatenate(
            [a + (b - a) * shares for a, b in zip(ends, ends[1:], strict=False)]
        )
    )
    runs = [steered.replay(mu, save=times) for mu in clouds(seed, n)[:2]]
    points = np.concatenate([np.asarray(run.points) for run in runs], axis=1)
    return times, points, np.repeat([0, 1], n)


def colors(owner: np.ndarray) -> np.ndarray:
    """One color per input."""
    return np.array([to_rgb(PALETTE[k]) for k in owner])


def film(
    path: str | os.PathLike, p: Parameters, frames_in_all: int = 240
) -> pathlib.Path:
    """Write the film of the construction: two inputs, two atoms each.

    The film plays saved frames at an even pace, so that every piece gets its share.
    """
    _, points, owner = frames(p.seed, p.points)
    run: pf.Trajectory = pf.Trajectory.recorded(SPACE, points)
    return plot.movie(run, path, frames=frames_in_all, color=colors(owner), turn=90.0)
