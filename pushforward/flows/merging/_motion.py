"""Motion in a floating unit: speeds and growth rates divided by e^{unit}.

The unit follows the fastest atom, so that a step h is a displacement of order one (or a
change of mass by a factor of order one) however slow the motion is.
"""

import dataclasses
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.interpreters.partial_eval import dce_jaxpr
from jaxtyping import Array, Bool, Float

from pushforward._shapes import Number
from pushforward.fields import AbstractField, Drive, Motion
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
