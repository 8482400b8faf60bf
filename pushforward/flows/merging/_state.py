"""The state of a flow with merging, and what stays fixed while it changes.

How a flow with merging ended, in words.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.interpreters.partial_eval import dce_jaxpr
from jaxtyping import Array, Bool, Float, Int

from pushforward._checks import Number
from pushforward.fields import AbstractField, Drive, Motion
from pushforward.flows._outcome import Outcome, tokens
from pushforward.flows.merging._merge import Merge, Slots
from pushforward.flows.solvers._solver import AbstractSolver
from pushforward.measures import Particles

BALANCE = 1e-13  # a motion this much smaller than its terms is rounding


class Traits(NamedTuple):
    """Whether a field depends on time, and whether masses grow under it."""

    timed: bool
    grows: bool


def traits(field: AbstractField, mu: Particles) -> Traits:
    """What the program of a field says about it.

    A field depends on time if t has any part in its result; whether that part is zero
    at every time cannot be seen here, so in doubt it does.
    """
    drive = lambda t: field.drive(t, mu)  # noqa: E731
    traced, shape = jax.make_jaxpr(drive, return_shape=True)(jnp.zeros(()))
    _, used = dce_jaxpr(traced.jaxpr, [True] * len(traced.jaxpr.outvars))
    return Traits(used[0], shape.growth is not None)


class InUnits(AbstractField):
    """A field over e^{unit}, on the clock of a step.

    A solver steps from 0 to h; the field sees the times begin + s e^{-unit}. Slots
    without an atom stand still. Total mass is one, so growth counts relative to its
    mean. Where `settles`, a motion that is rounding is zero.
    """

    field: AbstractField
    begin: Float[Array, ""]
    unit: Float[Array, ""]
    alive: Bool[Array, "n"]
    settles: bool = eqx.field(static=True)

    def drive(self, t: Number, mu: Particles) -> Drive:
        """The drive of every atom, with its radial part only where that counts."""
        time = self.begin + jnp.exp(jnp.log(t) - self.unit)
        drive = self.field.scaled_drive(time, mu, self.unit).like(mu.points)
        vector = jnp.where(self.alive[:, None], drive.beside_normal(mu), 0.0)
        growth = drive.growth
        growth = None if growth is None else jnp.where(self.alive, growth, 0.0)
        return Drive(vector, None, growth)

    def __call__(self, t: Number, mu: Particles) -> Motion:
        """Velocity and growth of every atom."""
        drive = self.drive(t, mu)
        motion = _motion(drive, mu, self.alive)
        return _settled(drive, motion)[0] if self.settles else motion


def _motion(drive: Drive, mu: Particles, alive) -> Motion:
    v, g = mu.space.tangent(mu.points, drive.vector), drive.growth
    if g is not None:
        weights = jnp.exp(mu.log_weights)
        g = jnp.where(alive, g - jnp.sum(weights * g) / jnp.sum(weights), 0.0)
    return Motion(v, g)


def _settled(drive: Drive, motion: Motion) -> tuple[Motion, Bool[Array, ""]]:
    """The motion without what is rounding, and whether nothing is left."""
    size = jnp.max(jnp.linalg.norm(drive.vector, axis=1))
    moves = jnp.max(jnp.linalg.norm(motion.v, axis=1)) > BALANCE * size
    v, g = jnp.where(moves, motion.v, 0.0), motion.g
    if g is not None and drive.growth is not None:
        grows = jnp.max(jnp.abs(g)) > BALANCE * jnp.max(jnp.abs(drive.growth))
        moves, g = moves | grows, jnp.where(grows, g, 0.0)
    return Motion(v, g), ~moves


def rate(motion: Motion) -> Float[Array, ""]:
    """The largest speed or growth rate."""
    speed = jnp.max(jnp.linalg.norm(motion.v, axis=1))
    if motion.g is None:
        return speed
    return jnp.maximum(speed, jnp.max(jnp.abs(motion.g)))


def divided(motion: Motion, speed: Number) -> Motion:
    """The motion in a unit that is larger by this factor."""
    return Motion(motion.v / speed, None if motion.g is None else motion.g / speed)


def fresh_motion(rule: InUnits, mu: Particles):
    """The motion in a unit of its own, the unit, and whether all forces balance.

    The old unit is tried first; only where it no longer fits is a new one searched.
    """
    in_unit = lambda u: dataclasses.replace(rule, unit=u)  # noqa: E731
    size_in = lambda u: _size(in_unit(u).drive(0.0, mu))  # noqa: E731
    fits = _in_range(size_in(rule.unit))
    unit = jax.lax.cond(fits, lambda: rule.unit, lambda: _search_unit(size_in))
    drive = in_unit(unit).drive(0.0, mu)
    motion = _motion(drive, mu, rule.alive)
    quiet, balanced = _settled(drive, motion)
    motion = quiet if rule.settles else motion
    speed = jnp.where(balanced, 1.0, rate(motion))
    return divided(motion, speed), unit + jnp.log(speed), balanced


def _size(drive: Drive) -> Float[Array, ""]:
    size = jnp.max(jnp.abs(drive.vector))
    if drive.growth is None:
        return size
    return jnp.maximum(size, jnp.max(jnp.abs(drive.growth)))


def _in_range(size) -> Bool[Array, ""]:
    return (size > 1e-100) & (size < 1e100)


def _search_unit(size_in) -> Float[Array, ""]:
    """A unit in which the drive is neither zero nor infinite, by bisection."""

    def halve(state):
        low, high, _ = state
        middle = 0.5 * (low + high)
        size = size_in(middle)
        above = ~(size < 1.0)
        return jnp.where(above, middle, low), jnp.where(above, high, middle), size

    def wide(state):
        low, high, size = state
        return (high - low > 1.0) & ~_in_range(size)

    state = (jnp.asarray(-2e7), jnp.asarray(2e7), jnp.asarray(jnp.inf))
    low, high, size = jax.lax.while_loop(wide, halve, state)
    # The last middle is one end of the bracket: below it the drive was large.
    return jnp.where(size < 1.0, high, low)


RUNNING, ONE_ATOM, FEWER, BALANCED, OUT_OF_STEPS, UNTIL, NOT_FINITE = range(7)


class MergingCarry(eqx.Module):
    """The state of the loop."""

    slots: Slots
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


class Leg(eqx.Module):
    """From one time of interest to the next: frames, and times at which fields switch.

    It ends at the time `end`, log_end after the start of the flow, or at an arc length,
    or when the number of steps is used up.
    """

    begin: Float[Array, ""]
    end: Float[Array, ""]
    log_end: Float[Array, ""]
    arc_end: Float[Array, ""]
    steps_end: Int[Array, ""]


class MergingProblem(eqx.Module):
    """What stays fixed in the loop. `template` gives space and type of the measures.

    `timed` fields depend on time: forces that balance now may not do so later. Their
    unit does not fall below `slowest`, at which nothing gets anywhere before the end.
    """

    field: AbstractField
    solver: AbstractSolver
    merge: Merge
    template: Particles
    until: Callable | None
    stride: Float[Array, ""]
    t0: Float[Array, ""]
    slowest: Float[Array, ""]
    timed: bool = eqx.field(static=True)
    shrink: int = eqx.field(static=True)

    def measure(self, slots: Slots) -> Particles:
        """The atoms as a measure."""
        return self.template.moved(slots.points, slots.log_weights)

    def met(self, slots: Slots) -> Bool[Array, ""]:
        """Whether the stopping rule holds; to it an absorbed slot is where it went."""
        if self.until is None:
            return jnp.asarray(False)
        root = slots.parent
        for _ in range(len(root).bit_length()):
            root = root[root]
        mu = self.template.moved(slots.points[root], slots.log_weights)
        return jnp.asarray(self.until(mu), bool)

    def time(self, carry: MergingCarry, leg: Leg) -> Float[Array, ""]:
        """The time now. Rounding must not carry it over a switch of the field."""
        return jnp.clip(self.t0 + jnp.exp(carry.log_t), leg.begin, leg.end)

    def rule(self, carry: MergingCarry, leg: Leg) -> InUnits:
        """The field in the units and on the clock of the next step."""
        settles = self.timed or carry.slots.grown is not None
        begin, alive = self.time(carry, leg), carry.slots.alive
        return InUnits(self.field, begin, carry.unit, alive, settles)


def explain_merging(
    carry: MergingCarry, problem: MergingProblem, t: float, last_merge: float
) -> Outcome:
    """The outcome at time t; `last_merge` is the logarithm of a span."""
    outcome = _ended(carry, problem, t, last_merge)
    limit = problem.field.resolved_until
    if t <= limit:
        return outcome
    return Outcome(
        outcome.kind,
        f"{outcome.message} After t = {limit:.3g} logits of nearly equal tokens differ "
        "by less than double precision resolves: ties seen later are rounding.",
    )


def _ended(
    carry: MergingCarry, problem: MergingProblem, t: float, last_merge: float
) -> Outcome:
    n, t0 = problem.template.n, float(problem.t0)
    steps, status = int(carry.accepted), int(carry.status)
    left = int(jnp.sum(carry.slots.alive))
    at = readable(float(carry.log_t), t)
    if status == UNTIL:
        return Outcome("until", f"the stopping rule was met at t = {at}.")
    if status == NOT_FINITE:
        message = f"the motion stopped being finite after t = {at}."
        return Outcome("diverged", message + " The last finite state is kept.")
    out_of_steps = status == OUT_OF_STEPS
    if left == 1 and n > 1 and not (problem.timed and out_of_steps):
        with_t0 = t0 + math.exp(last_merge) if last_merge < 700 else math.inf
        since = readable(last_merge, with_t0)
        held = f"all {tokens(problem.template)} tokens are one atom"
        message = f"{held} since t = {since} ({steps} steps)."
        return Outcome("one cluster", message)
    if out_of_steps:
        message = f"stopped at t = {at} after {steps} steps with {left} atoms left."
        return Outcome("budget", message + " Raise max_steps of the solver.")
    if status in (BALANCED, ONE_ATOM):
        message = (
            f"at t = {at} the forces on the {left} atoms that are left balance to "
            f"rounding ({steps} steps): an equilibrium, or too close to one for this "
            "precision. A small perturbation tells which."
        )
        return Outcome("stationary" if n == 1 else "frozen", message)
    return Outcome("reached t1", f"t = {at} in {steps} steps; {left} atoms left.")


def readable(log_t: float, t: float) -> str:
    """A time in words: by the logarithm of the time since the start beyond 1e308."""
    return f"{t:.9g}" if log_t < 700 else f"10^{log_t / math.log(10):.6f}"
