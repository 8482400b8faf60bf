"""Transport costs as functionals: their gradient flows are fields like any other.

Functionals lie below transport; this class implements their interface from above, so
that `GradientFlow`, sums and multiples take it without knowing of transport.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import Number, measure, positive, whole
from pushforward.errors import InputError
from pushforward.functionals import AbstractFunctional
from pushforward.measures import AbstractMeasure
from pushforward.spaces import Circle, Sphere
from pushforward.transport.entropic._differentiable import (
    Limits,
    potential_alone,
    potentials,
)
from pushforward.transport.entropic._divergence import debiased
from pushforward.transport.entropic._pairing import squared_pairing
from pushforward.transport.entropic._sinkhorn import Problem, log_of, soft_min


class SinkhornDivergence(AbstractFunctional):
    """F(mu) = S_eps(mu, nu), the Sinkhorn divergence to a measure nu.

    Straight lines are measured, on a sphere chords. The first variation is the
    difference of two potentials, f_{mu nu} - f_{mu mu}, defined at every point; its
    gradient is twice the difference of two means, so that descending F moves every
    point from where mu as a whole would send it to where nu would. The debiased
    barycenter of several measures minimizes a sum of these.

    >>> from pushforward import Euclidean, GradientFlow, Heun, Particles, flow
    >>> mu, nu = (Particles(Euclidean(1), [[z], [z + 1.0]]) for z in (0.0, 5.0))
    >>> field = GradientFlow(SinkhornDivergence(nu, 0.5))
    >>> round(float(flow(field, mu, 5.0, solver=Heun(0.1))[-1].mean()[0]), 2)
    5.5

    [feydy2019interpolating]
    """

    nu: AbstractMeasure
    eps: Float[Array, ""]
    tol: Float[Array, ""]
    iterations: int = eqx.field(static=True)

    def __init__(
        self,
        nu: AbstractMeasure,
        eps: Number,
        *,
        tol: Number = 1e-8,
        iterations: int = 5_000,
    ):
        measure("nu", nu)
        self.nu = nu
        self.eps = positive("eps", eps, "It has the units of squared distances.")
        self.tol = positive("tol", tol, "It bounds the error of the marginals.")
        self.iterations = whole("iterations", iterations, 1)

    def __call__(self, mu: AbstractMeasure) -> Float[Array, ""]:
        """S_eps(mu, nu)."""
        clouds = (mu.points, self.nu.points, mu.weights, self.nu.weights)
        return debiased(*clouds, self.eps, self.limits, self._unit(mu))[0]

    def variation(
        self, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m"]:
        """f_{mu nu}(x) - f_{mu mu}(x), extended to all points by their equations."""
        eps, unit = self.eps, self._unit(mu)
        parts = []
        for cloud, potential in self._seen(mu):
            pairing = squared_pairing(x, cloud.points, unit=unit)
            parts.append(soft_min(pairing, potential, log_of(cloud.weights), eps))
        return parts[0] - parts[1]

    def gradient(
        self, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """2 (E_mu[y | x] - E_nu[y | x]), means under the two couplings."""
        eps, unit = self.eps, self._unit(mu)
        means = []
        for cloud, potential in self._seen(mu):
            logs = log_of(cloud.weights) + potential / eps
            pairing = squared_pairing(x, cloud.points, unit=unit)
            means.append(pairing.averages(logs, cloud.points, eps).mean)
        return 2 * (means[1] - means[0])

    def _seen(self, mu: AbstractMeasure):
        """The measures that a point of mu sees, nu and mu, with their potentials."""
        if mu.d != self.nu.d:
            raise InputError(
                f"`mu` must live in the dimension of nu, {self.nu.d}, got {mu.d}."
            )
        infinite = jnp.full_like(self.eps, jnp.inf)
        across = squared_pairing(mu.points, self.nu.points, unit=self._unit(mu))
        weights = (mu.weights, self.nu.weights)
        _, g, _ = potentials(Problem(across, *weights, self.eps, infinite), self.limits)
        alone = squared_pairing(mu.points, mu.points, unit=self._unit(mu))
        weights = (mu.weights, mu.weights)
        f, _ = potential_alone(
            Problem(alone, *weights, self.eps, infinite), self.limits
        )
        return (self.nu, g), (mu, f)

    @property
    def limits(self) -> Limits:
        """When the iterations stop."""
        return Limits(self.tol, jnp.asarray(self.iterations))

    def _unit(self, mu: AbstractMeasure) -> bool:
        """Whether both live on a sphere, where sums may use its harmonics."""
        return all(isinstance(m.space, Circle | Sphere) for m in (mu, self.nu))
