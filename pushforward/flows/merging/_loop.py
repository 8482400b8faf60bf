"""The loop of a flow with merging, in compiled code: time is a logarithm.

Speed is measured in a unit e^{unit} that follows the fastest atom; a step h lasts
h e^{-unit}. Time since the last merge is kept apart from the total, both as logarithms:
at t = 1e20 a last approach that takes O(1) would otherwise not change t, and the solver
would stall.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pushforward._checks import Number
from pushforward.fields import Motion
from pushforward.flows.merging._merge import (
    Slots,
    lowest_in_reach,
    merge_once,
    some_close,
)
from pushforward.flows.merging._state import (
    BALANCED,
    FEWER,
    NOT_FINITE,
    ONE_ATOM,
    OUT_OF_STEPS,
    RUNNING,
    UNTIL,
    InUnits,
    Leg,
    MergingCarry,
    MergingProblem,
    divided,
    fresh_motion,
    rate,
)
from pushforward.measures import Particles

ROUNDED = 4e-16  # a few units in the last place
LOCATED = 1e-11  # relative time at which `until` holds: finer than any tolerance
HALVINGS = 60
# After a merge the step keeps its length in time, within these displacements: what is
# left may be as stiff as before, or slower by a factor of e^{beta}.
SHORT_STEP, FIRST_STEP = 1e-5, 1e-2


def start(problem: MergingProblem, slots: Slots, leg: Leg) -> MergingCarry:
    """The carry before the first step."""
    zero, empty = jnp.zeros((), int), jnp.zeros(())
    growth = None if slots.grown is None else jnp.zeros_like(slots.grown)
    unset = MergingCarry(
        slots,
        Motion(jnp.zeros_like(slots.points), growth),
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
    lowest = lowest_in_reach(problem.template.space, slots, problem.merge.radius)
    return anew(problem, unset, leg, lowest)


def anew(
    problem: MergingProblem, carry: MergingCarry, leg: Leg, lowest: Int[Array, "n"]
) -> MergingCarry:
    """Merge what is within reach, and measure the motion in a fresh unit."""
    space = problem.template.space
    slots = merge_once(space, carry.slots, lowest, carry.log_t, carry.arc)
    carry = eqx.tree_at(lambda c: c.slots, carry, slots)
    rule, mu = problem.rule(carry, leg), problem.measure(slots)
    motion, unit, balanced = fresh_motion(rule, mu)
    status = jnp.where(balanced, BALANCED, RUNNING)
    alone = balanced & (jnp.sum(slots.alive) == 1)  # V may still turn one atom
    status = jnp.where(alone, ONE_ATOM, status)
    if problem.timed:
        kept = jnp.where(balanced, carry.unit, unit)
        kept = jnp.maximum(kept, problem.slowest)
        motion, unit = divided(motion, jnp.exp(kept - unit)), kept
        status = jnp.full_like(status, RUNNING)
    return MergingCarry(
        slots,
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


def switched(problem: MergingProblem, carry: MergingCarry, leg: Leg) -> MergingCarry:
    """The motion at the start of a leg on which the field is another one."""
    return anew(problem, carry, leg, jnp.arange(len(carry.slots.parent)))


def _merged(problem: MergingProblem, carry: MergingCarry, leg: Leg) -> MergingCarry:
    """Merge what is close, if anything is."""
    space, radius = problem.template.space, problem.merge.radius

    def look(carry: MergingCarry) -> MergingCarry:
        lowest = lowest_in_reach(space, carry.slots, radius)
        found = jnp.any(lowest != jnp.arange(len(lowest)))
        merge = lambda c, lowest: anew(problem, c, leg, lowest)  # noqa: E731
        return jax.lax.cond(found, merge, lambda c, lowest: c, carry, lowest)

    maybe = some_close(space, carry.slots, radius)
    return jax.lax.cond(maybe, look, lambda c: c, carry)


def advance_merging(
    problem: MergingProblem, carry: MergingCarry, leg: Leg
) -> MergingCarry:
    """Step until the leg ends, or something happens."""

    def unfinished(carry: MergingCarry) -> Bool[Array, ""]:
        ahead = ~arrived(carry.log_t, leg.log_end) & (carry.arc < leg.arc_end)
        return ahead & (carry.status == RUNNING) & (carry.accepted < leg.steps_end)

    return jax.lax.while_loop(unfinished, lambda c: _one_step(problem, c, leg), carry)


def located(
    problem: MergingProblem, before: MergingCarry, after: MergingCarry, leg: Leg
) -> MergingCarry:
    """The first time at which `until` holds, by bisection in time."""
    free = dataclasses.replace(problem, until=None, shrink=0)

    def wide(state) -> Bool[Array, ""]:
        low, high, count = state
        middle = between(low, high)
        inside = (low.log_t < middle) & (middle < high.log_t) & (count < HALVINGS)
        return inside & (high.log_t - low.log_t >= LOCATED)

    def halve(state):
        low, high, count = state
        to = dataclasses.replace(
            leg,
            log_end=between(low, high),
            arc_end=jnp.asarray(jnp.inf),
            steps_end=jnp.asarray(2**62),
        )
        trial = advance_merging(free, low, to)
        met = problem.met(trial.slots)
        pick = lambda yes, no: jnp.where(met, yes, no)  # noqa: E731
        low = jax.tree.map(pick, low, trial)
        high = jax.tree.map(pick, trial, high)
        return low, high, count + 1

    def between(low, high):
        return jnp.logaddexp(low.log_t, high.log_t) - jnp.log(2.0)

    found = jax.lax.while_loop(wide, halve, (before, after, 0))[1]
    return eqx.tree_at(lambda c: c.status, found, jnp.asarray(UNTIL))


def arrived(log_t: Number, log_end: Number):
    """Whether the time is reached, up to the rounding of a sum of two logarithms.

    Without the slack a loop may stand one rounding error before its end for ever.
    """
    return log_t >= log_end - ROUNDED * (1.0 + jnp.abs(log_end))


def _one_step(problem: MergingProblem, carry: MergingCarry, leg: Leg) -> MergingCarry:
    mu = problem.measure(carry.slots)
    gap = carry.log_t - leg.log_end
    remaining = jnp.exp(leg.log_end + jnp.log1p(-jnp.exp(gap)) + carry.unit)
    h = jnp.minimum(carry.h, _longest(problem, carry))
    last = h >= remaining
    h = jnp.where(last, remaining, h)
    rule = problem.rule(carry, leg)
    trial = problem.solver.attempt(rule, 0.0, h, mu, carry.motion, None)
    finite = jnp.isfinite(trial.error)
    accept = finite & (trial.error <= 1.0)
    h_next = problem.solver.next_step(h, jnp.where(finite, trial.error, jnp.inf))
    # Where stability bounds the step, growing right after a rejection fails again.
    h_next = jnp.where(accept & carry.failed, jnp.minimum(h_next, h), h_next)
    # A step cut short by a frame says nothing about the next one.
    h_next = jnp.where(accept & last, jnp.maximum(h_next, carry.h), h_next)
    pick = lambda new, old: jnp.where(accept, new, old)  # noqa: E731
    motion = jax.tree.map(pick, trial.motion, carry.motion)
    speed = rate(motion)
    speed = jnp.where(speed > 0, speed, 1.0)
    if problem.timed:
        speed = jnp.maximum(speed, jnp.exp(problem.slowest - carry.unit))
    since = jnp.logaddexp(carry.log_since, jnp.log(h) - carry.unit)
    since = jnp.where(last, _difference(leg.log_end, carry.log_base), since)
    slots = _moved(carry.slots, jax.tree.map(pick, trial.mu, mu))
    new = MergingCarry(
        slots,
        divided(motion, speed),
        carry.unit + jnp.log(speed),
        h_next * speed,
        ~accept,
        carry.log_base,
        pick(since, carry.log_since),
        carry.arc + pick(_way(mu.space, carry.slots, slots.points), 0.0),
        carry.accepted + accept.astype(carry.accepted.dtype),
        carry.rejected + (~accept).astype(carry.rejected.dtype),
        _status(problem, carry, rule, accept, h_next),
    )
    return _after(problem, new, leg, accept)


def _longest(problem: MergingProblem, carry: MergingCarry):
    """The longest step that `stride` allows: no farther than the next frame."""
    if not (problem.timed or carry.slots.grown is not None):
        return problem.stride  # the fastest atom has speed one
    speed = jnp.max(jnp.linalg.norm(carry.motion.v, axis=1))
    return jnp.where(speed > 0, problem.stride / speed, jnp.inf)


def _moved(slots: Slots, mu: Particles) -> Slots:
    """The slots after a step; tokens gain mass as their slot does."""
    if slots.grown is None:
        return eqx.tree_at(lambda s: s.points, slots, mu.points)
    gain = mu.log_weights - slots.log_weights
    gain = jnp.where(jnp.isfinite(slots.log_weights), gain, 0.0)
    new = (mu.points, mu.log_weights, slots.grown + gain)
    return eqx.tree_at(lambda s: (s.points, s.log_weights, s.grown), slots, new)


def _way(space, slots: Slots, points) -> Float[Array, ""]:
    """How far the tokens have moved, in the mean of squares."""
    moved = space.distance(slots.points, points)
    weights = jnp.where(slots.alive, jnp.exp(slots.log_weights), 0.0)
    return jnp.sqrt(jnp.sum(weights * moved**2))


def _status(
    problem: MergingProblem, carry: MergingCarry, rule: InUnits, accept, h: Number
):
    """Whether the loop can go on with a step h."""
    steps = carry.accepted + carry.rejected + 1
    status = jnp.where(steps >= problem.solver.max_steps, OUT_OF_STEPS, RUNNING)
    shortest = jnp.asarray(1e-14)
    if problem.timed:  # the unit may be far above the speed: a step is short in time
        now = jnp.maximum(jnp.abs(rule.begin), 1e-290)
        shortest = 1e-15 * jnp.exp(jnp.log(now) + carry.unit)
    return jnp.where(~accept & ~(h > shortest), NOT_FINITE, status)


def _after(
    problem: MergingProblem, carry: MergingCarry, leg: Leg, accept
) -> MergingCarry:
    """Merge after an accepted step, then see whether to stop."""
    carry = jax.lax.cond(
        accept & (carry.status == RUNNING),
        lambda c: _merged(problem, c, leg),
        lambda c: c,
        carry,
    )
    alive = jnp.sum(carry.slots.alive)
    status = carry.status
    enough = (alive <= problem.shrink) & (status == RUNNING)
    status = jnp.where(enough, FEWER, status)
    if problem.until is not None:
        status = jnp.where(accept & problem.met(carry.slots), UNTIL, status)
    return eqx.tree_at(lambda c: c.status, carry, status)


def _difference(log_a, log_b) -> Array:
    """log(e^a - e^b) for a > b."""
    return log_a + jnp.log1p(-jnp.exp(log_b - log_a))
