"""Fourier modes of tokens on the circle, fused on a GPU in float64.

Two passes over the tokens, each reading every token once: moments
m_k = sum_j w_j e^{i k theta_j}, then e^{-beta} sum_k I_k(beta) conj(m_k) e^{i k theta}
at every token, with its derivative. Powers of e^{i theta} are made by multiplication in
registers; the floor is the memory: 24 bytes in and 16 bytes out per token.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from pushforward.sums._pallas_tiles import call, padded

TOKENS, WARPS = 2048, 8  # of one program


def circle_sums(
    c: Float[Array, "n"],
    s: Float[Array, "n"],
    w: Float[Array, "n"],
    coefficients: Float[Array, "k"],
) -> tuple[Float[Array, "n"], Float[Array, "n"]]:
    """Z_i = sum_j w_j h(theta_i - theta_j) and dZ_i/dtheta for tokens (c, s).

    h(theta) = sum_k coefficients_k cos(k theta); with coefficients (1, 2, 2, ...) times
    e^{-beta} I_k(beta) it is e^{beta (cos theta - 1)}.
    """
    n = c.shape[0]
    c, s, w = (padded(a, TOKENS) for a in (c, s, w))
    m = _moments(c, s, w, coefficients.shape[0])
    total, slope = _evaluate(c, s, coefficients[None, :] * m)
    return total[:n], slope[:n]


def _moments(c, s, w, modes: int) -> Float[Array, "2 k"]:
    """sum_j w_j (cos, sin)(k theta_j) for k = 0 .. modes - 1."""
    from jax.experimental import pallas as pl

    blocks = c.shape[0] // TOKENS

    def body(c_ref, s_ref, w_ref, real_ref, imaginary_ref):
        cos, sin = c_ref[...], s_ref[...]

        def step(k, z):
            x, y = z
            real_ref[0, k] = x.sum()
            imaginary_ref[0, k] = y.sum()
            return x * cos - y * sin, x * sin + y * cos

        w = w_ref[...]
        lax.fori_loop(0, modes, step, (w, jnp.zeros_like(w)))

    line = pl.BlockSpec((TOKENS,), lambda i: (i,))
    row = pl.BlockSpec((1, modes), lambda i: (i, 0))
    partial = jax.ShapeDtypeStruct((blocks, modes), c.dtype)
    parts = call(
        body, (blocks,), (c, s, w), [line] * 3, [partial] * 2, [row] * 2, WARPS
    )
    return jnp.stack([part.sum(axis=0) for part in parts])


def _evaluate(c, s, a: Float[Array, "2 k"]):
    """sum_k a_0k cos(k theta) + a_1k sin(k theta), and its derivative."""
    from jax.experimental import pallas as pl

    modes = a.shape[1]

    def body(c_ref, s_ref, a_ref, b_ref, total_ref, slope_ref):
        cos, sin = c_ref[...], s_ref[...]

        def step(k, state):
            x, y, total, slope = state
            a_k, b_k = a_ref[k], b_ref[k]
            total = total + a_k * x + b_k * y
            slope = slope + k * (b_k * x - a_k * y)
            return x * cos - y * sin, x * sin + y * cos, total, slope

        zero = jnp.zeros_like(cos)
        *_, total, slope = lax.fori_loop(0, modes, step, (zero + 1, zero, zero, zero))
        total_ref[...] = total
        slope_ref[...] = slope

    line = pl.BlockSpec((TOKENS,), lambda i: (i,))
    whole = pl.BlockSpec((modes,), lambda i: (0,))
    out = jax.ShapeDtypeStruct(c.shape, c.dtype)
    return call(
        body,
        (c.shape[0] // TOKENS,),
        (c, s, a[0], a[1]),
        [line, line, whole, whole],
        [out] * 2,
        [line] * 2,
        WARPS,
    )
