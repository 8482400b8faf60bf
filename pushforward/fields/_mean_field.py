"""Fields that have a value at every point of space, gradient flows among them: they act
on densities as well as on tokens.
"""

import abc

import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import Number
from pushforward.errors import InputError
from pushforward.fields._drive import Drive, Motion
from pushforward.fields._field import AbstractField, Rule
from pushforward.functionals import AbstractFunctional, AbstractMetric, Wasserstein
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


class GradientFlow(AbstractMeanField):
    """Steepest descent of F in a metric; ascend with `GradientFlow(-F)`.

    Wasserstein: v = -grad dF/dmu. Fisher-Rao: g = -(dF/dmu - mean).

    Unnormalized attention is `GradientFlow(-InteractionEnergy(beta))` up to the factor
    2 beta e^{-beta} of the safe scaling.

    >>> field = GradientFlow(-InteractionEnergy(4.0), Wasserstein())
    """

    F: AbstractFunctional
    metric: AbstractMetric = Wasserstein()

    def at(
        self, t: Number, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """The velocity of mass at x, before projection."""
        return self.metric.velocity(self.F, x, mu)

    def growth(self, t: Number, mu: AbstractMeasure) -> Float[Array, "n"] | None:
        """The growth rate of mass at every point of mu."""
        return self.metric.growth(self.F, mu)

    @property
    def isotropic(self) -> bool:
        """Whether the functional and the metric are."""
        return self.F.isotropic and self.metric.isotropic

    def on_density(self, basis: AbstractBasis) -> Rule:
        """-grad dF/dmu by modes, where the variation has them; else by quadrature."""
        modes = self.F.variation_modes(basis)
        if modes is None or not isinstance(self.metric, Wasserstein):
            return by_quadrature(self, basis)
        return lambda t, rho: Motion(-basis.gradient(modes * rho.coefficients), None)
