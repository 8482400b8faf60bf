"""The fused sum for small d: a tile of partial sums in registers."""

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

from pushforward.sums._kernel import Kernel
from pushforward.sums._pallas_tiles import (
    LOG2E,
    Mask,
    Tile,
    exp2,
    exponents,
    fused_call,
    masked_exponents,
    over_columns,
    padded,
)

BATCH = 64  # column blocks whose sums stay in float32 before they are added up


def small_sum(kernel: Kernel, tile: Tile, of_keys: bool) -> tuple[Array, Array]:
    """sum_{j != i} w_j e^{beta (<x_i, y_j> - 1)} (1, f_j), coordinate by coordinate.

    `of_keys`: the values are the keys, and need not be read a second time.
    """
    from jax.experimental import pallas as pl

    (m, d), k = kernel.queries.shape, kernel.values.shape[1]
    xs = [(LOG2E * kernel.beta) * c for c in padded(kernel.queries, tile.rows).T]
    ys = list(padded(kernel.keys, tile.columns).T)
    fs = [] if of_keys else list(padded(kernel.values, tile.columns).T)
    b = exponents(kernel.log_weights, kernel.beta, tile.columns)
    rows, columns = xs[0].shape[0], b.shape[0]
    strip = pl.BlockSpec((tile.rows,), lambda i: (i,))
    whole_array = pl.BlockSpec(b.shape, lambda i: (0,))
    mask = Mask(kernel.own, kernel.causal)
    out = fused_call(
        _body((d, k), of_keys, tile, columns // tile.columns, mask),
        (rows // tile.rows,),
        (*xs, *ys, *fs, b),
        [strip] * d + [whole_array] * (d + len(fs) + 1),
        [jax.ShapeDtypeStruct((rows,), jnp.float32)] * (k + 1),
        [strip] * (k + 1),
        tile.warps,
    )
    moments = jnp.stack(out[1:], axis=1) if k else jnp.zeros((rows, 0), jnp.float32)
    return out[0][:m], moments[:m]


def _body(sizes: tuple[int, int], of_keys: bool, tile: Tile, blocks: int, mask: Mask):
    """The program of one strip of rows."""
    from jax.experimental import pallas as pl

    d, k = sizes
    apart = 0 if of_keys else k  # columns of values besides those of the keys
    shape = (tile.rows, tile.columns)

    def body(*refs):
        x_refs, y_refs, f_refs = refs[:d], refs[d : 2 * d], refs[2 * d : 2 * d + apart]
        b_ref, *out = refs[2 * d + apart :]
        i = pl.program_id(0)
        x_i = [ref[...][:, None] for ref in x_refs]

        def step(j, acc, masked):
            at = pl.ds(j * tile.columns, tile.columns)
            y_j = [ref[at][None, :] for ref in y_refs]
            f_j = y_j if of_keys else [ref[at][None, :] for ref in f_refs]
            s = b_ref[at][None, :] + x_i[0] * y_j[0]
            for x_k, y_k in zip(x_i[1:], y_j[1:], strict=True):
                s = s + x_k * y_k
            if masked:
                s = masked_exponents(s, i, j, tile, mask)
            e = exp2(s)
            moments = (a + e * f_k for a, f_k in zip(acc[1:], f_j, strict=True))
            return (acc[0] + e, *moments)

        empty = tuple(jnp.zeros(shape, jnp.float32) for _ in range(k + 1))
        line = tuple(jnp.zeros(shape[:1], jnp.float64) for _ in range(k + 1))

        def batch(first, count, total, masked):
            def one(k, acc):
                return step(first + k, acc, masked)

            def two(k, acc):
                return one(2 * k + 1, one(2 * k, acc))

            if isinstance(count, int) and count % 2 == 0:  # a tenth faster in pairs
                part = lax.fori_loop(0, count // 2, two, empty)
            else:
                part = lax.fori_loop(0, count, one, empty)
            new = (a.sum(axis=1).astype(jnp.float64) for a in part)
            return tuple(t + a for t, a in zip(total, new, strict=True))

        total = over_columns(batch, line, i, tile, blocks, mask, BATCH)
        for ref, a in zip(out, total, strict=True):
            ref[...] = a.astype(jnp.float32)

    return body
