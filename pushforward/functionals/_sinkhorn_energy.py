"""The energy that Sinkhorn attention climbs: entropic transport of mu to itself."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import is_traced, scalar
from pushforward._shapes import Number
from pushforward.errors import InputError
from pushforward.functionals._functional import AbstractFunctional
from pushforward.measures import AbstractMeasure, Density, Particles
from pushforward.sums import (
    AbstractSum,
    Auto,
    Kernel,
    balanced,
    balancing,
    kernel_modes,
    reweighted,
)


class SinkhornEnergy(AbstractFunctional):
    """max over couplings pi of mu with itself of

    (1/2) int <x, y> dpi - (1/(2 beta)) KL(pi | mu x mu) = -(1/beta) int f dmu,

    f the potential with int e^{f(x) + f(y) + beta <x,y>} dmu(y) = 1. It is 1/2 at Dirac
    masses of the sphere; its Wasserstein gradient flow upward is
    `SinkhornAttention(beta)`. [sander2022sinkformers]

    >>> one = Particles.orthonormal(Sphere(3), 1)
    >>> round(SinkhornEnergy(4.0)(one).item(), 12)
    0.5
    """

    beta: Float[Array, ""]
    sums: AbstractSum

    def __init__(self, beta: Number, *, sums: AbstractSum = Auto()):
        self.beta = scalar("beta", beta)
        if not is_traced(self.beta) and float(self.beta) == 0:
            raise InputError(
                "`beta` must not be 0: the energy has a factor 1/beta. Take a small "
                "one, such as 1e-3."
            )
        self.sums = sums

    def __call__(self, mu: Particles | Density) -> Float[Array, ""]:
        """-(1/beta) int f dmu."""
        beta = self.beta.astype(mu.points.dtype)
        if isinstance(mu, Density):
            values = jnp.maximum(mu.values, 0.0)
            total = kernel_modes(self.beta, mu.basis)[0]

            def log_total(f: Array) -> Array:
                c = mu.basis.project(values * jnp.exp(f))
                return jnp.log(mu.basis.values(total * c))

            # modes are those of e^{beta <x,y> - |beta|}
            f = balanced(log_total, jnp.zeros_like(values)) - jnp.abs(beta) / 2
            return -mu.weights @ f / beta
        kernel = self._kernel(mu.points, mu)
        f = balancing(kernel, self.sums)
        return -mu.weights @ f / beta

    def variation(
        self, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m"]:
        """-f(x) / beta, up to a constant."""
        f = balancing(self._kernel(mu.points, mu), self.sums)
        seen = self.sums(reweighted(self._kernel(x, mu), f)).log_total
        return seen / self.beta.astype(x.dtype)

    @property
    def isotropic(self) -> bool:
        """Yes: it is a function of inner products."""
        return True

    def _kernel(self, x: Array, mu: AbstractMeasure) -> Kernel:
        beta = self.beta.astype(x.dtype)
        return Kernel(x, mu.points, mu.points[:, :0], mu.log_weights, beta)
