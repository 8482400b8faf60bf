"""Clusters: tokens that have come together; peaks of a density."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float, Int

from pushforward._checks import is_traced, measure, positive, whole
from pushforward.measures import Density, Particles

CLUSTER_RADIUS = 0.05  # geodesic: where a command or a picture counts clusters


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

    def __call__(self, mu: Particles) -> int | Float[Array, ""]:
        """How many."""
        if is_traced(mu):
            first = _first_of_chain(mu, self.radius) == jnp.arange(mu.n)
            return jnp.sum(first.astype(float))
        return Clusters(self.radius)(mu).count


class LargestMass(eqx.Module):
    """The mass of the heaviest cluster at a radius: for `observe=`."""

    radius: float = eqx.field(static=True)

    def __call__(self, mu: Particles) -> float | Float[Array, ""]:
        """How heavy."""
        if is_traced(mu):
            first = _first_of_chain(mu, self.radius)
            return jnp.zeros_like(mu.weights).at[first].add(mu.weights).max()
        return Clusters(self.radius)(mu).largest


def _first_of_chain(mu: Particles, radius: float) -> Int[Array, "n"]:
    """The first token of the chain that each token belongs to, inside compiled code.

    By propagation of the least index: for the few tokens of many small systems.
    """
    distance = mu.space.distance(mu.points[:, None, :], mu.points[None, :, :])
    near = distance <= radius

    def spread(labels):
        return jnp.where(near, labels[None, :], labels[:, None]).min(axis=1)

    start = jnp.arange(mu.n)
    changed = lambda state: (state[0] != state[1]).any()  # noqa: E731
    step = lambda state: (state[1], spread(state[1]))  # noqa: E731
    return jax.lax.while_loop(changed, step, (start, spread(start)))[1]


class Mode(eqx.Module):
    """Mode (k, m) of a density or of particles: for `observe=`.

    On the circle int e^{-ik theta} dmu, on S^2 sqrt(4 pi/(2k + 1)) int conj(Y_km) dmu,
    on other spheres int P_k dmu about the last axis; one at most.

    >>> Mode(1)(Particles.equispaced(Circle(), 1)).real.item()
    1.0
    """

    k: int = eqx.field(static=True)
    m: int = eqx.field(static=True)

    def __init__(self, k: int, m: int = 0):
        self.k, self.m = whole("k", k, 0), whole("m", m, 0)

    def __call__(
        self, mu: Particles | Density
    ) -> Complex[Array, ""] | Float[Array, ""]:
        """The mode, complex on the circle and on S^2."""
        if isinstance(mu, Particles):
            mu = Density.from_particles(mu, max(self.k, 1))
        return mu.mode(self.k, self.m)
