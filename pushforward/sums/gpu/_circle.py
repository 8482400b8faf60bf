"""Fourier modes of tokens on the circle, fused on a GPU in float64.

Two passes over the tokens, each reading every token once: moments
m_k = sum_j w_j e^{i k theta_j}, then the values of a few series sum_k Re(a_k e^{i k
theta}) at every token. Powers of e^{i theta} are made by multiplication in registers;
the floor is the memory: 24 bytes in and 8 bytes out per token and series.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from pushforward.sums.gpu._tiles import fused_call, padded
from pushforward.sums.modes._circle import (
    GROUP,
    AbstractModes,
    Modes,
    groups_needed,
    moment_series,
)

TOKENS, WARPS = 2048, 8  # of one program
GROUPS = (1, 2, 4, 8, 16, 36)  # of modes: loops on a GPU have a fixed length


class FusedModes(AbstractModes):
    """The transform on the circle on a GPU: fused for tokens, as `Modes` for the rest.

    The number of modes is the least of a few that beta asks for, picked when it runs.
    """

    def evaluate(
        self,
        q: Float[Array, "m d"],
        k: Float[Array, "n d"],
        u: Float[Array, "n c"],
        beta: Float[Array, ""],
    ) -> Float[Array, "m c"]:
        """What gradients need, and other values than the tokens: not fused."""
        return Modes(self.tail, self.limit).evaluate(q, k, u, beta)

    def of_points(
        self,
        q: Float[Array, "m d"],
        k: Float[Array, "n d"],
        w: Float[Array, "n 1"],
        beta: Float[Array, ""],
    ) -> Float[Array, "m e"]:
        """From one set of moments: a total, and a radial and a tangent part."""
        groups, _ = groups_needed(beta, self.tail)
        which = jnp.searchsorted(jnp.asarray(GROUPS), groups)
        which = jnp.where(jnp.abs(beta) <= self.limit, which, len(GROUPS))
        # Two modes more, since a moment mixes neighbors and the tail is that of totals.
        fused = [lambda *a, g=g: _of_points(g * GROUP + 2, *a) for g in GROUPS]
        nothing = lambda q, k, w, beta: jnp.zeros((q.shape[0], 3))  # noqa: E731
        return lax.switch(which, [*fused, nothing], q, k, w, beta)


def _of_points(
    modes: int,
    q: Float[Array, "m d"],
    k: Float[Array, "n d"],
    w: Float[Array, "n 1"],
    beta: Float[Array, ""],
) -> Float[Array, "m 3"]:
    """sum_j w_j e^{beta cos(theta - theta_j) - |beta|} (1, k_j)."""
    (c, s), (kc, ks) = _unit(q), _unit(k)
    kc, ks, weights = (padded(b, TOKENS) for b in (kc, ks, w[:, 0]))
    series = moment_series(beta, *_moments(kc, ks, weights, modes))
    parts = _evaluate(padded(c, TOKENS), padded(s, TOKENS), series)
    total, radial, tangent = (part[: q.shape[0]] for part in parts)
    moment = (radial * c - tangent * s, radial * s + tangent * c)
    return jnp.stack([total, *moment], axis=1)


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
    modes = coefficients.shape[0]
    a, b = coefficients[None, :] * _moments(c, s, w, modes)
    k = jnp.arange(modes, dtype=a.dtype)
    total, slope = _evaluate(c, s, ((a, b), (k * b, -k * a)))
    return total[:n], slope[:n]


def _unit(x: Float[Array, "n 2"]) -> tuple[Float[Array, "n"], Float[Array, "n"]]:
    """Coordinates of length one, or the powers would grow."""
    length = jnp.sqrt(x[:, 0] ** 2 + x[:, 1] ** 2)
    return x[:, 0] / length, x[:, 1] / length


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
    parts = fused_call(
        body, (blocks,), (c, s, w), [line] * 3, [partial] * 2, [row] * 2, WARPS
    )
    return jnp.stack([part.sum(axis=0) for part in parts])


def _evaluate(c, s, series) -> Sequence[Float[Array, "n"]]:
    """sum_k a_k cos(k theta) + b_k sin(k theta) for every (a, b) of the series."""
    from jax.experimental import pallas as pl

    count, modes = len(series), series[0][0].shape[0]

    def body(c_ref, s_ref, *refs):
        cos, sin = c_ref[...], s_ref[...]
        a_refs, b_refs, out_refs = refs[:count], refs[count:-count], refs[-count:]

        def step(k, state):
            x, y, *sums = state
            for r in range(count):
                sums[r] = sums[r] + a_refs[r][k] * x + b_refs[r][k] * y
            return x * cos - y * sin, x * sin + y * cos, *sums

        zero = jnp.zeros_like(cos)
        start = (zero + 1, *[zero] * (count + 1))
        _, _, *sums = lax.fori_loop(0, modes, step, start)
        for ref, value in zip(out_refs, sums, strict=True):
            ref[...] = value

    line = pl.BlockSpec((TOKENS,), lambda i: (i,))
    whole = pl.BlockSpec((modes,), lambda i: (0,))
    return fused_call(
        body,
        (c.shape[0] // TOKENS,),
        (c, s, *(a for a, _ in series), *(b for _, b in series)),
        [line] * 2 + [whole] * (2 * count),
        [jax.ShapeDtypeStruct(c.shape, c.dtype)] * count,
        [line] * count,
        WARPS,
    )
