"""The kernel e^{beta <x, y>} acting on densities: one number for every degree.

int e^{beta <x, y>} Y(y) dsigma(y) = c_l Y(x) for a harmonic Y of degree l, with
c_l = Gamma(d/2) (2/beta)^{d/2-1} I_{l+d/2-1}(beta).
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import is_traced
from pushforward.errors import InputError
from pushforward.measures import AbstractBasis, log_dimensions

EXTRA = 600  # degrees beyond those asked for, so that the sum below is complete
LARGEST_BETA = 5000.0  # there the last of them is e^{-36}


def funk_hecke(beta: Float[Array, ""], d: int, count: int) -> Float[Array, "l"]:
    """e^{-|beta|} c_l for l < count.

    Quotients c_{l+1}/c_l by backward recurrence; the scale from
    sum_l N_l |c_l| = e^{|beta|}, the kernel on the diagonal.
    """
    if not is_traced(beta) and abs(float(beta)) > LARGEST_BETA:
        raise InputError(
            f"`beta` must be at most {LARGEST_BETA:g} in size on a density, got "
            f"{float(beta):g}: its kernel is narrower than any grid. Use Particles."
        )
    size = jnp.abs(beta)
    orders = d / 2 + jnp.arange(count + EXTRA, dtype=size.dtype)

    def back(quotient, order):
        quotient = size / (2 * order + size * quotient)
        return quotient, quotient

    _, quotients = jax.lax.scan(back, jnp.zeros(()), orders, reverse=True)
    logs = jnp.concatenate([jnp.zeros(1), jnp.cumsum(jnp.log(quotients))])
    terms = jnp.exp(logs + log_dimensions(d, count + EXTRA))
    c = jnp.exp(logs[:count]) / jnp.sum(terms)
    odd = jnp.arange(count) % 2 == 1
    return jnp.where(odd & (beta < 0), -c, c)


def kernel_modes(
    beta: Float[Array, ""], basis: AbstractBasis
) -> tuple[Float[Array, "j"], Float[Array, "j"]]:
    """Multipliers of Z = int e^{beta <x,y> - |beta|} dmu(y), and of Z / beta.

    c_l / beta = (c_{l-1} - c_{l+1}) / (2l + d - 2) needs no division by beta; degree 0
    has no gradient and is left out of Z / beta.
    """
    d, l = basis.space.d, basis.degrees
    c = funk_hecke(beta, d, basis.resolution + 2)
    below = jnp.concatenate([jnp.zeros(1), c])
    bottom = jnp.where(l > 0, 2.0 * l + d - 2, 1.0)
    return c[l], jnp.where(l > 0, (below[l] - c[l + 1]) / bottom, 0.0)
