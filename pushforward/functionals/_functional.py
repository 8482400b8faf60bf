"""What a functional is: a number for every measure, with a first variation."""

from __future__ import annotations

import abc
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float

from pushforward._checks import listed, scalar
from pushforward._printing import shown
from pushforward.errors import InputError
from pushforward.measures import AbstractMeasure


class AbstractFunctional(eqx.Module):
    """F(mu), and dF/dmu as a function of a point.

    Every functional is an observable: call it on a measure. Along a curve of measures,
    d/dt F(mu) = int (dF/dmu) d(d mu/dt).
    """

    __repr__ = shown

    @abc.abstractmethod
    def __call__(self, mu: Any) -> Float[Array, ""]:
        """F(mu)."""

    @abc.abstractmethod
    def variation(self, x: Float[Array, "m d"], mu: AbstractMeasure) -> Array:
        """The first variation dF/dmu at the points x."""

    def gradient(self, x: Float[Array, "m d"], mu: AbstractMeasure) -> Array:
        """grad_x dF/dmu at the points x, in the ambient space, before projection."""
        total = lambda points: self.variation(points, mu).sum()  # noqa: E731
        return jax.grad(total)(x)

    def __add__(self, other: AbstractFunctional) -> FunctionalSum:
        return FunctionalSum((self, other))

    def __mul__(self, c) -> FunctionalMultiple:
        return FunctionalMultiple(c, self)

    def __rmul__(self, c) -> FunctionalMultiple:
        return FunctionalMultiple(c, self)

    def __neg__(self) -> FunctionalMultiple:
        return FunctionalMultiple(-1.0, self)


def _terms(terms) -> tuple["AbstractFunctional", ...]:
    found = listed("terms", terms, "functionals")
    if not found or not all(isinstance(F, AbstractFunctional) for F in found):
        raise InputError(
            f"`terms` must be a non-empty list of functionals, got {found!r}. "
            "For example [InteractionEnergy(2.0)]."
        )
    return found


class FunctionalSum(AbstractFunctional):
    """F_1 + F_2 + ..."""

    terms: tuple[AbstractFunctional, ...] = eqx.field(converter=_terms)

    def __call__(self, mu: Any) -> Float[Array, ""]:
        """The sum of the values."""
        values = [F(mu) for F in self.terms]
        return sum(values[1:], values[0])

    def variation(self, x, mu: AbstractMeasure) -> Array:
        """The sum of the variations."""
        values = [F.variation(x, mu) for F in self.terms]
        return sum(values[1:], values[0])


class FunctionalMultiple(AbstractFunctional):
    """c F."""

    c: Float[Array, ""]
    F: AbstractFunctional

    def __init__(self, c, F: AbstractFunctional):
        self.c = scalar("c", c)
        self.F = F

    def __call__(self, mu: Any) -> Float[Array, ""]:
        """c F(mu)."""
        value = self.F(mu)
        return self.c.astype(value.dtype) * value

    def variation(self, x, mu: AbstractMeasure) -> Array:
        """c dF/dmu."""
        value = self.F.variation(x, mu)
        return self.c.astype(value.dtype) * value
