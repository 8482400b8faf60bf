"""Clusters: tokens that have come together."""

import dataclasses

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from pushforward._checks import measure, positive
from pushforward.measures import Particles


@dataclasses.dataclass(frozen=True)
class Partition:
    """A cloud of tokens sorted into clusters.

    `labels[i]` is the cluster of token i, numbered by first appearance; `masses[c]` is
    the total weight of cluster c.
    """

    labels: Int[np.ndarray, "n"]
    masses: Float[np.ndarray, "c"]

    @property
    def count(self) -> int:
        """The number of clusters."""
        return len(self.masses)

    @property
    def largest(self) -> float:
        """The mass of the heaviest cluster."""
        return float(self.masses.max())

    @property
    def sizes(self) -> Int[np.ndarray, "c"]:
        """The number of tokens in each cluster."""
        return np.bincount(self.labels)


class Clusters(eqx.Module):
    """Clusters at a geodesic radius: chains of tokens at most that far apart.

    Union-find without the n x n matrix; n = 1e6 on the circle and on S^2 is fine.

    >>> Clusters(0.1)(Particles.orthonormal(Sphere(3), 3)).count
    3
    """

    radius: float = eqx.field(static=True)

    def __init__(self, radius: float):
        why = "It is a geodesic distance; on the unit sphere try 0.05."
        self.radius = float(positive("radius", radius, why))

    def __call__(self, mu: Particles) -> Partition:
        """The partition of the tokens of mu."""
        measure("mu", mu)
        labels = mu.labels(self.radius)
        return Partition(labels, np.bincount(labels, np.asarray(mu.weights)))


class ClusterCount(eqx.Module):
    """The number of clusters at a radius, as a number: for `observe=`."""

    radius: float = eqx.field(static=True)

    def __call__(self, mu: Particles) -> int:
        """How many."""
        return Clusters(self.radius)(mu).count


class LargestMass(eqx.Module):
    """The mass of the heaviest cluster at a radius: for `observe=`."""

    radius: float = eqx.field(static=True)

    def __call__(self, mu: Particles) -> float:
        """How heavy."""
        return Clusters(self.radius)(mu).largest
