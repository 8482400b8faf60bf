"""The sum on the circle by Fourier modes, in linear time.

e^{beta cos(theta - phi) - |beta|} = sum_k a_k cos k(theta - phi) with the scaled Bessel
coefficients a_0 = e^{-|beta|} I_0(beta), a_k = 2 e^{-|beta|} I_k(beta). With
z = e^{i theta}, the power z^{Ba + b} is a giant step z^{Ba} times a baby step z^b, so that
both the modes of the data and their evaluation are small matrix products.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

MODES = (16, 32, 64, 128, 288, 576, 1152)  # compiled sizes; beta picks one at run time
NOISE = 4e-15  # absolute error of the computed coefficients
BLOCK = 1024  # points whose powers are held at once: they stay in the cache


class Powers(NamedTuple):
    """Real and imaginary parts of powers of z, one row per power."""

    real: Float[Array, "p b"]
    imaginary: Float[Array, "p b"]


def coefficients(beta: Float[Array, ""], count: int) -> Float[Array, "k"]:
    """a_0, ..., a_{count - 1} to an absolute error of rounding, for any beta.

    The trapezoidal rule is exact up to the coefficients of order above 3 count.
    """
    t = jnp.arange(4 * count) * (jnp.pi / (2 * count))
    samples = jnp.exp(beta * jnp.cos(t) - jnp.abs(beta))
    a = jnp.fft.rfft(samples)[:count].real / (4 * count)
    return jnp.where(jnp.arange(count) == 0, a, 2 * a)


def tails(beta: Float[Array, ""]) -> Float[Array, "s"]:
    """sum_{k >= M} |a_k| for each of the compiled numbers of modes M."""
    a = jnp.abs(coefficients(beta, 2 * MODES[-1]))
    a = jnp.where(a > NOISE, a, 0.0)  # they fall faster than geometrically below it
    beyond = jnp.cumsum(a[::-1])[::-1]
    return beyond[jnp.asarray(MODES)]


def transform(
    q: Float[Array, "m 2"],
    k: Float[Array, "n 2"],
    u: Float[Array, "n c"],
    beta: Float[Array, ""],
    modes: int,
) -> Float[Array, "m c"]:
    """sum_j e^{beta <q_i, k_j> - |beta|} u_j, with the first modes only."""
    baby = 8 if modes <= 64 else 16 if modes <= 300 else 32
    giant = modes // baby
    real, imaginary = _data_modes(k, u, baby, giant)
    a = coefficients(beta, modes).reshape(giant, 1, baby)
    return _evaluated(q, a * real, -a * imaginary)


def _data_modes(k, u, baby: int, giant: int) -> tuple[Array, Array]:
    """sum_j z_j^{Ba + b} u_jc as arrays (a, c, b): real and imaginary parts."""
    c = u.shape[1]

    def add(total, block):
        z, weight = block
        P, G = _powers(z, baby, giant)
        shape = (2 * giant * c, -1)
        G = jnp.concatenate(G)[:, None, :] * weight[None, :, :]
        return total + G.reshape(shape) @ jnp.concatenate(P).T, None

    start = jnp.zeros((2 * giant * c, 2 * baby), u.dtype)
    blocks = (_blocks(_unit(k), fill=1.0), _blocks(u.T, fill=0.0))
    total, _ = jax.lax.scan(add, start, blocks)
    total = total.reshape(2, giant, c, 2, baby)
    real = total[0, :, :, 0] - total[1, :, :, 1]
    return real, total[0, :, :, 1] + total[1, :, :, 0]


def _evaluated(q, real: Float[Array, "g c b"], imaginary) -> Float[Array, "m c"]:
    """Re sum_ab coefficient_abc z^{Ba + b} at every query."""
    giant, c, baby = real.shape
    rows = jnp.concatenate(
        [
            jnp.concatenate([real, -imaginary], axis=2),
            jnp.concatenate([imaginary, real], axis=2),
        ]
    ).reshape(2 * giant * c, 2 * baby)

    def one(z):
        P, G = _powers(z, baby, giant)
        T = (rows @ jnp.concatenate(P)).reshape(2, giant, c, -1)
        real, imaginary = G
        return jnp.sum(real[:, None] * T[0] - imaginary[:, None] * T[1], axis=0)

    values = jax.lax.map(one, _blocks(_unit(q), fill=1.0))
    return values.swapaxes(1, 2).reshape(-1, c)[: q.shape[0]]


def _unit(x: Float[Array, "n 2"]) -> Float[Array, "2 n"]:
    """Coordinates as rows, which vectorize; of length one, or z^k would grow."""
    a, b = x[:, 0], x[:, 1]
    length = jnp.sqrt(a**2 + b**2)
    return jnp.stack([a / length, b / length])


def _powers(z: Float[Array, "2 b"], baby: int, giant: int) -> tuple[Powers, Powers]:
    """z^0 ... z^{baby - 1} and z^0, z^baby, ..., z^{baby (giant - 1)}."""
    small, last = _first_powers(z[0], z[1], baby)
    large, _ = _first_powers(*last, giant)
    return small, large


def _first_powers(real, imaginary, count: int) -> tuple[Powers, tuple[Array, Array]]:
    """z^0, ..., z^{count - 1}, and z^count, one product each."""

    def next_power(z, _):
        a, b = z
        return (a * real - b * imaginary, a * imaginary + b * real), Powers(a, b)

    one = (jnp.ones_like(real), jnp.zeros_like(real))
    after, powers = jax.lax.scan(next_power, one, length=count)
    return powers, after


def _blocks(a: Float[Array, "c n"], fill: float) -> Float[Array, "s c b"]:
    """Columns in blocks of equal size, padded by a constant."""
    c, n = a.shape
    count = -(-n // BLOCK)
    width = -(-n // count)
    a = jnp.pad(a, ((0, 0), (0, count * width - n)), constant_values=fill)
    return a.reshape(c, count, width).swapaxes(0, 1)
