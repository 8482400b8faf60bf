"""Spherical harmonics of tokens on S^2, fused on a GPU in float64.

e^{beta <x, y> - |beta|} = sum_l (2l + 1) b_l P_l(<x, y>), and
(2l + 1) P_l(<x, y>) = sum_m R_lm(x) R_lm(y) + S_lm(x) S_lm(y) with
R_lm + i S_lm = p_lm(z) (x + i y)^m, where p_lm obeys a recurrence of three terms in l.
Two passes over the tokens: moments sum_j w_j (R, S)_lm(x_j), then the values and the
gradient of a series at every token, all in registers. These functions are polynomials
of x, y, z, so that the poles are points like any other.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jax import lax
from jaxtyping import Array, Float, Int

from pushforward.sums.gpu._tiles import fused_call, padded
from pushforward.sums.modes._transform import AbstractTransform

TOKENS, WARPS = 1024, 8  # of one program
LAST = 256  # the largest degree L; tables have LAST + 1 columns whatever L is
NODES = 512  # of the quadrature for b_l
NOISE = 2e-16  # absolute error of b_l
LARGEST_BETA = 900.0  # degree 256
ROUNDING = 1.2e-15  # of a total, for weights that sum to one; measured and doubled


class FusedHarmonics(AbstractTransform):
    """The transform on S^2 on a GPU; its degree is the least that beta needs.

    The degree is a number of the kernel, not part of its program: one for every beta.
    """

    def evaluate(
        self,
        q: Float[Array, "m d"],
        k: Float[Array, "n d"],
        u: Float[Array, "n c"],
        beta: Float[Array, ""],
    ) -> Float[Array, "m c"]:
        """Channel by channel."""
        columns = [
            self.of_points(q, k, u[:, c : c + 1], beta)[:, :1]
            for c in range(u.shape[1])
        ]
        return jnp.concatenate(columns, axis=1)

    def of_points(
        self,
        q: Float[Array, "m d"],
        k: Float[Array, "n d"],
        w: Float[Array, "n 1"],
        beta: Float[Array, ""],
    ) -> Float[Array, "m e"]:
        """From one set of moments: a total, and a radial and a tangent part."""
        nothing = lambda q, k, w, beta: jnp.zeros((q.shape[0], 4))  # noqa: E731
        L, _ = degree_needed(beta, self.tail)
        few = jnp.abs(beta) <= self.limit
        work = functools.partial(_of_points, L)
        return lax.cond(few, work, nothing, q, k, w[:, 0], beta)

    def error(
        self, beta: Float[Array, ""], largest: Float[Array, ""]
    ) -> Float[Array, ""]:
        """Rounding, for weights that sum to one, and the tail."""
        return ROUNDING + degree_needed(beta, self.tail)[1]


@functools.cache
def _legendre() -> tuple[np.ndarray, np.ndarray]:
    """Gauss nodes u, and half the weights times P_l(u) for every l.

    In long numbers, for (2l + 1) b_l must be known to rounding.
    """
    u = scipy.special.roots_legendre(NODES)[0].astype(np.longdouble)
    for _ in range(2):  # Newton's method
        P = _legendre_polynomials(u, NODES)
        slope = NODES * (P[-2] - u * P[-1]) / (1 - u**2)
        u = u - P[-1] / slope
    weights = 1 / ((1 - u**2) * slope**2)
    table = weights * _legendre_polynomials(u, LAST + 1)
    return u.astype(float), table.astype(float)


def _legendre_polynomials(u: np.ndarray, last: int) -> np.ndarray:
    P = [np.ones_like(u), u]
    for l in range(1, last):
        P.append(((2 * l + 1) * u * P[l] - l * P[l - 1]) / (l + 1))
    return np.array(P)


def coefficients(beta: Float[Array, ""]) -> Float[Array, "k"]:
    """b_l = e^{-|beta|} i_l(beta) = (1/2) int e^{beta u - |beta|} P_l(u) du."""
    u, table = _legendre()
    return jnp.asarray(table) @ jnp.exp(beta * jnp.asarray(u) - jnp.abs(beta))


def degree_needed(beta: Float[Array, ""], tail: float) -> tuple[Array, Array]:
    """The least L that leaves a small tail sum_{l > L} (2l + 1) |b_l|; the tail.

    One degree less is counted on, for moments mix neighbors.
    """
    b = jnp.abs(coefficients(beta))
    terms = (2 * jnp.arange(1.0 * b.shape[0]) + 1) * jnp.where(b > NOISE, b, 0.0)
    beyond = jnp.cumsum(terms[::-1])[::-1][: LAST + 1]
    fits = beyond <= max(tail, NOISE)
    L = jnp.where(fits.any(), jnp.argmax(fits), LAST)
    return L.astype(jnp.int32), beyond[L]


@functools.cache
def _recurrence() -> tuple[np.ndarray, np.ndarray]:
    """a, c of p_{l+1,m} = a z p_lm - c p_{l-1,m} in rows of m; p_mm at c_mm.

    c_mm multiplies what is not there, so that its place holds the start.
    """
    m, l = np.meshgrid(np.arange(LAST + 1), np.arange(LAST + 1), indexing="ij")
    below = np.maximum((l + 1) ** 2 - m**2, 1)
    a = np.sqrt((2 * l + 1) * (2 * l + 3) / below)
    c = np.sqrt((2 * l + 3) * np.maximum(l**2 - m**2, 0) / (np.abs(2 * l - 1) * below))
    k = np.arange(1, LAST + 1)
    start = np.sqrt(np.append(1.0, 2 * np.cumprod((2 * k + 1) / (2 * k))))
    c[np.arange(LAST + 1), np.arange(LAST + 1)] = start
    return a.ravel(), c.ravel()


def _of_points(
    L: Int[Array, ""],
    q: Float[Array, "m 3"],
    k: Float[Array, "n 3"],
    w: Float[Array, "n"],
    beta: Float[Array, ""],
) -> Float[Array, "m 4"]:
    """sum_j w_j e^{beta <q_i, k_j> - |beta|} (1, k_j).

    The moment is grad / beta, tangent, and a radial part. With
    i_l / beta = (i_{l-1} - i_{l+1}) / (2l + 1) and
    i_l' = (l i_{l-1} + (l + 1) i_{l+1}) / (2l + 1) nothing is divided by beta.
    """
    b = coefficients(beta)
    l = jnp.arange(LAST + 1.0)
    before, after = jnp.concatenate([jnp.zeros(1), b[:LAST]]), b[1:]
    slope = jnp.where(l > 0, (before - after) / (2 * l + 1), 0.0)
    radial = (l * before + (l + 1) * after) / (2 * l + 1)
    unit = q / jnp.linalg.norm(q, axis=1, keepdims=True)
    keys = k / jnp.linalg.norm(k, axis=1, keepdims=True)
    moments = _moments(L, padded(keys, TOKENS), padded(w, TOKENS))
    series = [
        (moments.reshape(2, LAST + 1, LAST + 1) * s[None, None]).reshape(2, -1)
        for s in (b[: LAST + 1], radial, slope)
    ]
    values = _evaluated(L, padded(unit, TOKENS), jnp.concatenate(series))
    total, along, *parts = (v[: q.shape[0], None] for v in values)
    gradient = jnp.concatenate(parts, axis=1)
    tangent = gradient - jnp.sum(gradient * unit, axis=1, keepdims=True) * unit
    return jnp.concatenate([total, along * unit + tangent], axis=1)


def _moments(L: Int[Array, ""], x: Float[Array, "n 3"], w: Float[Array, "n"]):
    """sum_j w_j (R, S)_lm(x_j), in rows of m, zero unless m <= l <= L."""
    from jax.experimental import pallas as pl

    size, blocks = (LAST + 1) ** 2, x.shape[0] // TOKENS

    def body(L_ref, x_ref, y_ref, z_ref, w_ref, a_ref, c_ref, real_ref, imaginary_ref):
        x, y, z, L = x_ref[...], y_ref[...], z_ref[...], L_ref[0]

        def order(m, power):
            c, s = power

            def degree(l, p):
                now, last = p
                at = m * (LAST + 1) + l
                real_ref[0, at] = (now * c).sum()
                imaginary_ref[0, at] = (now * s).sum()
                following = a_ref[at] * z * now
                return following - jnp.where(l > m, c_ref[at], 0.0) * last, now

            start = jnp.zeros_like(z) + c_ref[m * (LAST + 1) + m]
            lax.fori_loop(m, L + 1, degree, (start, jnp.zeros_like(z)))
            return c * x - s * y, c * y + s * x

        w = w_ref[...]
        lax.fori_loop(0, L + 1, order, (w, jnp.zeros_like(w)))

    line = pl.BlockSpec((TOKENS,), lambda i: (i,))
    table = pl.BlockSpec((size,), lambda i: (0,))
    row = pl.BlockSpec((1, size), lambda i: (i, 0))
    partial = jax.ShapeDtypeStruct((blocks, size), x.dtype)
    parts = fused_call(
        body,
        (blocks,),
        (L[None], *x.T, w, *map(jnp.asarray, _recurrence())),
        [pl.BlockSpec((1,), lambda i: (0,))] + [line] * 4 + [table] * 2,
        [partial] * 2,
        [row] * 2,
        WARPS,
    )
    every = jnp.arange(LAST + 1, dtype=L.dtype)
    l, m = every[None, :], every[:, None]
    there = ((m <= l) & (l <= L)).reshape(-1)  # elsewhere nothing was written
    return jnp.stack([jnp.where(there, part, 0.0).sum(axis=0) for part in parts])


def _evaluated(L: Int[Array, ""], x: Float[Array, "n 3"], series: Float[Array, "6 k"]):
    """Values of the first two series of (R, S)_lm, and the gradient of the third."""
    from jax.experimental import pallas as pl

    size = (LAST + 1) ** 2

    def body(L_ref, x_ref, y_ref, z_ref, a_ref, c_ref, *refs):
        x, y, z, L = x_ref[...], y_ref[...], z_ref[...], L_ref[0]
        zero = jnp.zeros_like(z)

        def order(m, state):
            (c, s), (c_before, s_before), sums = state
            parts = _over_degrees(L, m, z, a_ref, c_ref, refs[:6])
            factor = m.astype(z.dtype)
            across, up = factor * parts[4], factor * parts[5]
            new = (
                parts[0] * c + parts[1] * s,
                parts[2] * c + parts[3] * s,
                across * c_before + up * s_before,
                up * c_before - across * s_before,
                parts[6] * c + parts[7] * s,
            )
            sums = [total + part for total, part in zip(sums, new, strict=True)]
            return (c * x - s * y, c * y + s * x), (c, s), sums

        first = ((zero + 1, zero), (zero, zero), [zero] * 5)
        _, _, sums = lax.fori_loop(0, L + 1, order, first)
        for ref, value in zip(refs[6:], sums, strict=True):
            ref[...] = value

    line = pl.BlockSpec((TOKENS,), lambda i: (i,))
    table = pl.BlockSpec((size,), lambda i: (0,))
    return fused_call(
        body,
        (x.shape[0] // TOKENS,),
        (L[None], *x.T, *map(jnp.asarray, _recurrence()), *series),
        [pl.BlockSpec((1,), lambda i: (0,))] + [line] * 3 + [table] * 8,
        [jax.ShapeDtypeStruct((x.shape[0],), x.dtype)] * 5,
        [line] * 5,
        WARPS,
    )


def _over_degrees(L, m, z, a_ref, c_ref, refs) -> list[Array]:
    """sum_l k_l p_lm(z) for six series k, and sum_l k_l p_lm'(z) for the last two."""
    zero = jnp.zeros_like(z)

    def degree(l, carry):
        (now, last), (slope, slope_last), parts = carry
        at = m * (LAST + 1) + l
        k = [ref[at] for ref in refs]
        terms = [v * now for v in k] + [v * slope for v in k[4:]]
        parts = [part + term for part, term in zip(parts, terms, strict=True)]
        a, c = a_ref[at], jnp.where(l > m, c_ref[at], 0.0)
        following = a * z * now - c * last
        steeper = a * (now + z * slope) - c * slope_last
        return (following, now), (steeper, slope), parts

    start = zero + c_ref[m * (LAST + 1) + m]
    first = ((start, zero), (zero, zero), [zero] * 8)
    return lax.fori_loop(m, L + 1, degree, first)[2]
