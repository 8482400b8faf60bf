"""Renyi centers: early tokens around which causal attention gathers the others."""

import dataclasses
from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float, Int

from pushforward._checks import measure, positive
from pushforward.errors import InputError
from pushforward.measures import Particles
from pushforward.spaces import AbstractSpace, Circle, Euclidean, Sphere


@dataclasses.dataclass(frozen=True)
class CenterIndices:
    """Which tokens are centers, in order of the sequence.

    `kept` are the Renyi centers; `strong`, among them, those far from every earlier
    token.
    """

    kept: Int[np.ndarray, "k"]
    strong: Int[np.ndarray, "s"]

    @property
    def count(self) -> int:
        """The number of Renyi centers."""
        return len(self.kept)


class Centers(eqx.Module):
    """Renyi centers of a sequence of tokens, at a geodesic radius.

    Token k is a Renyi center when it is farther than `radius` from all centers kept
    before it, and a strong center when it is farther from ALL earlier tokens. Attention
    at inverse temperature beta has radius c beta^{-1/2}; figures use c = 4. Time is
    linear in tokens times centers. [karagodin2024causal, renyi1958]

    >>> mu = Particles(Circle(), Circle().points(np.array([0.0, 0.3, 0.6, 2.0])))
    >>> found = Centers(0.5)(mu)
    >>> found.kept.tolist(), found.strong.tolist()
    ([0, 2, 3], [0, 3])
    """

    radius: float = eqx.field(static=True)

    def __init__(self, radius: float):
        why = "It is a geodesic distance, such as 4 / sqrt(beta)."
        self.radius = float(positive("radius", radius, why))

    def __call__(self, mu: Particles) -> CenterIndices:
        """The centers of mu, in the order of its tokens."""
        measure("mu", mu)
        x = np.asarray(mu.points)
        free = np.ones(mu.n, dtype=bool)  # farther than the radius from every center
        kept, strong = [], []
        k = 0
        while free[k]:
            distance = distances(mu.space, x[k], x)
            kept.append(k)
            if (distance[:k] > self.radius).all():
                strong.append(k)
            free &= distance > self.radius
            free[: k + 1] = False
            k = int(np.argmax(free))  # the first that is still free, or a False one
        return CenterIndices(np.array(kept, int), np.array(strong, int))


class Absorption(eqx.Module):
    """The share of mass within `radius` of the present place of some center.

    Centers are named by their token, so that they may drift: for `observe=` and
    `trajectory.observe`, which give the absorption curve.

    >>> mu = Particles(Circle(), Circle().points(np.array([0.0, 0.1, 1.0, 1.5])))
    >>> Absorption([0, 2], 0.2)(mu)
    0.75
    """

    centers: tuple[int, ...] = eqx.field(static=True)
    radius: float = eqx.field(static=True)

    def __init__(self, centers: Int[ArrayLike, "k"] | Sequence, radius: float):
        self.centers = tuple(int(k) for k in np.asarray(centers).reshape(-1))
        if not self.centers or min(self.centers) < 0:
            raise InputError(
                f"`centers` must be indices of tokens, got {centers!r}. Pass "
                "Centers(radius)(mu).kept."
            )
        self.radius = float(positive("radius", radius, "It is a geodesic distance."))

    def __call__(self, mu: Particles) -> float:
        """The share, in [0, 1]."""
        if max(self.centers) >= mu.n:
            raise InputError(
                f"`centers` names token {max(self.centers)}, but there are {mu.n}."
            )
        x = np.asarray(mu.points)
        near = np.zeros(mu.n, dtype=bool)
        for k in self.centers:
            near |= distances(mu.space, x[k], x) <= self.radius
        return float(np.asarray(mu.weights)[near].sum())


def distances(
    space: AbstractSpace, x: Float[np.ndarray, "d"], y: Float[np.ndarray, "n d"]
) -> Float[np.ndarray, "n"]:
    """Geodesic distances from one point to many, on the host."""
    if isinstance(space, Sphere | Circle):
        # from the chord: relative accuracy at small distances, unlike arccos
        return 2 * np.arcsin(np.minimum(np.linalg.norm(y - x, axis=1) / 2, 1.0))
    if isinstance(space, Euclidean):
        return np.linalg.norm(y - x, axis=1)
    start = jnp.broadcast_to(jnp.asarray(x), y.shape)
    return np.asarray(space.distance(start, jnp.asarray(y)))
