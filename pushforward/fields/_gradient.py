"""Gradient flows: the field that descends a functional."""

from jaxtyping import Array, Float

from pushforward._shapes import Number
from pushforward.fields._drive import Motion
from pushforward.fields._field import Rule
from pushforward.fields._mean_field import AbstractMeanField, by_quadrature
from pushforward.functionals import AbstractFunctional, AbstractMetric, Wasserstein
from pushforward.measures import AbstractBasis, AbstractMeasure


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
