"""What a functional is: a number for every measure, with a first variation."""

from __future__ import annotations

import abc
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float

from pushforward._checks import Number, listed, scalar
from pushforward._printing import shown
from pushforward.errors import InputError
from pushforward.functionals._frank_wolfe import AbstractProblem
from pushforward.measures import AbstractBasis, AbstractMeasure
from pushforward.spaces import AbstractSpace


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
    def variation(
        self, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m"]:
        """The first variation dF/dmu at the points x."""

    def gradient(
        self, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """grad_x dF/dmu at the points x, in the ambient space, before projection."""
        total = lambda points: self.variation(points, mu).sum()  # noqa: E731
        return jax.grad(total)(x)

    @property
    def isotropic(self) -> bool:
        """Whether F is the same after every rotation or reflection, in every R^d.

        False unless a functional says so.
        """
        return False

    def variation_modes(self, basis: AbstractBasis) -> Float[Array, "j"] | None:
        """m with dF/dmu = sum_j m_j c_j phi_j for a density sum_j c_j phi_j.

        None where there is no such m, or none is known.
        """
        return None

    def problem(self, space: AbstractSpace) -> AbstractProblem | None:
        """How `minimize` solves for the best measure on a space, if F says so itself.

        None for sums of energies and potentials, which `minimize` takes apart.
        """
        return None

    def __add__(self, other: AbstractFunctional) -> FunctionalSum:
        return FunctionalSum((self, other))

    def __mul__(self, c: Number) -> FunctionalMultiple:
        return FunctionalMultiple(c, self)

    def __rmul__(self, c: Number) -> FunctionalMultiple:
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

    def variation(
        self, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m"]:
        """The sum of the variations."""
        values = [F.variation(x, mu) for F in self.terms]
        return sum(values[1:], values[0])

    @property
    def isotropic(self) -> bool:
        """Whether all terms are."""
        return all(F.isotropic for F in self.terms)

    def variation_modes(self, basis: AbstractBasis) -> Float[Array, "j"] | None:
        """The sum, where every term has them."""
        parts = [F.variation_modes(basis) for F in self.terms]
        known = [part for part in parts if part is not None]
        return sum(known[1:], known[0]) if len(known) == len(parts) else None


class FunctionalMultiple(AbstractFunctional):
    """c F."""

    c: Float[Array, ""]
    F: AbstractFunctional

    def __init__(self, c: Number, F: AbstractFunctional):
        self.c = scalar("c", c)
        self.F = F

    def __call__(self, mu: Any) -> Float[Array, ""]:
        """c F(mu)."""
        value = self.F(mu)
        return self.c.astype(value.dtype) * value

    def variation(
        self, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m"]:
        """c dF/dmu."""
        value = self.F.variation(x, mu)
        return self.c.astype(value.dtype) * value

    @property
    def isotropic(self) -> bool:
        """Whether F is."""
        return self.F.isotropic

    def variation_modes(self, basis: AbstractBasis) -> Float[Array, "j"] | None:
        """c times those of F."""
        modes = self.F.variation_modes(basis)
        return None if modes is None else self.c * modes
