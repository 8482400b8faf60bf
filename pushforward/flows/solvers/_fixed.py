"""Fixed steps: Heun's method, Transformer layers also with momentum, and splitting."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import Number, positive, scalar, whole
from pushforward.errors import InputError
from pushforward.fields import Momentum, Motion, positions
from pushforward.flows.solvers._solver import (
    AbstractSolver,
    Attempt,
    Increment,
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
        self, field: Any, t: Number, h: Number, mu: Any, motion: Motion, dW: Increment
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
        self, field: Any, t: Number, h: Number, mu: Any, motion: Motion, dW: Increment
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
        self, field: Any, t: Number, h: Number, mu: Any, motion: Motion, dW: Increment
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


class MomentumLayers(AbstractLayers):
    """One layer of a Transformer with momentum per unit of time, on `Momentum(field)`.

    Y = N(X + mu V), V <- b V + gamma P_Y A(Y), X <- N(X + P_X V), V <- P_X V,

    with N the normalization: mu = b is Nesterov's method, mu = 0 the heavy ball, and
    b = mu = 0 a step of gradient ascent. The friction of the field plays no part. The
    terms of a sum are sublayers, one after the other. [zimin2026yuriiformer]

    >>> mu = at_rest(Particles.orthonormal(Sphere(2), 2))
    >>> field, layers = Momentum(Attention(1.0)), MomentumLayers(0.1)
    >>> int(flow(field, mu, 8.0, solver=layers).steps)
    8
    """

    gamma: Float[Array, ""]
    b: Float[Array, ""]
    mu: Float[Array, ""]
    max_steps: int = eqx.field(static=True)
    order: ClassVar[int] = 1  # type: ignore[misc]

    def __init__(
        self,
        gamma: Number,
        b: Number = 0.9,
        mu: Number = 0.9,
        *,
        max_steps: int = 10_000_000,
    ):
        self.gamma = positive("gamma", gamma, "It is the step of one layer.")
        self.b, self.mu = scalar("b", b), scalar("mu", mu)
        self.max_steps = whole("max_steps", max_steps, 1)

    @property  # type: ignore[misc]
    def h(self) -> Float[Array, ""]:  # type: ignore[override]
        """One: time counts layers."""
        return jnp.ones(())

    def attempt(
        self, field: Any, t: Number, h: Number, mu: Any, motion: Motion, dW: Increment
    ) -> Attempt:
        """Look ahead, feel the force there, keep a part of the velocity, move."""
        if not isinstance(field, Momentum):
            raise InputError(
                f"`field` must be Momentum(field) under MomentumLayers, got {field!r}."
            )
        tokens = positions(mu)
        base, x, dtype = tokens.space, tokens.points, tokens.points.dtype
        v = mu.points[:, tokens.d :]
        gamma, b, look = (c.astype(dtype) for c in (self.gamma, self.b, self.mu))
        for term in field.field.sublayers():
            force = term(t, tokens.moved(base.project(x + look * v)))
            _refuse_growth(force)
            v = b * v + gamma * force.v
            x = base.project(x + base.tangent(x, v))
            v = base.tangent(x, v)
        end = mu.moved(jnp.concatenate([x, v], axis=1))
        return Attempt(end, motion, jnp.zeros(()))


def _refuse_growth(force: Motion) -> None:
    if force.g is not None:
        raise InputError(
            "`field` must keep mass under MomentumLayers, got one with a growth rate. "
            "Use Adaptive() or Heun(h)."
        )
