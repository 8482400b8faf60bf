"""Fields that change with time: one field per layer, or per phase of a schedule."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import as_float_array, check_finite, is_traced, listed
from pushforward.errors import InputError
from pushforward.fields._field import AbstractField, Drive
from pushforward.measures import Particles


class Switched(AbstractField):
    """fields[k] on [times[k], times[k+1]): piecewise constant in time.

    There is one more time than fields. Before the first and after the last time
    nothing moves. `flow` never steps across a switch.

    >>> field = Switched([Attention(1.0), Attention(9.0)], times=[0.0, 2.0, 5.0])
    """

    fields: tuple[AbstractField, ...]
    times: Float[Array, "k"]

    def __init__(self, fields, times):
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

    def drive(self, t, mu: Particles) -> Drive:
        """The drive of the field in force at time t."""
        k = jnp.searchsorted(self.times, t, side="right") - 1
        inside = (k >= 0) & (k < len(self.fields))
        branches = [lambda f=f: _filled(f.drive(t, mu), mu) for f in self.fields]
        index = jnp.clip(k, 0, len(self.fields) - 1)
        drive = jax.lax.switch(index, branches)
        return jax.tree_util.tree_map(lambda a: jnp.where(inside, a, 0.0), drive)


def switch_times(field: AbstractField) -> list[Array]:
    """The times of every `Switched` inside a field."""
    leaves = jax.tree_util.tree_leaves(field, is_leaf=lambda f: isinstance(f, Switched))
    own = [leaf for leaf in leaves if isinstance(leaf, Switched)]
    return [s.times for s in own] + [
        times for s in own for f in s.fields for times in switch_times(f)
    ]


def held_until(field: AbstractField, t_end: Float[Array, ""]) -> AbstractField:
    """The field on an interval that ends at t_end: later switches are out of sight.

    The last stage of a step that lands on a switch would otherwise see the next field.
    """

    def hold(leaf):
        if not isinstance(leaf, Switched):
            return leaf
        times = jnp.where(leaf.times >= t_end, jnp.inf, leaf.times)
        fields = tuple(held_until(f, t_end) for f in leaf.fields)
        return eqx.tree_at(lambda s: (s.times, s.fields), leaf, (times, fields))

    is_switched = lambda f: isinstance(f, Switched)  # noqa: E731
    return jax.tree_util.tree_map(hold, field, is_leaf=is_switched)


def _filled(drive: Drive, mu: Particles) -> Drive:
    """Zeros instead of None: branches of a switch must return the same shapes."""
    zeros = jnp.zeros_like(mu.log_weights)
    along = zeros if drive.along is None else drive.along
    growth = zeros if drive.growth is None else drive.growth
    return Drive(drive.across, along, growth)
