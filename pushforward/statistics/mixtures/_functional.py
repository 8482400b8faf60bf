"""The mixture likelihood as a functional, ready for `flow(GradientFlow(...))`."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward.errors import InputError
from pushforward.functionals import AbstractFunctional
from pushforward.measures import AbstractMeasure, Particles
from pushforward.statistics.mixtures._descent import (
    log_likelihood_loss,
    squared_distances,
)
from pushforward.statistics.mixtures._whitening import as_data, as_sample


class MixtureLikelihood(AbstractFunctional):
    """l(rho) = -mean_i log (rho * phi)(X_i), phi the standard Gaussian density.

    Its first variation is -D(x) = -mean_i phi(x - X_i) / f(X_i). The Wasserstein
    gradient flow moves atoms, the Fisher-Rao flow reweights them, and the
    Wasserstein-Fisher-Rao flow does both: in time t it goes where t / eta steps of
    `wfr(..., eta)` go, up to O(eta). The noise has unit covariance: whiten first.

    >>> import numpy as np
    >>> from pushforward import Euclidean, GradientFlow, Particles, WassersteinFisherRao
    >>> x = np.array([[-2.0], [2.0]])
    >>> field = GradientFlow(MixtureLikelihood(x), WassersteinFisherRao())

    [yan2024npmle]
    """

    data: Float[Array, "n d"]
    weights: Float[Array, "n"]

    def __init__(
        self,
        data: Float[np.ndarray, "n d"],
        weights: Float[np.ndarray, "n"] | None = None,
    ):
        sample, _ = as_sample(as_data("data", data, None), weights)
        self.data = jnp.asarray(sample.points)
        self.weights = jnp.asarray(sample.weights)

    def __call__(self, mu: Particles) -> Float[Array, ""]:
        """l(mu)."""
        return log_likelihood_loss(self.data, self.weights, (mu.points, mu.weights))

    def variation(
        self, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m"]:
        """-D(x); int D dmu = 1 always, and D <= 1 everywhere at the optimum."""
        if not isinstance(mu, Particles):
            raise InputError(
                f"`mu` must be Particles, got {type(mu).__name__}; a mixing law "
                "is discrete."
            )
        logs = -0.5 * squared_distances(self.data, mu.points)
        top = jnp.max(logs, axis=1)
        f = jnp.exp(logs - top[:, None]) @ mu.weights
        ratio = jnp.log(self.weights) - top - jnp.log(f)
        seen = -0.5 * squared_distances(self.data, x) + ratio[:, None]
        return -jnp.sum(jnp.exp(seen), axis=0)
