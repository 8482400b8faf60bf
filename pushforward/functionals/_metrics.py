"""Metrics on measures: what turns a first variation into a motion."""

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import Number, positive, scalar
from pushforward._printing import shown
from pushforward.functionals._functional import AbstractFunctional
from pushforward.functionals._interaction import InteractionEnergy
from pushforward.measures import AbstractMeasure


class AbstractMetric(eqx.Module):
    """How steepest descent is measured."""

    __repr__ = shown

    @abc.abstractmethod
    def velocity(
        self, F: AbstractFunctional, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """The direction in which mass at x descends F, before projection."""

    @abc.abstractmethod
    def growth(self, F: AbstractFunctional, mu: AbstractMeasure) -> Array | None:
        """The rate at which the weights change, or None if mass is kept."""

    @property
    def isotropic(self) -> bool:
        """Whether no direction is special. False unless a metric says so."""
        return False


class Wasserstein(AbstractMetric):
    """Optimal transport: v = -grad dF/dmu."""

    def velocity(
        self, F: AbstractFunctional, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """-grad dF/dmu."""
        return -F.gradient(x, mu)

    def growth(self, F: AbstractFunctional, mu: AbstractMeasure) -> None:
        """None: mass is kept."""
        return None

    @property
    def isotropic(self) -> bool:
        """Yes."""
        return True


class FisherRao(AbstractMetric):
    """Reweighting: g = -(dF/dmu - mean). Particles stand still."""

    def velocity(
        self, F: AbstractFunctional, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """Zero."""
        return jnp.zeros_like(x)

    def growth(self, F: AbstractFunctional, mu: AbstractMeasure) -> Float[Array, "n"]:
        """-(dF/dmu - int dF/dmu dmu)."""
        return _fisher_rao_growth(F, mu)

    @property
    def isotropic(self) -> bool:
        """Yes."""
        return True


class WassersteinFisherRao(AbstractMetric):
    """Transport and reweighting together, with relative speeds.

    v = -transport * grad dF/dmu, g = -reaction * (dF/dmu - mean).
    """

    transport: Float[Array, ""]
    reaction: Float[Array, ""]

    def __init__(self, transport: Number = 1.0, reaction: Number = 1.0):
        self.transport = positive("transport", transport, "For none use FisherRao().")
        self.reaction = positive("reaction", reaction, "For none use Wasserstein().")

    def velocity(
        self, F: AbstractFunctional, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """-transport * grad dF/dmu."""
        return -self.transport.astype(x.dtype) * F.gradient(x, mu)

    def growth(self, F: AbstractFunctional, mu: AbstractMeasure) -> Float[Array, "n"]:
        """-reaction * (dF/dmu - mean)."""
        return self.reaction.astype(mu.points.dtype) * _fisher_rao_growth(F, mu)

    @property
    def isotropic(self) -> bool:
        """Yes."""
        return True


class SoftmaxWeighted(AbstractMetric):
    """The metric in which softmax attention is a gradient flow.

    |grad psi|^2 is weighted by Z(x) = int e^{beta <x,y> - |beta|} dmu(y), so
    v = -(1/Z) grad dF/dmu. [geshkovski2023perspective, section 3]
    """

    beta: Float[Array, ""]

    def __init__(self, beta: Number):
        self.beta = scalar("beta", beta)

    def velocity(
        self, F: AbstractFunctional, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """-(1/Z) grad dF/dmu."""
        Z = InteractionEnergy(self.beta).variation(x, mu) / 2
        return -F.gradient(x, mu) / Z[:, None]

    def growth(self, F: AbstractFunctional, mu: AbstractMeasure) -> None:
        """None: mass is kept."""
        return None

    @property
    def isotropic(self) -> bool:
        """Yes."""
        return True


def _fisher_rao_growth(F: AbstractFunctional, mu: AbstractMeasure) -> Array:
    variation = F.variation(mu.points, mu)
    return -(variation - mu.weights @ variation)
