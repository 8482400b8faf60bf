"""What a field is: the rule (t, mu) -> (v, g) that moves a measure."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Sequence
from typing import Self

import equinox as eqx
import jax
from jaxtyping import Array, Float

from pushforward._checks import Number, listed, scalar
from pushforward._printing import shown
from pushforward.errors import InputError
from pushforward.fields._drive import (
    Affine,
    Drive,
    GaussianRule,
    Motion,
    added,
    added_affine,
    added_motions,
    divided,
    multiplied,
    multiplied_motion,
)
from pushforward.measures import (
    AbstractBasis,
    AbstractMeasure,
    Gaussian,
    Particles,
)

Rule = Callable[..., Motion]  # (t, rho) -> Motion on the grid of a basis


class AbstractField(eqx.Module):
    """A rule d/dt mu + div(mu v) = mu g with (v, g) = field(t, mu).

    A field implements `drive`; a field with a value at every point of space is an
    `AbstractMeanField` and implements `at` instead. Everything else has a default that
    claims nothing: override what your field can do.
    """

    __repr__ = shown

    @abc.abstractmethod
    def drive(self, t: Number, mu: Particles) -> Drive:
        """What drives every particle of mu at time t, before projection."""

    def __call__(self, t: Number, mu: Particles) -> Motion:
        """Tangent velocity and growth at every particle."""
        drive = self.drive(t, mu).like(mu.points)
        return Motion(
            mu.space.tangent(mu.points, drive.beside_normal(mu)), drive.growth
        )

    @property
    def ordered(self) -> bool:
        """Whether the order of the tokens matters, so that `merge` cannot join them.

        True unless a field says otherwise: it may.
        """
        return True

    @property
    def isotropic(self) -> bool:
        """Whether the field commutes with all rotations and reflections of R^d.

        And depends on d in no other way: n < d tokens then never leave their span, so
        that `flow` may work in R^n. False unless a field says so.
        """
        return False

    @property
    def resolved_until(self) -> float:
        """The time after which double precision no longer resolves the field."""
        return min((part.resolved_until for part in _parts(self)), default=math.inf)

    def scaled_drive(
        self, t: Number, mu: Particles, log_unit: Float[Array, ""]
    ) -> Drive:
        """The drive over e^{log_unit}, growth too, for drifts that float64 cannot hold.

        Sums of exponentials divide in the exponent, so that a drift of e^{-2000} comes
        out as a number of order one. An infinite entry says that the unit is too small.
        """
        return divided(self.drive(t, mu), log_unit)

    def on_density(self, basis: AbstractBasis) -> Rule:
        """The rule (t, rho) -> Motion on the grid, with v in the frame of the basis.

        What depends on the field alone is computed once, here.
        """
        raise InputError(
            f"`field` must be a mean field on a density, got {type(self).__name__}: it "
            "has a value at its tokens only. Use Particles, for example "
            "rho.sample(key, n)."
        )

    def on_gaussian(self, t: Number, mu: Gaussian) -> Affine:
        """The affine velocity x -> B x + c that the field is in the presence of mu.

        Override it where the field is affine there, and only there: a law that the
        velocity bends does not stay Gaussian.
        """
        raise InputError(
            f"`field` must be affine on a Gaussian, got {type(self).__name__}, which "
            "is not known to keep one Gaussian. Use Particles, for example "
            "mu.sample(key, n)."
        )

    def gaussian_rule(self) -> GaussianRule:
        """The rule (t, mu) -> Motion of the center and the factor of a Gaussian."""
        return GaussianRule(self)

    def attention_matrix(self, t: Number, mu: Particles) -> Float[Array, "n n"]:
        """A_ij, the share of its attention that token i pays to token j.

        Rows sum to one; that of a token which sees no mass is zero.
        """
        raise InputError(
            f"`field` must have an attention matrix, got {type(self).__name__}. Heads "
            "have one each, as Attention(9.0) has."
        )

    def switch_times(self) -> list[Float[Array, "k"]]:
        """The times at which the field jumps: `flow` never steps across one."""
        return [times for part in _parts(self) for times in part.switch_times()]

    def before(self, t_end: Float[Array, ""]) -> Self:
        """The field on an interval that ends at t_end: later switches are out of sight.

        The last stage of a step that ends at a switch would otherwise see what follows.
        """
        return _mapped(self, lambda part: part.before(t_end))

    def started(self, mu: AbstractMeasure) -> Self:
        """The field with all that it takes from the initial measure mu made fixed."""
        return _mapped(self, lambda part: part.started(mu))

    def sublayers(self) -> tuple[AbstractField, ...]:
        """The terms that `Layers` and `LieTrotter` apply one after the other."""
        return (self,)

    def __add__(self, other: AbstractField) -> Sum:
        return Sum([*_terms(self), *_terms(other)])

    def __sub__(self, other: AbstractField) -> Sum:
        return self + (-1.0) * other

    def __mul__(self, c: Number) -> Multiple:
        return Multiple(c, self)

    def __rmul__(self, c: Number) -> Multiple:
        return Multiple(c, self)

    def __neg__(self) -> Multiple:
        return Multiple(-1.0, self)


class AbstractSeveral(AbstractField):
    """Fields that act together: ordered if any is, isotropic if all are."""

    @property
    def ordered(self) -> bool:
        """Whether any of them is."""
        return any(part.ordered for part in _parts(self))

    @property
    def isotropic(self) -> bool:
        """Whether all of them are."""
        return all(part.isotropic for part in _parts(self))


class Sum(AbstractSeveral):
    """Fields that act at the same time: their drives and growth rates add.

    `field + field` makes one. Under `Layers` the terms are the sublayers of a block,
    applied one after the other.
    """

    fields: tuple[AbstractField, ...]

    def __init__(self, fields: Sequence):
        self.fields = listed("fields", fields, "fields")
        if not self.fields or not all(
            isinstance(f, AbstractField) for f in self.fields
        ):
            raise InputError(
                f"`fields` must be a non-empty list of fields, got {self.fields!r}."
            )

    def drive(self, t: Number, mu: Particles) -> Drive:
        """The sum of the drives."""
        return added([field.drive(t, mu) for field in self.fields])

    def scaled_drive(
        self, t: Number, mu: Particles, log_unit: Float[Array, ""]
    ) -> Drive:
        """The sum of the scaled drives."""
        return added([field.scaled_drive(t, mu, log_unit) for field in self.fields])

    def on_density(self, basis: AbstractBasis) -> Rule:
        """The sum of the rules of its terms."""
        return added_rules([field.on_density(basis) for field in self.fields])

    def on_gaussian(self, t: Number, mu: Gaussian) -> Affine:
        """The sum of the velocities of its terms."""
        return added_affine([field.on_gaussian(t, mu) for field in self.fields])

    def sublayers(self) -> tuple[AbstractField, ...]:
        """The sublayers of all terms, in order."""
        return tuple(layer for field in self.fields for layer in field.sublayers())


class Multiple(AbstractField):
    """c times a field, growth included; a negative c turns attraction into repulsion.

    Under `Layers`, c (A + B) has the sublayers c A and c B.
    """

    c: Float[Array, ""]
    field: AbstractField

    def __init__(self, c: Number, field: AbstractField):
        if not isinstance(field, AbstractField):
            raise InputError(f"`field` must be a field, got {field!r}.")
        self.c = scalar("c", c)
        self.field = field

    def drive(self, t: Number, mu: Particles) -> Drive:
        """c times the drive."""
        return multiplied(self.c, self.field.drive(t, mu))

    @property
    def ordered(self) -> bool:
        """Whether the field is."""
        return self.field.ordered

    @property
    def isotropic(self) -> bool:
        """Whether the field is."""
        return self.field.isotropic

    def scaled_drive(
        self, t: Number, mu: Particles, log_unit: Float[Array, ""]
    ) -> Drive:
        """c times the scaled drive."""
        return multiplied(self.c, self.field.scaled_drive(t, mu, log_unit))

    def on_density(self, basis: AbstractBasis) -> Rule:
        """c times the rule of the field."""
        rule = self.field.on_density(basis)
        return lambda t, rho: multiplied_motion(self.c, rule(t, rho))

    def on_gaussian(self, t: Number, mu: Gaussian) -> Affine:
        """c times the velocity of the field."""
        return self.field.on_gaussian(t, mu).times(self.c)

    def sublayers(self) -> tuple[AbstractField, ...]:
        """c times every sublayer of the field."""
        return tuple(Multiple(self.c, layer) for layer in self.field.sublayers())


def added_rules(rules: list[Rule]) -> Rule:
    """The sum of rules on densities."""
    return lambda t, rho: added_motions([rule(t, rho) for rule in rules])


def _terms(field: AbstractField) -> list[AbstractField]:
    return list(field.fields) if isinstance(field, Sum) else [field]


def _parts(field: AbstractField) -> list[AbstractField]:
    """The fields that a field is made of, one level down."""
    inside = lambda leaf: isinstance(leaf, AbstractField) and leaf is not field  # noqa: E731
    return [f for f in jax.tree_util.tree_leaves(field, is_leaf=inside) if inside(f)]


def _mapped(field: AbstractField, change: Callable):
    """The same field with its parts changed."""
    inside = lambda leaf: isinstance(leaf, AbstractField) and leaf is not field  # noqa: E731
    new = lambda leaf: change(leaf) if inside(leaf) else leaf  # noqa: E731
    return jax.tree_util.tree_map(new, field, is_leaf=inside)
