"""Entropy of densities, the free energy that noisy attention descends, and the entropic
transport of mu to itself, which Sinkhorn attention climbs."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import Number, is_traced, positive, scalar
from pushforward.errors import InputError
from pushforward.functionals._functional import AbstractFunctional
from pushforward.functionals._interaction import InteractionEnergy
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


class Entropy(AbstractFunctional):
    """KL(mu | uniform) = int rho log rho, for a `Density`; zero at the uniform one.

    >>> Entropy()(Density.uniform(Circle(), 8)).item()
    0.0
    """

    def __call__(self, mu: Density) -> Float[Array, ""]:
        """int rho log rho against the uniform probability."""
        rho = _density(mu).values
        some = jnp.where(rho > 0, rho, 1.0)  # 0 log 0 = 0, and so where modes run out
        return jnp.asarray(mu.basis.weights) @ (some * jnp.log(some))

    def variation(
        self, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m"]:
        """1 + log rho(x)."""
        return 1 + jnp.log(_density(mu)(x))

    @property
    def isotropic(self) -> bool:
        """Yes: the uniform measure knows no direction."""
        return True


class FreeEnergy(AbstractFunctional):
    """What unnormalized attention with noise descends, relative to the uniform measure.

    F(mu) = KL(mu | uniform) - (kappa / (2 beta)) ( int int e^{beta <x,y>} dmu dmu - c )

    with c the double integral for the uniform measure. The law of tokens under
    `UnnormalizedAttention(beta)` and `Brownian(sqrt(2 / kappa))` is the Wasserstein
    gradient flow of F / kappa. [mun2026phase]

    >>> FreeEnergy(4.0, 0.4)(Density.uniform(Circle(), 16)).item()
    0.0
    """

    beta: Float[Array, ""]
    kappa: Float[Array, ""]

    def __init__(self, beta: Number, kappa: Number):
        self.beta = positive("beta", beta, "It is that of the attention.")
        self.kappa = positive("kappa", kappa, "It is 2 / sigma^2.")

    def __call__(self, mu: Density) -> Float[Array, ""]:
        """Entropy less interaction, mode by mode: no large numbers cancel."""
        modes = kernel_modes(self.beta, _density(mu).basis)[0]
        attracted = modes[1:] @ mu.coefficients[1:] ** 2
        return Entropy()(mu) - self._strength * attracted

    def variation(
        self, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m"]:
        """1 + log rho(x) - (kappa / beta) int e^{beta <x,y>} dmu(y)."""
        rho = _density(mu)
        modes = kernel_modes(self.beta, rho.basis)[0]
        Z = rho.basis.at(modes * rho.coefficients, x)
        return Entropy().variation(x, rho) - 2 * self._strength * Z

    @property
    def isotropic(self) -> bool:
        """Yes."""
        return InteractionEnergy(self.beta).isotropic

    @property
    def _strength(self) -> Array:
        """Modes are those of e^{beta <x,y> - beta}."""
        return self.kappa * jnp.exp(self.beta) / (2 * self.beta)


def _density(mu: object) -> Density:
    if isinstance(mu, Density):
        return mu
    raise InputError(
        f"`mu` must be a Density, got {type(mu).__name__}: atoms have no entropy. Use "
        "Density.from_particles(mu, resolution, bandwidth=0.2); to move by entropy "
        "pass noise=Brownian(sigma) to flow."
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
