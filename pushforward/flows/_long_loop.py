"""The loop for exponentially long times: merging, and time as a logarithm.

Speed is measured in a unit e^{unit} that follows the fastest atom, so that a step h is
a displacement of order one however small the drift is; a step lasts h e^{-unit}. Time
since the last merge is kept apart from the total, both as logarithms: at t = 1e20 a
last approach that takes O(1) would otherwise not change t, and the solver would stall.
"""

import dataclasses
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pushforward.fields import AbstractField, Drive, Motion, scaled_push
from pushforward.flows._merging import Atoms, Merge, close_pairs, merge_once, some_close
from pushforward.flows._solver import AbstractSolver
from pushforward.measures import Particles

RUNNING, ONE_ATOM, FEWER, BALANCED, OUT_OF_STEPS, UNTIL, NOT_FINITE = range(7)

ROUNDED = 4e-16  # a few units in the last place
LOCATED = 1e-11  # relative time at which `until` holds: finer than any tolerance
HALVINGS = 60
BALANCE = 1e-13  # a drift this much smaller than its terms is rounding
# After a merge the step keeps its length in time, within these displacements: what is
# left may be as stiff as before, or slower by a factor of e^{beta}.
SHORT_STEP, FIRST_STEP = 1e-5, 1e-2


class LongCarry(eqx.Module):
    """The state of the loop."""

    atoms: Atoms
    motion: Motion
    unit: Float[Array, ""]
    h: Float[Array, ""]
    failed: Bool[Array, ""]
    log_base: Float[Array, ""]
    log_since: Float[Array, ""]
    arc: Float[Array, ""]
    accepted: Int[Array, ""]
    rejected: Int[Array, ""]
    status: Int[Array, ""]

    @property
    def log_t(self) -> Float[Array, ""]:
        """The logarithm of the time since the start."""
        return jnp.logaddexp(self.log_base, self.log_since)


class LongSegment(eqx.Module):
    """What stays fixed in the loop. `template` gives space and type of the measures."""

    field: AbstractField
    solver: AbstractSolver
    merge: Merge
    template: Particles
    until: Callable | None
    stride: Float[Array, ""]
    shrink: int = eqx.field(static=True)

    def measure(self, atoms: Atoms) -> Particles:
        """The atoms as a measure."""
        return self.template.moved(atoms.points, atoms.log_weights)


class Scaled(AbstractField):
    """A field in units of e^{unit}; particles without mass stand still."""

    field: AbstractField
    unit: Float[Array, ""]

    def drive(self, t, mu):
        """The scaled push."""
        push = scaled_push(self.field, t, mu, self.unit)
        return Drive(jnp.where(jnp.isfinite(mu.log_weights)[:, None], push, 0.0))


def start(segment: LongSegment, atoms: Atoms) -> LongCarry:
    """The carry before the first step."""
    zero = jnp.zeros((), int)
    still = Motion(jnp.zeros_like(atoms.points), None)
    empty = jnp.zeros(())
    unset = LongCarry(
        atoms,
        still,
        empty,
        jnp.full((), FIRST_STEP),
        jnp.asarray(False),
        jnp.asarray(-jnp.inf),
        jnp.asarray(-jnp.inf),
        empty,
        zero,
        zero,
        zero,
    )
    return merged(segment, unset, everywhere=True)


