"""Fields made of fields: heads that act at once, schedules of one after another, and
frozen tokens that pull the free ones.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Real

from pushforward._checks import Number, as_float_array, check_finite, is_traced, listed
from pushforward.errors import InputError
from pushforward.fields._drive import Affine, Drive, Motion, added, added_affine
from pushforward.fields._field import AbstractField, AbstractSeveral, Rule, added_rules
from pushforward.measures import (
    AbstractBasis,
    AbstractMeasure,
    Density,
    Gaussian,
    Particles,
)


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


class Background(AbstractField):
    """A field in the presence of frozen atoms, which stand before all free tokens.

    The tokens of mu move as `field` moves them in the measure (atoms, mu); the atoms
    stand still. With `CausalAttention` this is the system of frozen centers,

    dx_k/dt = P_{x_k} [ (1/Z_k) ( sum_c e^{beta <x_k, c>} c
                                  + sum_{j <= k} e^{beta <x_k, x_j>} x_j ) ].

    `weights` of the atoms are in units in which mu has total mass one; left out, each
    atom weighs 1/n for the n tokens with mass at the start of a flow.
    [karagodin2024causal]

    >>> field = Background(CausalAttention(9.0), Circle().points(jnp.array([0.0, 3.0])))
    >>> mu = Particles(Circle(), Circle().points(jnp.array([0.4])))
    >>> bool(field(0.0, mu).v[0, 1] < 0)  # pulled back to the atom at angle zero
    True
    """

    field: AbstractField
    atoms: Float[Array, "m d"]
    weights: Float[Array, "m"] | None

    def __init__(
        self,
        field: AbstractField,
        atoms: Real[ArrayLike, "m d"] | Sequence,
        weights: Real[ArrayLike, "m"] | Sequence | None = None,
    ):
        if not isinstance(field, AbstractField):
            raise InputError(
                f"`field` must be a field such as CausalAttention(9.0), got {field!r}."
            )
        self.field = field
        self.atoms = as_float_array("atoms", atoms)
        if self.atoms.ndim != 2 or len(self.atoms) == 0:
            raise InputError(
                f"`atoms` must have shape (m, d), m >= 1, got {self.atoms.shape}."
            )
        check_finite("atoms", self.atoms)
        self.weights = None if weights is None else _masses(weights, len(self.atoms))

    def drive(self, t: Number, mu: Particles) -> Drive:
        """The drive on the free tokens, with the atoms in front of them."""
        return self.field.drive(t, self.joined(mu)).after(len(self.atoms))

    @property
    def ordered(self) -> bool:
        """Whether the field is."""
        return self.field.ordered

    def scaled_drive(
        self, t: Number, mu: Particles, log_unit: Float[Array, ""]
    ) -> Drive:
        """The scaled drive on the free tokens."""
        scaled = self.field.scaled_drive(t, self.joined(mu), log_unit)
        return scaled.after(len(self.atoms))

    def started(self, mu: AbstractMeasure) -> Self:
        """With the weights 1/n of the tokens that have mass now, where none are given.

        Tokens may merge later, or carry no mass: the atoms do not feel that.
        """
        inner = super().started(mu)
        if self.weights is not None or not isinstance(mu, Particles):
            return inner
        none = lambda leaf: leaf is None  # noqa: E731
        return eqx.tree_at(lambda b: b.weights, inner, self._equal(mu), is_leaf=none)

    def joined(self, mu: Particles) -> Particles:
        """Atoms and free tokens as one measure, of mass above one."""
        if self.atoms.shape[1] != mu.d:
            raise InputError(
                f"`atoms` must have {mu.d} coordinates like the tokens, got "
                f"{self.atoms.shape[1]}."
            )
        dtype = mu.points.dtype
        weights = self._equal(mu) if self.weights is None else self.weights
        logs = jnp.log(weights).astype(dtype)
        points = jnp.concatenate([self.atoms.astype(dtype), mu.points])
        return mu.moved(points, jnp.concatenate([logs, mu.log_weights]))

    def _equal(self, mu: Particles) -> Float[Array, "m"]:
        """1/n for every atom, n the number of tokens with mass."""
        n = jnp.sum(mu.log_weights > -jnp.inf, dtype=float)
        return jnp.full(len(self.atoms), 1.0 / n)


def _masses(weights, m: int) -> Float[Array, "m"]:
    w = as_float_array("weights", weights)
    if w.shape != (m,):
        raise InputError(f"`weights` must have shape ({m},), got {w.shape}.")
    check_finite("weights", w)
    if not is_traced(w) and bool((w <= 0).any()):
        raise InputError("`weights` of frozen atoms must be positive.")
    return w
