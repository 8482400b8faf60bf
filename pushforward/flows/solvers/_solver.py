"""What a solver is: one step of a field on a measure."""

import abc
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Real

from pushforward._checks import Number
from pushforward._printing import shown
from pushforward.fields import Motion
from pushforward.measures import AbstractMeasure

# What noise adds in a step: a vector per particle, one for all of a density, or none.
Increment: TypeAlias = Float[Array, "n d"] | Float[Array, "d"] | None


class Attempt(NamedTuple):
    """The measure after a trial step, the motion there, and the scaled error.

    An error above one means: reject and try a smaller step. Fixed steps report zero.
    """

    mu: AbstractMeasure
    motion: Motion
    error: Float[Array, ""]


class AbstractSolver(eqx.Module):
    """How time is stepped. Results lie on the space to rounding."""

    order: eqx.AbstractVar[int]
    max_steps: eqx.AbstractVar[int]

    __repr__ = shown

    @abc.abstractmethod
    def first_step(self, motion: Motion, span: Number) -> Float[Array, ""]:
        """The step to begin with."""

    @abc.abstractmethod
    def attempt(
        self,
        field: Any,
        t: Number,
        h: Number,
        mu: AbstractMeasure,
        motion: Motion,
        dW: Increment,
    ) -> Attempt:
        """A step from t to t + h; `motion` is field(t, mu), `dW` the noise or None.

        `field` is a field, or the rule that it is on this kind of measure.
        """

    @abc.abstractmethod
    def next_step(self, h: Number, error: Number) -> Float[Array, ""]:
        """The step to try after one of size h had this error."""


def combined(
    motions: list[Motion], coefficients: Sequence | Real[np.ndarray, "s"]
) -> Motion:
    """sum_i c_i k_i for velocities and growth rates."""

    def add(parts: list) -> Array:
        used = [(c, k) for c, k in zip(coefficients, parts, strict=False) if c != 0]
        return sum((float(c) * k for c, k in used[1:]), float(used[0][0]) * used[0][1])

    growth = None if motions[0].g is None else add([k.g for k in motions])
    return Motion(add([k.v for k in motions]), growth)


def displaced(mu: Any, step: Motion, h: Number) -> Any:
    """mu moved by h times a motion, and retracted."""
    points = mu.space.project(mu.state + cast(h, mu.state) * step.v)
    weights = None
    if step.g is not None:
        weights = mu.log_weights + cast(h, mu.log_weights) * step.g
    return mu.moved(points, weights)


def cast(number: Number, like: Float[Array, "..."]) -> Array:
    """A float64 number in the precision of an array, which it must not raise."""
    return jnp.asarray(number).astype(like.dtype)


def normalized(mu: Any, growth: Float[Array, "n"] | None) -> Any:
    """Weights rescaled to sum to one, where they moved at all."""
    if growth is None:
        return mu
    return mu.moved(mu.points, jax.nn.log_softmax(mu.log_weights))
