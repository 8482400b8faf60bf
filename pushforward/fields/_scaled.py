"""Drives in a floating unit of speed, for drifts far below what float64 can hold.

`scaled_push(field, t, mu, log_unit)` is the push divided by e^{log_unit}. For sums of
exponentials the division happens in the exponent, so a drift of e^{-2000} comes out as
a number of order one.
"""

import functools

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward.fields._attention import (
    Attention,
    UnnormalizedAttention,
    apply,
    seen_by_itself,
)
from pushforward.fields._background import Background
from pushforward.fields._causal import CausalAttention
from pushforward.fields._decaying import DecayingAttention
from pushforward.fields._field import AbstractField, Multiple, Sum, kills_radial
from pushforward.fields._heads import Heads
from pushforward.fields._position import PositionAttention
from pushforward.measures import Particles
from pushforward.sums import Careful, KernelSum


@functools.singledispatch
def scaled_push(
    field: AbstractField, t, mu: Particles, log_unit: Float[Array, ""]
) -> Float[Array, "n d"]:
    """The push on every particle over e^{log_unit}, up to what the space removes."""
    return field(t, mu).v * jnp.exp(-log_unit)


@scaled_push.register
def _(field: Attention, t, mu, log_unit):
    total = Careful()(seen_by_itself(field, mu))
    return _softmax(field.V, total, mu, log_unit)


@scaled_push.register
def _(field: CausalAttention, t, mu, log_unit):
    total = Careful()(seen_by_itself(field, mu, causal=True))
    return _softmax(field.V, total, mu, log_unit)


@scaled_push.register
def _(field: UnnormalizedAttention, t, mu, log_unit):
    total = Careful()(seen_by_itself(field, mu))
    unit = log_unit - field.log_scale
    push = _over(total.log_scale - unit, total.moment)
    if field.V is None and kills_radial(mu.space):
        return push
    assert total.log_own is not None
    return apply(field.V, push + _over(total.log_own - unit, mu.points))


@scaled_push.register
def _(field: Multiple, t, mu, log_unit):
    return field.c * scaled_push(field.field, t, mu, log_unit)


@scaled_push.register
def _(field: Sum, t, mu, log_unit):
    return sum(scaled_push(f, t, mu, log_unit) for f in field.fields)


@scaled_push.register
def _(field: Heads, t, mu, log_unit):
    return sum(scaled_push(f, t, mu, log_unit) for f in field.heads)


@scaled_push.register
def _(field: Background, t, mu, log_unit):
    push = scaled_push(field.field, t, field.joined(mu), log_unit)
    return push[len(field.atoms) :]


def _softmax(V, total: KernelSum, mu: Particles, log_unit) -> Array:
    push = _over(total.log_scale - total.log_total - log_unit, total.moment)
    if V is None and kills_radial(mu.space):
        return push
    assert total.log_own is not None
    own = _over(total.log_own - total.log_total - log_unit, mu.points)
    return apply(V, push + own)


def _over(log_factor: Float[Array, "n"], x: Float[Array, "n d"]) -> Array:
    # Particles without mass have log_total = -inf; they do not push and do not move.
    # An infinite factor is kept: it says that the unit was too small.
    log_factor = jnp.where(jnp.isnan(log_factor), -jnp.inf, log_factor)
    return jnp.exp(log_factor)[:, None] * x


ORDERED = (CausalAttention, DecayingAttention, PositionAttention)


def same_for_all_orders(field: AbstractField) -> bool:
    """Whether the field treats tokens alike, so that coincident ones stay together."""
    is_ordered = lambda part: isinstance(part, ORDERED)  # noqa: E731
    parts = jax.tree_util.tree_leaves(field, is_leaf=is_ordered)
    return not any(map(is_ordered, parts))
