"""The fused sum for small d: a tile of partial sums in registers."""

import jax
import jax.numpy as jnp
from jax import lax

from pushforward.sums._pallas_tiles import (
    LOG2E,
    call,
    exp2,
    exponents,
    masked_exponents,
    over_columns,
    padded,
)


def small_sum(x, y, f, log_w, beta, causal: bool, tile: tuple[int, int, int]):
    """sum_{j != i} w_j e^{beta (<x_i, y_j> - 1)} (1, y_j), coordinate by coordinate."""
    from jax.experimental import pallas as pl

    (R, C, warps), (m, d) = tile, x.shape
    xs = [(LOG2E * beta) * column for column in padded(x, R).T]
    ys = list(padded(y, C).T)
    b = exponents(log_w, beta, C)
    rows = xs[0].shape[0]
    tiles = pl.BlockSpec((R,), lambda i: (i,))
    whole_array = pl.BlockSpec(b.shape, lambda i: (0,))
    column = jax.ShapeDtypeStruct((rows,), jnp.float32)
    out = call(
        _body(d, R, C, b.shape[0] // C, causal),
        (rows // R,),
        (*xs, *ys, b),
        [tiles] * d + [whole_array] * (d + 1),
        [column] * (d + 1),
        [tiles] * (d + 1),
        warps,
    )
    return out[0][:m], jnp.stack(out[1:], axis=1)[:m]


def _body(d: int, R: int, C: int, blocks: int, causal: bool):
    """The program of R rows."""
    from jax.experimental import pallas as pl

    def body(*refs):
        x_refs, y_refs, b_ref, out = (
            refs[:d],
            refs[d : 2 * d],
            refs[2 * d],
            refs[2 * d + 1 :],
        )
        i = pl.program_id(0)
        x_i = [ref[...][:, None] for ref in x_refs]

        def step(j, acc, masked):
            at = pl.ds(j * C, C)
            y_j = [ref[at][None, :] for ref in y_refs]
            s = b_ref[at][None, :] + x_i[0] * y_j[0]
            for x_k, y_k in zip(x_i[1:], y_j[1:], strict=True):
                s = s + x_k * y_k
            if masked:
                s = masked_exponents(s, i, j, R, C, causal)
            e = exp2(s)
            moments = (a + e * y_k for a, y_k in zip(acc[1:], y_j, strict=True))
            return (acc[0] + e, *moments)

        tile = tuple(jnp.zeros((R, C), jnp.float32) for _ in range(d + 1))
        line = tuple(jnp.zeros((R,), jnp.float64) for _ in range(d + 1))

        def batch(first, count, total, masked):
            def one(k, acc):
                return step(first + k, acc, masked)

            def two(k, acc):
                return one(2 * k + 1, one(2 * k, acc))

            if isinstance(count, int) and count % 2 == 0:  # a tenth faster in pairs
                part = lax.fori_loop(0, count // 2, two, tile)
            else:
                part = lax.fori_loop(0, count, one, tile)
            new = (a.sum(axis=1).astype(jnp.float64) for a in part)
            return tuple(t + a for t, a in zip(total, new, strict=True))

        total = over_columns(batch, line, i, R, C, blocks, causal)
        for ref, a in zip(out, total, strict=True):
            ref[...] = a.astype(jnp.float32)

    return body
