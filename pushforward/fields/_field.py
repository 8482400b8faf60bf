"""What a field is: the rule (t, mu) -> (v, g) that moves a measure."""

from __future__ import annotations

import abc
from typing import NamedTuple

import equinox as eqx
from jaxtyping import Array, Float

from pushforward._checks import listed, scalar
from pushforward._printing import shown
from pushforward.errors import InputError
from pushforward.measures import AbstractMeasure, Particles
from pushforward.spaces import AbstractSpace, Circle, Sphere


class Motion(NamedTuple):
    """Velocity of every particle and growth rate of its weight (None: no growth)."""

    v: Float[Array, "n d"]
    g: Float[Array, "n"] | None


class Drive(NamedTuple):
    """The push on every particle before it is made tangent: across_i + along_i x_i.

    A multiple of x_i has no tangent part; keeping it apart saves the digits that its
    projection would cost. `along` None means zero; `growth` None means mass is kept.
    """

    across: Float[Array, "n d"]
    along: Float[Array, "n"] | None = None
    growth: Float[Array, "n"] | None = None


class AbstractField(eqx.Module):
    """A rule d/dt mu + div(mu v) = mu g with (v, g) = field(t, mu)."""

    __repr__ = shown

    @abc.abstractmethod
    def drive(self, t: Float[Array, ""], mu: Particles) -> Drive:
        """The push on every particle of mu at time t, before projection."""

    def __call__(self, t, mu: Particles) -> Motion:
        """Tangent velocity and growth at every particle."""
        across, along, growth = self.drive(t, mu)
        if along is not None and not kills_radial(mu.space):
            across = across + along[:, None] * mu.points
        return Motion(mu.space.tangent(mu.points, across), growth)

    def __add__(self, other: AbstractField) -> Sum:
        return Sum([*_terms(self), *_terms(other)])

    def __sub__(self, other: AbstractField) -> Sum:
        return self + (-1.0) * other

    def __mul__(self, c) -> Multiple:
        return Multiple(c, self)

    def __rmul__(self, c) -> Multiple:
        return Multiple(c, self)

    def __neg__(self) -> Multiple:
        return Multiple(-1.0, self)


def kills_radial(space: AbstractSpace) -> bool:
    """Whether a multiple of x is normal to the space at x."""
    return isinstance(space, Sphere | Circle)


class AbstractMeanField(AbstractField):
    """A field that has a value at every point of space, not only at its particles."""

    @abc.abstractmethod
    def at(self, t, x: Float[Array, "m d"], mu: AbstractMeasure) -> Float[Array, "m d"]:
        """The push felt at x in the presence of mu, before projection."""


def _terms(field: AbstractField) -> list[AbstractField]:
    return list(field.fields) if isinstance(field, Sum) else [field]


class Sum(AbstractField):
    """Fields that act at the same time: their pushes add.

    `field + field` makes one. Under `Layers` the terms are the sublayers of a block,
    applied one after the other.
    """

    fields: tuple[AbstractField, ...]

    def __init__(self, fields):
        self.fields = listed("fields", fields, "fields")
        if not self.fields or not all(
            isinstance(f, AbstractField) for f in self.fields
        ):
            raise InputError(
                f"`fields` must be a non-empty list of fields, got {self.fields!r}."
            )

    def drive(self, t, mu: Particles) -> Drive:
        """The sum of the drives."""
        drives = [field.drive(t, mu) for field in self.fields]
        across = sum((drive.across for drive in drives[1:]), drives[0].across)
        along = _sum_or_none([drive.along for drive in drives])
        growth = _sum_or_none([drive.growth for drive in drives])
        return Drive(across, along, growth)


class Multiple(AbstractField):
    """c times a field; a negative c turns attraction into repulsion."""

    c: Float[Array, ""]
    field: AbstractField

    def __init__(self, c, field: AbstractField):
        if not isinstance(field, AbstractField):
            raise InputError(f"`field` must be a field, got {field!r}.")
        self.c = scalar("c", c)
        self.field = field

    def drive(self, t, mu: Particles) -> Drive:
        """c times the drive."""
        across, along, growth = self.field.drive(t, mu)
        c = self.c.astype(across.dtype)
        along = None if along is None else c * along
        growth = None if growth is None else c * growth
        return Drive(c * across, along, growth)


def _sum_or_none(parts: list) -> Array | None:
    present = [part for part in parts if part is not None]
    return sum(present[1:], present[0]) if present else None
