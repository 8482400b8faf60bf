"""Fields made of fields: heads that act at once, schedules of one after the other."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Real

from pushforward._checks import as_float_array, check_finite, is_traced, listed
from pushforward._shapes import Number
from pushforward.errors import InputError
from pushforward.fields._affine import Affine, added_affine
from pushforward.fields._drive import Drive, Motion, added
from pushforward.fields._field import AbstractField, AbstractSeveral, Rule, added_rules
from pushforward.measures import AbstractBasis, Density, Gaussian, Particles


class Heads(AbstractSeveral):
    """sum_h head_h, where every head has its own beta, Q, K, V.

    dx_i/dt = P_{x_i} sum_h sum_j A^h_ij V_h x_j, and growth rates add as well. H
    identical heads are one head at H times the speed. Heads of the same kind and shape
    are evaluated together. Under `Layers` all heads are one sublayer.

    >>> field = Heads([Attention(1.0), Attention(4.0)])
    """

    heads: tuple[AbstractField, ...]

    def __init__(self, heads: Sequence):
        heads = listed("heads", heads, "fields")
        if not heads or not all(isinstance(h, AbstractField) for h in heads):
            raise InputError(
                f"`heads` must be a non-empty list of fields, got {heads!r}. "
                "For example Heads([Attention(1.0), Attention(4.0)])."
            )
        self.heads = heads

    def drive(self, t: Number, mu: Particles) -> Drive:
        """The sum over heads, in one vectorised call when the heads are alike."""
        if not _alike(self.heads):
            return added([head.drive(t, mu) for head in self.heads])
        stacked = jax.tree_util.tree_map(lambda *leaf: jnp.stack(leaf), *self.heads)
        drives = jax.vmap(lambda head: head.drive(t, mu))(stacked)
        return jax.tree_util.tree_map(lambda part: part.sum(axis=0), drives)

    def scaled_drive(
        self, t: Number, mu: Particles, log_unit: Float[Array, ""]
    ) -> Drive:
        """The sum of the scaled drives of the heads."""
        return added([head.scaled_drive(t, mu, log_unit) for head in self.heads])

    def on_density(self, basis: AbstractBasis) -> Rule:
        """The sum of the rules of the heads."""
        return added_rules([head.on_density(basis) for head in self.heads])

    def on_gaussian(self, t: Number, mu: Gaussian) -> Affine:
        """The sum over heads."""
        return added_affine([head.on_gaussian(t, mu) for head in self.heads])


def _alike(heads) -> bool:
    first: Any = jax.tree_util.tree_structure(heads[0])
    shapes = [jnp.shape(leaf) for leaf in jax.tree_util.tree_leaves(heads[0])]
    return all(
        jax.tree_util.tree_structure(h) == first
        and [jnp.shape(leaf) for leaf in jax.tree_util.tree_leaves(h)] == shapes
        for h in heads
    )


class Switched(AbstractSeveral):
    """fields[k] on [times[k], times[k+1]): piecewise constant in time.

    There is one more time than fields. Before the first and after the last time
    nothing moves or grows. `flow` never steps across a switch.

    >>> field = Switched([Attention(1.0), Attention(9.0)], times=[0.0, 2.0, 5.0])
    """

    fields: tuple[AbstractField, ...]
    times: Float[Array, "k"]

    def __init__(self, fields: Sequence, times: Real[ArrayLike, "k"] | Sequence):
        self.fields = listed("fields", fields, "fields")
        self.times = as_float_array("times", times)
        check_finite("times", self.times)
        if self.times.shape != (len(self.fields) + 1,) or not self.fields:
            raise InputError(
                f"`times` must have one more entry than `fields`: "
                f"{len(self.fields)} fields, times of shape {self.times.shape}."
            )
        if not is_traced(self.times) and (np.diff(np.asarray(self.times)) <= 0).any():
            raise InputError(f"`times` must increase, got {self.times}.")

    def drive(self, t: Number, mu: Particles) -> Drive:
        """The drive of the field in force at time t."""
        return self._in_force(t, [partial(f.drive, t, mu) for f in self.fields])

    def scaled_drive(
        self, t: Number, mu: Particles, log_unit: Float[Array, ""]
    ) -> Drive:
        """The scaled drive of the field in force at time t."""
        drives = [partial(f.scaled_drive, t, mu, log_unit) for f in self.fields]
        return self._in_force(t, drives)

    def on_density(self, basis: AbstractBasis) -> Rule:
        """The rule of the field in force at time t."""
        rules = [field.on_density(basis) for field in self.fields]

        def motion(t, rho: Density) -> Motion:
            return self._in_force(t, [partial(rule, t, rho) for rule in rules])

        return motion

    def on_gaussian(self, t: Number, mu: Gaussian) -> Affine:
        """The velocity of the field in force at time t."""
        return self._in_force(t, [partial(f.on_gaussian, t, mu) for f in self.fields])

    def switch_times(self) -> list[Float[Array, "k"]]:
        """Its own times, and those of its fields."""
        return [self.times, *super().switch_times()]

    def before(self, t_end: Float[Array, ""]) -> Self:
        """The schedule without the switches from t_end on."""
        times = jnp.where(self.times >= t_end, jnp.inf, self.times)
        return eqx.tree_at(lambda s: s.times, super().before(t_end), times)

    def _in_force(self, t: Number, values: Sequence[Callable]):
        """The value in force at time t, zero before the first and after the last."""
        k = jnp.searchsorted(self.times, t, side="right") - 1
        inside = (k >= 0) & (k < len(values))
        shapes = [jax.eval_shape(value) for value in values]
        alike = [partial(_filled, value, shapes) for value in values]
        found = jax.lax.switch(jnp.clip(k, 0, len(values) - 1), alike)
        return jax.tree_util.tree_map(lambda a: jnp.where(inside, a, 0.0), found)


def _filled(value: Callable, shapes: list):
    """The value, with zeros for what it does not have and another one does."""
    own = value()

    def full(part, *others):
        shape = next((s for s in others if s is not None), None)
        return jnp.zeros(shape.shape, shape.dtype) if part is None and shape else part

    return type(own)(*map(full, own, *shapes))
