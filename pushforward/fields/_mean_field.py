"""Fields that have a value at every point of space: they act on densities, too."""

import abc

import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._shapes import Number
from pushforward.errors import InputError
from pushforward.fields._drive import Drive, Motion
from pushforward.fields._field import AbstractField, Rule
from pushforward.measures import (
    AbstractBasis,
    AbstractMeasure,
    Density,
    Particles,
    Zonal,
)


class AbstractMeanField(AbstractField):
    """A field that has a value at every point of space, not only at its particles.

    Written by `at`, and `growth` if mass is not kept; the rest follows from these.
    """

    @abc.abstractmethod
    def at(
        self, t: Number, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """What drives a particle at x in the presence of mu, before projection."""

    def growth(self, t: Number, mu: AbstractMeasure) -> Float[Array, "n"] | None:
        """The growth rate of mass at every point of mu; None where mass is kept."""
        return None

    def drive(self, t: Number, mu: Particles) -> Drive:
        """The values at the particles themselves."""
        return Drive(self.at(t, mu.points, mu), growth=self.growth(t, mu))

    @property
    def ordered(self) -> bool:
        """Never: a measure has no order."""
        return False

    def on_density(self, basis: AbstractBasis) -> Rule:
        """The values on the grid, in the presence of the grid as weighted particles."""
        return by_quadrature(self, basis)


def by_quadrature(field: AbstractMeanField, basis: AbstractBasis) -> Rule:
    """A mean field evaluated with the grid as weighted particles, growth included."""
    if isinstance(basis, Zonal):
        raise InputError(
            f"`field` must keep a zonal density zonal, got {field!r}: only attention "
            "without Q, K, V and flows of InteractionEnergy are known to. Use "
            "Density.uniform(Sphere(3), resolution), or Particles."
        )
    points, frame = jnp.asarray(basis.points), jnp.asarray(basis.frame)

    def motion(t, rho: Density) -> Motion:
        mu = rho.quadrature()
        vector = field.at(t, points, mu)
        return Motion(jnp.einsum("nqd,nd->nq", frame, vector), field.growth(t, mu))

    return motion
