"""The few numbers written beside a picture, frame by frame."""

import dataclasses

import equinox as eqx
import numpy as np

from pushforward._checks import scalar
from pushforward.flows import Trajectory
from pushforward.functionals import InteractionEnergy
from pushforward.measures import Particles
from pushforward.plot._history import History

_energy = eqx.filter_jit(lambda functional, mu: functional(mu))


@dataclasses.dataclass(frozen=True)
class Numbers:
    """Energy in (0, 1], number of clusters, largest mass and mean cosine of a frame."""

    energy: float
    clusters: int
    largest: float
    cosine: float


def numbers(history: History, k: int, beta: float, radius: float) -> Numbers:
    """The numbers of frame k; energy and cosine are NaN off the sphere."""
    mu = history.frame(k)
    labels = mu.labels(radius)
    masses = np.bincount(labels, history.weights[k])
    if not history.round:
        return Numbers(np.nan, len(masses), float(masses.max()), np.nan)
    energy = float(_energy(InteractionEnergy(beta), mu))
    return Numbers(energy, len(masses), float(masses.max()), _mean_cosine(mu))


def _mean_cosine(mu: Particles) -> float:
    """The mean of <x, y> over pairs of distinct tokens, by weight."""
    x, w = np.asarray(mu.points), np.asarray(mu.weights)
    own = float((w**2).sum())
    if own >= 1.0:
        return 1.0  # one token: it agrees with itself
    return (float(((w @ x) ** 2).sum()) - own) / (1.0 - own)


def beta_of(trajectory: object, beta: float | None) -> float:
    """The inverse temperature to measure energy with: given, the field's, or 1."""
    if beta is not None:
        return float(scalar("beta", beta))
    field = trajectory.field if isinstance(trajectory, Trajectory) else None
    found = getattr(field, "beta", None)
    return 1.0 if found is None or np.ndim(found) else float(found)
