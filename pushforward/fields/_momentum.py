"""Fields with momentum: the drive is a force, and tokens have velocities.

D_t v_i = -a(t) v_i + P_{x_i} A_i, dx_i/dt = v_i, with D_t the derivative along the
space: on the sphere x'' = -|v|^2 x - a v + P_x A. Under unnormalized attention
(1/2) mean |v_i|^2 less the energy E_beta falls at the rate a mean |v_i|^2.
[zimin2026yuriiformer]
"""

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import Number, as_float_array, is_traced, positive
from pushforward._printing import shown
from pushforward.errors import InputError
from pushforward.fields._drive import Drive
from pushforward.fields._field import AbstractField
from pushforward.measures import Particles
from pushforward.spaces import TangentBundle


class AbstractFriction(eqx.Module):
    """How velocities are slowed."""

    __repr__ = shown

    @abc.abstractmethod
    def slowed(
        self, t: Number, v: Float[Array, "n d"], force: Float[Array, "n d"]
    ) -> Float[Array, "n d"]:
        """force - a(t) v."""


class Friction(AbstractFriction):
    """A constant a >= 0: the heavy ball. Without friction a = 0.

    >>> field = Momentum(Attention(3.0), Friction(2.0))
    """

    a: Float[Array, ""]

    def __init__(self, a: Number):
        self.a = as_float_array("a", a)
        if self.a.ndim or not (is_traced(self.a) or 0 <= float(self.a) < jnp.inf):
            raise InputError(f"`a` must be a number of at least 0, got {a!r}.")

    def slowed(
        self, t: Number, v: Float[Array, "n d"], force: Float[Array, "n d"]
    ) -> Float[Array, "n d"]:
        """force - a v."""
        return force - self.a.astype(v.dtype) * v


class Nesterov(AbstractFriction):
    """Friction r / t that dies out with time; r = 3 is Nesterov's own.

    Tokens start at rest at t = 0, where the friction is r / (1 + r) of the force.

    >>> field = Momentum(Attention(3.0), Nesterov())
    """

    r: Float[Array, ""]

    def __init__(self, r: Number = 3.0):
        self.r = positive("r", r, "Without friction use Friction(0.0).")

    def slowed(
        self, t: Number, v: Float[Array, "n d"], force: Float[Array, "n d"]
    ) -> Float[Array, "n d"]:
        """force - (r / t) v."""
        t, r = jnp.asarray(t).astype(v.dtype), self.r.astype(v.dtype)
        later = t > 0
        friction = r / jnp.where(later, t, 1.0) * v
        return force - jnp.where(later, friction, r / (1 + r) * force)


class Momentum(AbstractField):
    """A field as a force on tokens with velocities: particles on a `TangentBundle`.

    `at_rest(mu)` gives tokens their first velocities, `positions` takes them away.
    Under `MomentumLayers` the field is that of a Transformer with momentum.

    >>> mu = at_rest(Particles.orthonormal(Sphere(2), 2))
    >>> run = flow(Momentum(Attention(1.0), Friction(0.0)), mu, 1.0)
    >>> positions(run.final)
    Particles(n=2, Sphere(2))
    """

    field: AbstractField
    friction: AbstractFriction

    def __init__(self, field: AbstractField, friction: AbstractFriction = Nesterov()):
        if not isinstance(field, AbstractField):
            raise InputError(
                f"`field` must be a field such as Attention(9.0), got {field!r}."
            )
        if not isinstance(friction, AbstractFriction):
            raise InputError(
                f"`friction` must be Friction(a) or Nesterov(r), got {friction!r}."
            )
        self.field, self.friction = field, friction

    def drive(self, t: Number, mu: Particles) -> Drive:
        """v on the places, force less friction on the velocities."""
        tokens = positions(mu)
        velocity = mu.points[:, tokens.d :]
        force, growth = self.field(t, tokens)
        change = self.friction.slowed(t, velocity, force)
        vector = jnp.concatenate([velocity, change], axis=1)
        return Drive(vector, growth=growth)

    @property
    def ordered(self) -> bool:
        """Whether the field is."""
        return self.field.ordered


def at_rest(mu: Particles) -> Particles:
    """The same tokens with velocities, all zero: a measure for `Momentum`."""
    if not isinstance(mu, Particles) or isinstance(mu.space, TangentBundle):
        raise InputError(f"`mu` must be Particles without velocities, got {mu!r}.")
    still = jnp.concatenate([mu.points, jnp.zeros_like(mu.points)], axis=1)
    return Particles(TangentBundle(mu.space), still).moved(still, mu.log_weights)


def positions(mu: Particles) -> Particles:
    """The tokens without their velocities."""
    if not isinstance(mu, Particles) or not isinstance(mu.space, TangentBundle):
        raise InputError(
            f"`mu` must be Particles on a TangentBundle, got {mu!r}. Start from "
            "at_rest(mu)."
        )
    places = mu.points[:, : mu.space.base.d]
    blank = Particles(mu.space.base, mu.space.base.project(places))
    return blank.moved(places, mu.log_weights)
