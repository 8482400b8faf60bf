"""What an exponential becomes under a quadrature: a polynomial of equal integrals."""

import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

NEAR = 1.0  # below it the quotients of phi cancel, and the series has few terms
TERMS = 18  # of that series: what follows is below rounding


def phi(z: Float[Array, "j"], k_max: int) -> list[Float[Array, "j"]]:
    """phi_1, ..., phi_{k_max} at z <= 0: int_0^1 e^{(1-x) z} x^{k-1} / (k-1)! dx.

    phi_{k+1} = (phi_k - 1/k!) / z, upward where z is large. Near zero this cancels:
    there the last is a series, and the others follow downward.
    """
    near = jnp.abs(z) < NEAR
    small, large = jnp.where(near, z, 0.0), jnp.where(near, -NEAR, z)
    upward = [jnp.expm1(large) / large]
    for k in range(1, k_max):
        upward.append((upward[-1] - 1 / math.factorial(k)) / large)
    last = jnp.zeros_like(z)
    for m in range(TERMS, -1, -1):
        last = last * small + 1 / math.factorial(m + k_max)
    downward = [last]
    for k in range(k_max - 1, 0, -1):
        downward.append(small * downward[-1] + 1 / math.factorial(k))
    pairs = zip(reversed(downward), upward, strict=True)
    return [jnp.where(near, series, quotient) for series, quotient in pairs]


def weights_at(
    x: Float[Array, "s"], z: Float[Array, "j"], degree: int
) -> Float[Array, "s j"]:
    """w_z(x), the polynomial that acts as e^{(1-x) z} on what vanishes at x = 0.

    int_0^1 w_z x^l dx = int_0^1 e^{(1-x) z} x^l dx = l! phi_{l+1}(z) for
    l = 1, ..., degree + 1. It is 1 at z = 0 and decays like 1/|z|.
    """
    moments = [math.factorial(l) * f for l, f in enumerate(phi(z, degree + 2)) if l > 0]
    i = np.arange(degree + 1)
    inverse = np.linalg.inv(1.0 / (i[:, None] + i + 2.0))  # int x^i x^l, l >= 1
    powers = jnp.stack([x**k for k in range(degree + 1)], axis=1)
    return powers @ (inverse @ jnp.stack(moments))
