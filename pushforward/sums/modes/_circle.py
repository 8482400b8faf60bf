"""The sum on the circle by Fourier modes, in linear time.

e^{beta cos(theta - phi) - |beta|} = sum_k a_k cos k(theta - phi) with the scaled Bessel
coefficients a_0 = e^{-|beta|} I_0(beta), a_k = 2 e^{-|beta|} I_k(beta). The power
z^{gk + j} of z = e^{i theta} is a giant step times a baby step, so that both the modes
of the data and their evaluation are small matrix products. Modes are taken a group at a
time, as many groups as beta asks for: no beta needs a new compilation.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from pushforward.sums.modes._transform import AbstractTransform

BABY, GIANT = 8, 4  # a group has 32 modes: what beta = 9 needs
GROUP = BABY * GIANT
GROUPS = 36  # at most 1152 modes, enough for beta = 1e4
BLOCK = {"cpu": 1024, "gpu": 2**18}  # points whose powers are held at once
NOISE = 4e-15  # absolute error of the computed coefficients
ROUNDING = 4e-15  # measured, with a margin of two
LARGEST_BETA = 1.2e4

Complex = Float[Array, "*#p 2 b"]  # real and imaginary parts of b numbers


class AbstractModes(AbstractTransform):
    """The transform on the circle by modes."""

    def error(
        self, beta: Float[Array, ""], largest: Float[Array, ""]
    ) -> Float[Array, ""]:
        """Rounding, for weights that sum to one, and the tail."""
        return ROUNDING + groups_needed(beta, self.tail)[1]


class Modes(AbstractModes):
    """By XLA, on any machine."""

    def evaluate(
        self,
        q: Float[Array, "m d"],
        k: Float[Array, "n d"],
        u: Float[Array, "n c"],
        beta: Float[Array, ""],
    ) -> Float[Array, "m c"]:
        """Groups of modes, as many as beta asks for."""
        groups, _ = groups_needed(beta, self.tail)
        groups = jnp.where(jnp.abs(beta) <= self.limit, groups, 0)
        real, imaginary = _data_modes(k, u, groups)
        a = coefficients(beta)[: GROUP * GROUPS].reshape(GROUPS, GIANT, 1, BABY)
        return _evaluated(q, a * real, -a * imaginary, groups)


def coefficients(beta: Float[Array, ""]) -> Float[Array, "k"]:
    """a_0, a_1, ... to an absolute error of rounding, twice as many as there are modes.

    The trapezoidal rule is exact up to coefficients of much higher order.
    """
    count = 2 * GROUP * GROUPS
    t = jnp.arange(4.0 * count) * (jnp.pi / (2 * count))
    samples = jnp.exp(beta * jnp.cos(t) - jnp.abs(beta))
    a = jnp.fft.rfft(samples)[:count].real / (4 * count)
    return jnp.where(jnp.arange(count) == 0, a, 2 * a)


def groups_needed(beta: Float[Array, ""], tail: float) -> tuple[Int[Array, ""], Array]:
    """The least number of groups that leave a small tail sum |a_k|, and that tail."""
    a = jnp.abs(coefficients(beta))
    a = jnp.where(a > NOISE, a, 0.0)  # they fall faster than geometrically below it
    beyond = jnp.cumsum(a[::-1])[::-1][::GROUP]
    fits = beyond[1 : GROUPS + 1] <= max(tail, NOISE)
    groups = jnp.where(fits.any(), jnp.argmax(fits) + 1, GROUPS)
    return groups, beyond[groups]


def moment_series(
    beta: Float[Array, ""], real: Float[Array, "k"], imaginary: Float[Array, "k"]
):
    """From the modes m_k of weights, three pairs (a, b): sum_k a cos k + b sin k is

    sum_j w_j e^{beta cos(theta - theta_j) - |beta|} times 1, the part of k_j along the
    query, and the part across. With I_{k-1} + I_{k+1} = 2 I_k' for the part along and
    I_{k-1} - I_{k+1} = 2 k I_k / beta for the part across: no division by beta.
    """
    modes = real.shape[0]
    a = coefficients(beta)[: modes + 1]
    twice = a.at[0].multiply(2)  # 2 e^{-|beta|} I_k for every k
    before = jnp.concatenate([twice[1:2], twice[: modes - 1]])
    after = twice[1:]
    along = ((before + after) / 2).at[0].multiply(0.5)
    across = (before - after) / 2
    return (
        (a[:modes] * real, a[:modes] * imaginary),
        (along * real, along * imaginary),
        (across * imaginary, -across * real),
    )


def _data_modes(k, u, groups) -> tuple[Array, Array]:
    """Real and imaginary parts of sum_j z_j^k u_jc as (group, giant, c, baby)."""
    c = u.shape[1]

    def block(total, points):
        z, weight = points
        baby, giant, stride = _steps(z)
        P = baby.reshape(2 * BABY, -1)

        def group(g, carry):
            total, power = carry
            G = _times(giant, power[None])[:, :, None] * weight[None, None]
            total = total.at[g].add(G.reshape(-1, P.shape[1]) @ P.T)
            return total, _times(power, stride)

        return jax.lax.fori_loop(0, groups, group, (total, _one(z)))[0], None

    start = jnp.zeros((GROUPS, GIANT * 2 * c, BABY * 2), u.dtype)
    points = (_blocks(_unit(k), fill=1.0), _blocks(u.T, fill=0.0))
    total, _ = jax.lax.scan(block, start, points)
    total = total.reshape(GROUPS, GIANT, 2, c, BABY, 2)
    real = total[:, :, 0, ..., 0] - total[:, :, 1, ..., 1]
    return real, total[:, :, 0, ..., 1] + total[:, :, 1, ..., 0]


def _evaluated(q, real, imaginary, groups) -> Float[Array, "m c"]:
    """Re sum_k coefficient_kc z^k at every query."""
    c = real.shape[2]
    upper = jnp.stack([real, -imaginary], axis=-1)
    lower = jnp.stack([imaginary, real], axis=-1)
    table = jnp.stack([upper, -lower], axis=2)  # (group, giant, 2, c, baby, 2)
    table = table.reshape(GROUPS, GIANT * 2 * c, BABY * 2)

    def block(z):
        baby, giant, stride = _steps(z)
        P = baby.reshape(2 * BABY, -1)

        def group(g, carry):
            total, power = carry
            T = (table[g] @ P).reshape(GIANT, 2, c, -1)
            G = _times(giant, power[None])[:, :, None]
            return total + jnp.sum(G * T, axis=(0, 1)), _times(power, stride)

        start = (jnp.zeros((c, z.shape[1]), z.dtype), _one(z))
        return jax.lax.fori_loop(0, groups, group, start)[0]

    values = jax.lax.map(block, _blocks(_unit(q), fill=1.0))
    return values.swapaxes(1, 2).reshape(-1, c)[: q.shape[0]]


def _steps(z: Complex) -> tuple[Array, Array, Complex]:
    """z^0 ... z^7, then z^0, z^8, z^16, z^24, and z^32."""
    baby, after = _powers(z, BABY)
    giant, stride = _powers(after, GIANT)
    return baby, giant, stride


def _powers(z: Complex, count: int) -> tuple[Float[Array, "p 2 b"], Complex]:
    """z^0, ..., z^{count - 1}, and z^count."""
    after, powers = jax.lax.scan(lambda p, _: (_times(p, z), p), _one(z), length=count)
    return powers, after


def _times(x: Complex, y: Complex) -> Complex:
    """(a + ib)(c + id) = (a c - b d) + i (b c + a d), without taking vectors apart."""
    c, d = y[..., :1, :], y[..., 1:, :]
    sign = jnp.asarray([-1.0, 1.0], x.dtype).reshape(*(1,) * (x.ndim - 2), 2, 1)
    return x * c + x[..., ::-1, :] * (sign * d)


def _one(z: Complex) -> Complex:
    return jnp.broadcast_to(jnp.asarray([[1.0], [0.0]], z.dtype), z.shape)


def _unit(x: Float[Array, "n 2"]) -> Float[Array, "2 n"]:
    """Coordinates as rows, which vectorize; of length one, or z^k would grow."""
    a, b = x[:, 0], x[:, 1]
    length = jnp.sqrt(a**2 + b**2)
    return jnp.stack([a / length, b / length])


def _blocks(a: Float[Array, "c n"], fill: float) -> Float[Array, "s c b"]:
    """Columns in blocks of equal size, padded by a constant."""
    c, n = a.shape
    count = -(-n // BLOCK.get(jax.default_backend(), 2**18))
    width = -(-n // count)
    a = jnp.pad(a, ((0, 0), (0, count * width - n)), constant_values=fill)
    return a.reshape(c, count, width).swapaxes(0, 1)
