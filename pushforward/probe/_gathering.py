"""Which tokens stand together, and for how many layers they do."""

import dataclasses

import numpy as np

from pushforward.flows import Trajectory
from pushforward.observables import Clusters, cluster_life
from pushforward.probe._recording import Recording


@dataclasses.dataclass(frozen=True)
class Lifetimes:
    """Clusters of at least two tokens at a radius, through the layers.

    `alive[l]` is how many there are in frame l, `longest` the largest number of layers
    that one of them keeps the same tokens, `mean` the average.
    """

    radius: float
    alive: tuple[int, ...]
    longest: float
    mean: float


def lifetimes(trajectory: Trajectory, radius: float) -> Lifetimes:
    """How long clusters of a recorded trajectory keep the same tokens, in layers."""
    life = cluster_life(trajectory, radius)
    n, end = trajectory.final.n, float(trajectory.times[-1] - trajectory.times[0])
    spans = []
    alive = np.zeros(len(trajectory), int)
    for one in life.lives:
        if one.mass < 1.5 / n:
            continue
        birth = np.exp(one.birth)
        death = end + 1 if np.isinf(one.death) else np.exp(one.death)
        spans.append(min(death, end) - birth)
        first, last = round(birth), round(death)
        alive[first:last] += 1
    longest = max(spans, default=0.0)
    mean = float(np.mean(spans)) if spans else 0.0
    return Lifetimes(radius, tuple(alive.tolist()), float(longest), mean)


def gathered(
    recording: Recording, trajectory: Trajectory, layer: int, radius: float
) -> list[list[str]]:
    """The tokens of each cluster of two or more in a layer, largest cluster first."""
    labels = Clusters(radius)(trajectory[layer]).labels
    sizes = np.bincount(labels)
    strings = recording.tokens.strings
    order = [k for k in np.argsort(-sizes, kind="stable") if sizes[k] > 1]
    return [[strings[i] for i in np.flatnonzero(labels == k)] for k in order]