def merged(segment: LongSegment, carry: LongCarry, everywhere: bool) -> LongCarry:
    """Merge what is close, and measure the speed anew in a fresh unit."""
    space, radius = segment.template.space, segment.merge.radius

    def look(carry: LongCarry) -> LongCarry:
        near = close_pairs(space, carry.atoms, radius)
        if everywhere:
            return anew(carry, near)
        found = jnp.any(near & ~jnp.eye(len(near), dtype=bool))
        return jax.lax.cond(found, anew, lambda c, near: c, carry, near)

    def anew(carry: LongCarry, near) -> LongCarry:
        atoms = merge_once(space, carry.atoms, near, carry.log_t, carry.arc)
        mu = segment.measure(atoms)
        motion, unit, balanced = _fresh_motion(segment.field, mu, carry.unit)
        status = jnp.where(balanced, BALANCED, RUNNING)
        alone = balanced & (jnp.sum(atoms.alive) == 1)  # V may still turn one atom
        status = jnp.where(alone, ONE_ATOM, status)
        return LongCarry(
            atoms,
            motion,
            unit,
            jnp.clip(carry.h * jnp.exp(unit - carry.unit), SHORT_STEP, FIRST_STEP),
            jnp.asarray(True),
            carry.log_t,
            jnp.asarray(-jnp.inf),
            carry.arc,
            carry.accepted,
            carry.rejected,
            status,
        )

    if everywhere:
        return look(carry)
    maybe = some_close(space, carry.atoms, radius)
    return jax.lax.cond(maybe, look, lambda c: c, carry)


def _fresh_motion(field: AbstractField, mu: Particles, unit):
    """Velocities in a unit of their own, the unit, and whether all forces balance.

    The old unit is tried first; only where it no longer fits is a new one searched.
    """
    alive = jnp.isfinite(mu.log_weights)[:, None]
    push_in = lambda u: jnp.where(alive, scaled_push(field, 0.0, mu, u), 0.0)  # noqa: E731
    push = push_in(unit)
    unit = jax.lax.cond(
        _in_range(jnp.max(jnp.abs(push))), lambda: unit, lambda: _search_unit(push_in)
    )
    push = push_in(unit)
    velocity = mu.space.tangent(mu.points, push)
    speed = jnp.max(jnp.linalg.norm(velocity, axis=1))
    size = jnp.max(jnp.linalg.norm(push, axis=1))
    balanced = ~(speed > BALANCE * size)
    speed = jnp.where(balanced, 1.0, speed)
    return Motion(velocity / speed, None), unit + jnp.log(speed), balanced


def _in_range(size) -> Bool[Array, ""]:
    return (size > 1e-100) & (size < 1e100)


def _search_unit(push_in) -> Float[Array, ""]:
    """A unit in which the push is neither zero nor infinite, by bisection."""

    def halve(state):
        low, high, _ = state
        middle = 0.5 * (low + high)
        size = jnp.max(jnp.abs(push_in(middle)))
        above = ~(size < 1.0)
        return jnp.where(above, middle, low), jnp.where(above, high, middle), size

    def wide(state):
        low, high, size = state
        return (high - low > 1.0) & ~_in_range(size)

    state = (jnp.asarray(-2e7), jnp.asarray(2e7), jnp.asarray(jnp.inf))
    low, high, size = jax.lax.while_loop(wide, halve, state)
    # The last middle is one end of the bracket: below it the push was large.
    return jnp.where(size < 1.0, high, low)


def advance_long(
    segment: LongSegment, carry: LongCarry, log_end, arc_end, steps_end
) -> LongCarry:
    """Step until the time or the arc length is reached, or something happens."""

    def unfinished(carry: LongCarry) -> Bool[Array, ""]:
        ahead = ~arrived(carry.log_t, log_end) & (carry.arc < arc_end)
        return ahead & (carry.status == RUNNING) & (carry.accepted < steps_end)

    return jax.lax.while_loop(
        unfinished, lambda c: _one_step(segment, c, log_end), carry
    )


def located(segment: LongSegment, before: LongCarry, after: LongCarry) -> LongCarry:
    """The first time at which `until` holds, by bisection in time."""
    free = dataclasses.replace(segment, until=None, shrink=0)
    until = segment.until
    assert until is not None

    def wide(state) -> Bool[Array, ""]:
        low, high, count = state
        middle = between(low, high)
        inside = (low.log_t < middle) & (middle < high.log_t) & (count < HALVINGS)
        return inside & (high.log_t - low.log_t >= LOCATED)

    def halve(state):
        low, high, count = state
        middle = between(low, high)
        trial = advance_long(free, low, middle, jnp.inf, 2**62)
        met = jnp.asarray(until(free.measure(trial.atoms)), bool)
        pick = lambda yes, no: jnp.where(met, yes, no)  # noqa: E731
        low = jax.tree.map(pick, low, trial)
        high = jax.tree.map(pick, trial, high)
        return low, high, count + 1

    def between(low, high):
        return jnp.logaddexp(low.log_t, high.log_t) - jnp.log(2.0)

    found = jax.lax.while_loop(wide, halve, (before, after, 0))[1]
    return eqx.tree_at(lambda c: c.status, found, jnp.asarray(UNTIL))


