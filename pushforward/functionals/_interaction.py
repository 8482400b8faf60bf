"""The interaction energy that self-attention climbs.

The two scalings of the attention energy that meet a perceptron.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import Number, is_traced, positive, scalar
from pushforward.errors import InputError
from pushforward.functionals._functional import AbstractFunctional, FunctionalMultiple
from pushforward.measures import (
    AbstractBasis,
    AbstractMeasure,
    Density,
    Gaussian,
    Particles,
)
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

    def __init__(self, beta: Number, *, sums: AbstractSum = Auto()):
        self.beta = scalar("beta", beta)
        self.sums = sums

    @eqx.filter_jit  # one program, not one for every operation, when it is watched
    def __call__(self, mu: Particles | Density) -> Float[Array, ""]:
        """mean_ij e^{beta <x_i, x_j> - |beta|}, weighted; by modes on a density."""
        if isinstance(mu, Density):
            return kernel_modes(self.beta, mu.basis)[0] @ mu.coefficients**2
        if isinstance(mu, Gaussian):
            raise InputError(
                "`mu` must be Particles or a Density, got a Gaussian, whose points do "
                "not integrate exponentials. Use mu.sample(key, n)."
            )
        log_z = self.sums(self._kernel_of_itself(mu)).log_total
        return jnp.exp(log_z - jnp.abs(self.beta).astype(log_z.dtype)) @ mu.weights

    def plain(self, mu: Particles | Density) -> Float[Array, ""]:
        """E_beta = (1/(2 beta)) int int e^{beta <x, y>}; infinite on overflow."""
        if not is_traced(self.beta) and float(self.beta) == 0:
            raise InputError(
                "`beta` must not be 0: the papers' energy has a factor 1/(2 beta). "
                "Call InteractionEnergy(0)(mu), which is 1."
            )
        return self(mu) * jnp.exp(jnp.abs(self.beta)) / (2 * self.beta)

    def variation(
        self, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m"]:
        """2 int e^{beta <x, y> - |beta|} dmu(y)."""
        log_z = self.sums(self._kernel(x, mu)).log_total
        return 2 * jnp.exp(log_z - jnp.abs(self.beta).astype(log_z.dtype))

    @property
    def isotropic(self) -> bool:
        """Yes: it is a function of inner products."""
        return True

    def variation_modes(self, basis: AbstractBasis) -> Float[Array, "j"]:
        """Twice the coefficients of the kernel, by Funk and Hecke."""
        return 2 * kernel_modes(self.beta, basis)[0]

    def _kernel_of_itself(self, mu: Particles) -> Kernel:
        """Only totals are asked for: the values have no columns."""
        x, unit = mu.points, isinstance(mu.space, Sphere | Circle)
        beta = self.beta.astype(x.dtype)
        return Kernel(x, x, x[:, :0], mu.log_weights, beta, own=True, unit=unit)

    def _kernel(self, x: Array, mu: AbstractMeasure) -> Kernel:
        ones = jnp.ones_like(mu.log_weights)[:, None]
        beta = self.beta.astype(x.dtype)
        return Kernel(x, mu.points, ones, mu.log_weights, beta)


def paper_energy(beta: Number) -> FunctionalMultiple:
    """E_beta = (1/(2 beta)) int int e^{beta <x,y>} dmu dmu, the papers' scaling.

    `paper_energy(beta) + P` is the energy of attention with a perceptron. It overflows
    above beta = 709; there use `code_energy(beta) + exp(-beta) * P`, which is
    e^{-beta} times it. [alvarezlopez2026perceptrons]

    >>> one = Particles.orthonormal(Circle(), 1)
    >>> round(float(paper_energy(1.0)(one)), 6)  # e/2
    1.359141
    """
    b = float(positive("beta", beta, "For repulsion use InteractionEnergy(beta)."))
    with np.errstate(over="ignore"):
        scale = np.exp(b) / (2 * b)
    if not np.isfinite(scale):
        raise InputError(
            f"`beta` must be below 709 in the papers' scaling, got {b:g}. "
            "Use code_energy(beta) and multiply the potential by exp(-beta)."
        )
    return scale * InteractionEnergy(b)


def code_energy(beta: Number) -> FunctionalMultiple:
    """(1/(2 beta)) int int e^{beta (<x,y> - 1)} dmu dmu, the scaling of published code.

    E_paper(omega) e^{-beta} = E_code(omega e^{-beta}): with the same omega the
    perceptron is e^beta stronger here. Safe for every beta > 0.
    """
    b = float(positive("beta", beta, "For repulsion use InteractionEnergy(beta)."))
    return (0.5 / b) * InteractionEnergy(b)
