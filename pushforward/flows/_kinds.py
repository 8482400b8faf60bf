"""What a flow asks of a measure, answered for each kind: particles and densities."""

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from pushforward.fields import AbstractField, on_density
from pushforward.flows._noise import AbstractNoise
from pushforward.measures import Density

RESOLVED = 1e-4  # the largest share of a density that its last modes may hold

# Particles or Density: which one, is known where the flow is called.
Measure: TypeAlias = Any


@functools.singledispatch
def prepared(mu: Measure, field: AbstractField) -> Callable:
    """The field as a rule (t, mu) -> Motion for measures of this kind."""
    return field


@prepared.register
def _(mu: Density, field):
    return on_density(field, mu.basis)


@functools.singledispatch
def kick(
    mu: Measure, noise: AbstractNoise, key: PRNGKeyArray, h
) -> Float[Array, "n d"] | Float[Array, "d"] | None:
    """What the noise does to a measure of this kind in a step h."""
    return noise.increment(key, h, mu)


@kick.register
def _(mu: Density, noise, key, h):
    """Its common part; the independent part is diffusion, and is not random."""
    return noise.shared(key, h, mu.d)


@functools.singledispatch
def is_finite(mu: Measure) -> Bool[Array, ""]:
    """Whether the state is a state."""
    return jnp.all(jnp.isfinite(mu.points))


@is_finite.register
def _(mu: Density):
    return jnp.all(jnp.isfinite(mu.coefficients))


@functools.singledispatch
def is_resolved(mu: Measure) -> Bool[Array, ""]:
    """Whether the state can still be trusted: particles always can."""
    return jnp.array(True)


@is_resolved.register
def _(mu: Density):
    return mu.resolution_error <= RESOLVED


@functools.singledispatch
def blended(before: Measure, after: Measure, s: float) -> Measure:
    """The measure a share s of the way between two frames."""
    mix = lambda a, b: (1 - s) * a + s * b  # noqa: E731
    points = before.space.project(mix(before.points, after.points))
    return before.moved(points, mix(before.log_weights, after.log_weights))


@blended.register
def _(before: Density, after, s):
    return before.moved((1 - s) * before.coefficients + s * after.coefficients)
