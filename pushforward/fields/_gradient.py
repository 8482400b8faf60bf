"""Gradient flows: the field that descends a functional."""

from jaxtyping import Array, Float

from pushforward.fields._field import AbstractMeanField, Drive
from pushforward.functionals import AbstractFunctional, AbstractMetric, Wasserstein
from pushforward.measures import AbstractMeasure, Particles


class GradientFlow(AbstractMeanField):
    """Steepest descent of F in a metric; ascend with `GradientFlow(-F)`.

    Wasserstein: v = -grad dF/dmu. Fisher-Rao: g = -(dF/dmu - mean).

    Unnormalized attention is `GradientFlow(-InteractionEnergy(beta))` up to the factor
    2 beta e^{-beta} of the safe scaling.

    >>> field = GradientFlow(-InteractionEnergy(4.0), Wasserstein())
    """

    F: AbstractFunctional
    metric: AbstractMetric = Wasserstein()

    def at(self, t, x: Float[Array, "m d"], mu: AbstractMeasure) -> Array:
        """The velocity of mass at x, before projection."""
        return self.metric.velocity(self.F, x, mu)

    def drive(self, t, mu: Particles) -> Drive:
        """The velocity and growth at every particle."""
        across = self.at(t, mu.points, mu)
        return Drive(across, growth=self.metric.growth(self.F, mu))
