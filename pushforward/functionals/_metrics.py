"""Metrics on measures: what turns a first variation into a motion."""

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import positive, scalar
from pushforward._printing import shown
from pushforward.functionals._functional import AbstractFunctional
from pushforward.functionals._interaction import InteractionEnergy
from pushforward.measures import AbstractMeasure, Particles


class AbstractMetric(eqx.Module):
    """How steepest descent is measured."""

    __repr__ = shown

    @abc.abstractmethod
    def velocity(
        self, F: AbstractFunctional, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """The direction in which mass at x descends F, before projection."""

    @abc.abstractmethod
    def growth(self, F: AbstractFunctional, mu: Particles) -> Array | None:
        """The rate at which the weights change, or None if mass is kept."""


class Wasserstein(AbstractMetric):
    """Optimal transport: v = -grad dF/dmu."""

    def velocity(self, F, x, mu):
        """-grad dF/dmu."""
        return -F.gradient(x, mu)

    def growth(self, F, mu):
        """None: mass is kept."""
        return None


class FisherRao(AbstractMetric):
    """Reweighting: g = -(dF/dmu - mean). Particles stand still."""

    def velocity(self, F, x, mu):
        """Zero."""
        return jnp.zeros_like(x)

    def growth(self, F, mu):
        """-(dF/dmu - int dF/dmu dmu)."""
        return _fisher_rao_growth(F, mu)


class WassersteinFisherRao(AbstractMetric):
    """Transport and reweighting together, with relative speeds.

    v = -transport * grad dF/dmu, g = -reaction * (dF/dmu - mean).
    """

    transport: Float[Array, ""]
    reaction: Float[Array, ""]

    def __init__(self, transport=1.0, reaction=1.0):
        self.transport = positive("transport", transport, "For none use FisherRao().")
        self.reaction = positive("reaction", reaction, "For none use Wasserstein().")

    def velocity(self, F, x, mu):
        """-transport * grad dF/dmu."""
        return -self.transport * F.gradient(x, mu)

    def growth(self, F, mu):
        """-reaction * (dF/dmu - mean)."""
        return self.reaction * _fisher_rao_growth(F, mu)


class SoftmaxWeighted(AbstractMetric):
    """The metric in which softmax attention is a gradient flow.

    |grad psi|^2 is weighted by Z(x) = int e^{beta <x,y> - |beta|} dmu(y), so
    v = -(1/Z) grad dF/dmu. [geshkovski2023perspective, section 3]
    """

    beta: Float[Array, ""]

    def __init__(self, beta):
        self.beta = scalar("beta", beta)

    def velocity(self, F, x, mu):
        """-(1/Z) grad dF/dmu."""
        Z = InteractionEnergy(self.beta).variation(x, mu) / 2
        return -F.gradient(x, mu) / Z[:, None]

    def growth(self, F, mu):
        """None: mass is kept."""
        return None


def _fisher_rao_growth(F: AbstractFunctional, mu: Particles) -> Array:
    variation = F.variation(mu.points, mu)
    return -(variation - mu.weights @ variation)