def arrived(log_t, log_end):
    """Whether the time is reached, up to the rounding of a sum of two logarithms.

    Without the slack a loop may stand one rounding error before its end for ever.
    """
    return log_t >= log_end - ROUNDED * (1.0 + jnp.abs(log_end))


def _one_step(segment: LongSegment, carry: LongCarry, log_end) -> LongCarry:
    mu = segment.measure(carry.atoms)
    gap = carry.log_t - log_end
    remaining = jnp.exp(log_end + jnp.log1p(-jnp.exp(gap)) + carry.unit)
    h = jnp.minimum(carry.h, segment.stride)
    last = h >= remaining
    h = jnp.where(last, remaining, h)
    field = Scaled(segment.field, carry.unit)
    trial = segment.solver.attempt(field, 0.0, h, mu, carry.motion, None)
    finite = jnp.isfinite(trial.error)
    accept = finite & (trial.error <= 1.0)
    h_next = segment.solver.next_step(h, jnp.where(finite, trial.error, jnp.inf))
    # Where stability bounds the step, growing right after a rejection fails again.
    h_next = jnp.where(accept & carry.failed, jnp.minimum(h_next, h), h_next)
    # A step cut short by a frame says nothing about the next one.
    h_next = jnp.where(accept & last, jnp.maximum(h_next, carry.h), h_next)
    pick = lambda new, old: jnp.where(accept, new, old)  # noqa: E731
    points = pick(trial.mu.points, mu.points)
    v = pick(trial.motion.v, carry.motion.v)
    speed = jnp.max(jnp.linalg.norm(v, axis=1))
    speed = jnp.where(speed > 0, speed, 1.0)
    moved = mu.space.distance(mu.points, points)
    weights = jnp.where(carry.atoms.alive, jnp.exp(carry.atoms.log_weights), 0.0)
    since = jnp.logaddexp(carry.log_since, jnp.log(h) - carry.unit)
    since = jnp.where(last, _difference(log_end, carry.log_base), since)
    steps = carry.accepted + carry.rejected + 1
    status = jnp.where(steps >= segment.solver.max_steps, OUT_OF_STEPS, RUNNING)
    status = jnp.where(~accept & ~(h_next > 1e-14), NOT_FINITE, status)
    new = LongCarry(
        eqx.tree_at(lambda a: a.points, carry.atoms, points),
        Motion(v / speed, None),
        carry.unit + jnp.log(speed),
        h_next * speed,
        ~accept,
        carry.log_base,
        pick(since, carry.log_since),
        carry.arc + pick(jnp.sqrt(jnp.sum(weights * moved**2)), 0.0),
        carry.accepted + accept,
        carry.rejected + ~accept,
        status,
    )
    return _after(segment, new, accept)


def _after(segment: LongSegment, carry: LongCarry, accept) -> LongCarry:
    """Merge after an accepted step, then see whether to stop."""
    carry = jax.lax.cond(
        accept & (carry.status == RUNNING),
        lambda c: merged(segment, c, everywhere=False),
        lambda c: c,
        carry,
    )
    alive = jnp.sum(carry.atoms.alive)
    status = carry.status
    enough = (alive <= segment.shrink) & (status == RUNNING)
    status = jnp.where(enough, FEWER, status)
    if segment.until is not None:
        met = accept & jnp.asarray(segment.until(segment.measure(carry.atoms)), bool)
        status = jnp.where(met, UNTIL, status)
    return eqx.tree_at(lambda c: c.status, carry, status)


def _difference(log_a, log_b) -> Array:
    """log(e^a - e^b) for a > b."""
    return log_a + jnp.log1p(-jnp.exp(log_b - log_a))
