"""Fixed steps: Heun's method, Transformer layers, and splitting."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import positive, whole
from pushforward._shapes import Number
from pushforward.fields import Motion
from pushforward.flows._solver import (
    AbstractSolver,
    Attempt,
    cast,
    combined,
    displaced,
    normalized,
)


class AbstractFixedStep(AbstractSolver):
    """A solver whose step is h, shortened only to land on a time to be saved."""

    h: eqx.AbstractVar[Float[Array, ""]]

    def first_step(self, motion: Motion, span: Number) -> Float[Array, ""]:
        """h."""
        return self.h

    def next_step(self, h: Number, error: Number) -> Float[Array, ""]:
        """h."""
        return self.h


class AbstractLayers(AbstractFixedStep):
    """Steps that are layers: none is cut short, whatever time is to be saved."""


class Heun(AbstractFixedStep):
    """Heun's method with a fixed step: order 2, Stratonovich when there is noise."""

    h: Float[Array, ""]
    max_steps: int = eqx.field(static=True)
    order: ClassVar[int] = 2  # type: ignore[misc]

    def __init__(self, h: Number, *, max_steps: int = 10_000_000):
        self.h = positive("h", h, "It is the time step.")
        self.max_steps = whole("max_steps", max_steps, 1)

    def attempt(
        self,
        field: Any,
        t: Number,
        h: Number,
        mu: Any,
        motion: Motion,
        dW: Float[Array, "n d"] | Float[Array, "d"] | None,
    ) -> Attempt:
        """Predict with the slope here, correct with the mean of both slopes."""
        here = _displacement(motion, h, mu, dW)
        guess = displaced(mu, here, 1.0)
        there = _displacement(field(t + h, guess), h, guess, dW)
        end = displaced(mu, combined([here, there], (0.5, 0.5)), 1.0)
        end = normalized(end, motion.g)
        return Attempt(end, field(t + h, end), jnp.zeros(()))


class Layers(AbstractLayers):
    """One post-norm Transformer layer per step: x <- normalize(x + h drive(x)).

    The drive is not projected first: that is what a residual block does. As a solver of
    the flow it is of order one and its clock runs slow by a factor of about 1 + h, so
    it is named apart. The terms of a sum are sublayers, one after the other, also where
    the sum is multiplied by a number: see `AbstractField.sublayers`.
    """

    h: Float[Array, ""]
    max_steps: int = eqx.field(static=True)
    order: ClassVar[int] = 1  # type: ignore[misc]

    def __init__(self, h: Number, *, max_steps: int = 10_000_000):
        self.h = positive("h", h, "It is the step of one layer.")
        self.max_steps = whole("max_steps", max_steps, 1)

    def attempt(
        self,
        field: Any,
        t: Number,
        h: Number,
        mu: Any,
        motion: Motion,
        dW: Float[Array, "n d"] | Float[Array, "d"] | None,
    ) -> Attempt:
        """Residual, then normalize, for every sublayer."""
        for sublayer in field.sublayers():
            drive = sublayer.drive(t, mu).like(mu.points)
            step = drive.ambient(mu.state)
            step = cast(h, step) * step
            if dW is not None:
                step, dW = step + dW, None
            growth = drive.growth
            growth = None if growth is None else cast(h, growth) * growth
            mu = normalized(displaced(mu, Motion(step, growth), 1.0), growth)
        return Attempt(mu, motion, jnp.zeros(()))


class LieTrotter(AbstractFixedStep):
    """Splitting: every term of a sum flows alone for a step h, one after the other.

    Each term is advanced by Heun's method, so the splitting error dominates: order 1.
    With one term it is Heun's method. The terms of c (A + B) are c A and c B.
    """

    h: Float[Array, ""]
    max_steps: int = eqx.field(static=True)
    order: ClassVar[int] = 1  # type: ignore[misc]

    def __init__(self, h: Number, *, max_steps: int = 10_000_000):
        self.h = positive("h", h, "It is the time step.")
        self.max_steps = whole("max_steps", max_steps, 1)

    def attempt(
        self,
        field: Any,
        t: Number,
        h: Number,
        mu: Any,
        motion: Motion,
        dW: Float[Array, "n d"] | Float[Array, "d"] | None,
    ) -> Attempt:
        """Heun's step for every term in turn."""
        heun = Heun(self.h)
        for term in field.sublayers():
            mu = heun.attempt(term, t, h, mu, term(t, mu), dW).mu
            dW = None
        return Attempt(mu, motion, jnp.zeros(()))


def _displacement(motion: Motion, h: Number, mu, dW) -> Motion:
    """h times the motion, plus the noise made tangent at mu."""
    growth = None if motion.g is None else cast(h, motion.g) * motion.g
    increment = 0.0 if dW is None else mu.space.tangent(mu.state, dW)
    return Motion(cast(h, motion.v) * motion.v + increment, growth)
