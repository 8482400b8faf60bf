"""Merging: coincident particles become one weighted atom, inside a compiled loop."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pushforward._checks import Number, is_traced, positive
from pushforward.errors import InputError
from pushforward.spaces import AbstractSpace, Circle, Sphere
from pushforward.sums import by_rows

SMALLEST_RADIUS = (
    1e-7  # its square is fifty times the rounding of |x|^2 + |y|^2 - 2<x,y>
)
NEIGHBORS = 4
FEW = 256  # atoms whose pairs are looked at sooner than sorted
FAINT = -600.0  # log-weights of groups that would vanish, exponentiated


class Merge(eqx.Module):
    """Particles closer than `radius` become one atom with the sum of their weights.

    Exact in the limit of a small radius: coincident particles stay coincident. It
    removes the stiffness of collapsed clusters, so that a flow reaches t = e^{beta} in
    about as many steps as t = 100. Weights add and the center of mass is kept, so the
    error is of higher order: 24 tokens on the circle under Attention(9.0), at t = 30,
    are off by 1e-5, 2e-8, 2e-11 for radii 1e-2, 1e-3, 1e-4, and below that by no more
    than the solver's own error (1e-10 at rtol = 1e-8, 2e-12 at rtol = 1e-10). Tokens
    that are merged on the way, at a distance of the radius, are off by the radius.

    The radius must lie above the tolerance of the solver, or particles hover and never
    merge: the default goes with rtol = 1e-8.
    """

    radius: Float[Array, ""]

    def __init__(self, radius: Number = 1e-6):
        self.radius = positive("radius", radius, "It is a geodesic distance.")
        if not is_traced(self.radius) and float(self.radius) < SMALLEST_RADIUS:
            raise InputError(
                f"`radius` must be at least {SMALLEST_RADIUS:g}, got "
                f"{float(self.radius):g}: squares of distances below it are rounding."
            )


class Slots(eqx.Module):
    """Places for atoms. An absorbed slot keeps its place and points to its `parent`.

    It has no mass any more, and knows the logarithm of the time at which it was
    absorbed and the arc length then. `grown` is the logarithm of the factor by which
    the tokens of a living slot have gained mass since the start, beyond what each
    brought along; in an absorbed slot it stays what it then was relative to the
    parent, so that the mass of a token is found along its chain of parents. None where
    mass is kept.
    """

    points: Float[Array, "n d"]
    log_weights: Float[Array, "n"]
    parent: Int[Array, "n"]
    log_absorbed: Float[Array, "n"]
    arc_absorbed: Float[Array, "n"]
    grown: Float[Array, "n"] | None = None

    @property
    def alive(self) -> Bool[Array, "n"]:
        """Which slots hold an atom; it need not have mass."""
        return self.parent == jnp.arange(len(self.parent))


def lowest_in_reach(
    space: AbstractSpace, slots: Slots, radius: Number
) -> Int[Array, "n"]:
    """The lowest living atom within the radius of each; itself where there is none.

    No table of all pairs is held, so that a million tokens may begin to merge.
    """
    x, alive, n = slots.points, slots.alive, len(slots.parent)
    squares = jnp.sum(x**2, axis=1)
    reach2 = _chord(space, radius) ** 2

    def lowest(i: Int[Array, "b"]) -> Int[Array, "b"]:
        chord2 = squares[i, None] + squares[None, :] - 2 * (x[i] @ x.T)
        near = (chord2 <= reach2) & alive[i, None] & alive[None, :]
        return jnp.argmax(near | (i[:, None] == jnp.arange(n)[None, :]), axis=1)

    return by_rows(lowest, n, n)


def some_close(space: AbstractSpace, slots: Slots, radius: Number) -> Bool[Array, ""]:
    """Whether there may be a close pair, without looking at all pairs.

    Atoms that are close are close along a line, too: in the order along it only a few
    neighbors need a look. Where more than those are within reach the answer is yes.
    """
    x, n = slots.points, len(slots.parent)
    if n <= FEW:
        return jnp.asarray(True)
    line = jnp.cos(jnp.arange(1.0, x.shape[1] + 1))  # any line that is nobody's axis
    line = line / jnp.linalg.norm(line)
    apart = 4.0 * jnp.max(jnp.linalg.norm(x, axis=1)) * jnp.arange(1.0, n + 1)
    along = jnp.where(slots.alive, x @ line, apart)
    order = jnp.argsort(along)
    x, along, alive = x[order], along[order], slots.alive[order]
    reach = 1.05 * _chord(space, radius)  # the rounding of squares in `lowest_in_reach`
    found = jnp.any(along[NEIGHBORS:] - along[:-NEIGHBORS] <= reach)
    for k in range(1, NEIGHBORS):
        chord2 = jnp.sum((x[k:] - x[:-k]) ** 2, axis=1)
        found |= jnp.any((chord2 <= reach**2) & alive[k:] & alive[:-k])
    return found


def _chord(space: AbstractSpace, radius: Number):
    return 2 * jnp.sin(radius / 2) if isinstance(space, Sphere | Circle) else radius


def merge_once(
    space: AbstractSpace,
    slots: Slots,
    lowest: Int[Array, "n"],
    log_t: Number,
    arc: Number,
) -> Slots:
    """Atoms within reach of a leader become part of it.

    A leader is the lowest atom within its own reach. An atom that is close only to
    atoms which are absorbed themselves waits for the next step: chains of close atoms
    would otherwise merge over lengths far beyond the radius.
    """
    n = len(slots.parent)
    leads = lowest == jnp.arange(n)
    first = jnp.where(leads[lowest], lowest, jnp.arange(n))
    stays = first == jnp.arange(n)
    log_weights, shift = _in_sight(slots.log_weights, first)
    weights = jnp.where(slots.alive, jnp.exp(log_weights), 0.0)
    sums = jax.ops.segment_sum(weights, first, num_segments=n)
    means = jax.ops.segment_sum(weights[:, None] * slots.points, first, num_segments=n)
    grew = stays & (sums > weights)
    mean = means / jnp.where(grew, sums, 1.0)[:, None]
    points = jnp.where(grew[:, None], space.project(mean), slots.points)
    absorbed = slots.alive & ~stays
    together = jnp.where(grew, jnp.log(sums) + shift, slots.log_weights)
    grown = slots.grown
    if grown is not None:
        grown = jnp.where(absorbed, grown - grown[first], grown)
    return Slots(
        points,
        jnp.where(absorbed, -jnp.inf, together),
        jnp.where(absorbed, first, slots.parent),
        jnp.where(absorbed, log_t, slots.log_absorbed),
        jnp.where(absorbed, arc, slots.arc_absorbed),
        grown,
    )


def _in_sight(log_weights: Float[Array, "n"], group: Int[Array, "n"]):
    """Log-weights whose exponentials do not vanish, and what was taken off a group.

    Growth may leave a group with a mass of e^{-1000}, which has a center all the same.
    """
    top = jax.ops.segment_max(log_weights, group, num_segments=len(log_weights))
    shift = jnp.where(jnp.isfinite(top) & (top < FAINT), top, 0.0)
    return log_weights - shift[group], shift
