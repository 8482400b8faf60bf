"""Frozen tokens: they pull the free ones and do not move."""

from collections.abc import Sequence
from typing import Self

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Real

from pushforward._checks import as_float_array, check_finite, is_traced
from pushforward._shapes import Number
from pushforward.errors import InputError
from pushforward.fields._drive import Drive
from pushforward.fields._field import AbstractField
from pushforward.measures import AbstractMeasure, Particles


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
