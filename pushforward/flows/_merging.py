"""Merging: coincident particles become one weighted atom, inside a compiled loop."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pushforward._checks import positive
from pushforward.spaces import AbstractSpace, Circle, Sphere


class Merge(eqx.Module):
    """Particles closer than `radius` become one atom with the sum of their weights.

    Exact in the limit of a small radius: coincident particles stay coincident. It
    removes the stiffness of collapsed clusters, so that a flow reaches t = e^{beta} in
    about as many steps as t = 100. The radius must lie above the tolerance of the
    solver, or particles hover and never merge: 1e-6 goes with rtol = 1e-8.
    """

    radius: Float[Array, ""]

    def __init__(self, radius=1e-6):
        self.radius = positive("radius", radius, "It is a geodesic distance.")


class Atoms(eqx.Module):
    """Slots for atoms, of which those with weight are alive.

    An absorbed slot keeps its place, has weight zero, and knows its `parent`, the
    logarithm of the time at which it was absorbed, and the arc length then.
    """

    points: Float[Array, "n d"]
    log_weights: Float[Array, "n"]
    parent: Int[Array, "n"]
    log_absorbed: Float[Array, "n"]
    arc_absorbed: Float[Array, "n"]

    @property
    def alive(self) -> Bool[Array, "n"]:
        """Which slots hold an atom."""
        return jnp.isfinite(self.log_weights)


def close_pairs(space: AbstractSpace, atoms: Atoms, radius) -> Bool[Array, "n n"]:
    """Pairs of living atoms within the radius, each with itself included."""
    x, alive = atoms.points, atoms.alive
    squares = jnp.sum(x**2, axis=1)
    chord2 = squares[:, None] + squares[None, :] - 2 * (x @ x.T)
    chord = radius
    if isinstance(space, Sphere | Circle):
        chord = 2 * jnp.sin(radius / 2)
    near = (chord2 <= chord**2) & alive[:, None] & alive[None, :]
    return near | jnp.eye(len(x), dtype=bool)


def merge_once(
    space: AbstractSpace, atoms: Atoms, near: Bool[Array, "n n"], log_t, arc
) -> Atoms:
    """Every group of close atoms becomes its first member."""
    n = len(atoms.parent)
    first = jnp.argmax(near, axis=1)  # the lowest index within reach
    for _ in range(max(1, (n - 1).bit_length())):
        first = first[first]
    weights = jnp.where(atoms.alive, jnp.exp(atoms.log_weights), 0.0)
    sums = jax.ops.segment_sum(weights, first, num_segments=n)
    means = jax.ops.segment_sum(weights[:, None] * atoms.points, first, num_segments=n)
    leads = first == jnp.arange(n)
    grew = leads & (sums > weights)
    mean = means / jnp.where(grew, sums, 1.0)[:, None]
    points = jnp.where(grew[:, None], space.project(mean), atoms.points)
    absorbed = atoms.alive & ~leads
    log_weights = jnp.where(grew, jnp.log(sums), atoms.log_weights)
    return Atoms(
        points,
        jnp.where(absorbed, -jnp.inf, log_weights),
        jnp.where(absorbed, first, atoms.parent),
        jnp.where(absorbed, log_t, atoms.log_absorbed),
        jnp.where(absorbed, arc, atoms.arc_absorbed),
    )
