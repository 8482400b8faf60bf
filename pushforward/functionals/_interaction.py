"""The interaction energy that self-attention climbs."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import scalar
from pushforward.functionals._functional import AbstractFunctional
from pushforward.measures import AbstractMeasure, Density, Particles
from pushforward.spaces import Circle, Sphere
from pushforward.sums import AbstractSum, Auto, Kernel, kernel_modes


class InteractionEnergy(AbstractFunctional):
    """The interaction energy in its safe scaling, a number in (0, 1].

    E(mu) = int int e^{beta <x, y> - |beta|} dmu(x) dmu(y)
          = 2 |beta| e^{-|beta|} |E_beta|,

    where E_beta = (1/(2 beta)) int int e^{beta <x,y>} dmu dmu is the energy of the
    papers, returned by `plain`, which overflows above beta = 709. E increases along SA
    and USA with V = I, is largest (1) at Dirac masses and smallest at the uniform
    measure. [geshkovski2023perspective]

    >>> InteractionEnergy(4.0)(Particles.orthonormal(Sphere(3), 1)).item()
    1.0
    """

    beta: Float[Array, ""]
    sums: AbstractSum

    def __init__(self, beta, *, sums: AbstractSum = Auto()):
        self.beta = scalar("beta", beta)
        self.sums = sums

    @eqx.filter_jit  # one program, not one for every operation, when it is watched
    def __call__(self, mu: Particles | Density) -> Float[Array, ""]:
        """mean_ij e^{beta <x_i, x_j> - |beta|}, weighted; by modes on a density."""
        if isinstance(mu, Density):
            return kernel_modes(self.beta, mu.basis)[0] @ mu.coefficients**2
        log_z = self.sums(self._kernel_of_itself(mu)).log_total
        return jnp.exp(log_z - jnp.abs(self.beta).astype(log_z.dtype)) @ mu.weights

    def plain(self, mu: Particles | Density) -> Float[Array, ""]:
        """E_beta = (1/(2 beta)) int int e^{beta <x, y>}; infinite on overflow."""
        return self(mu) * jnp.exp(jnp.abs(self.beta)) / (2 * self.beta)

    def variation(self, x: Float[Array, "m d"], mu: AbstractMeasure) -> Array:
        """2 int e^{beta <x, y> - |beta|} dmu(y)."""
        log_z = self.sums(self._kernel(x, mu)).log_total
        return 2 * jnp.exp(log_z - jnp.abs(self.beta).astype(log_z.dtype))

    def _kernel_of_itself(self, mu: Particles) -> Kernel:
        """Only totals are asked for: the values have no columns."""
        x, unit = mu.points, isinstance(mu.space, Sphere | Circle)
        beta = self.beta.astype(x.dtype)
        return Kernel(x, x, x[:, :0], mu.log_weights, beta, own=True, unit=unit)

    def _kernel(self, x: Array, mu: AbstractMeasure) -> Kernel:
        ones = jnp.ones_like(mu.log_weights)[:, None]
        beta = self.beta.astype(x.dtype)
        return Kernel(x, mu.points, ones, mu.log_weights, beta)
