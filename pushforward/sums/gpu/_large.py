"""The fused sum for more than a few dimensions: both products on the tensor cores.

Every factor is a high and a low half. The shift of a row is fixed where that is legal,
and otherwise the largest exponent so far, as in flash attention.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

from pushforward.sums._kernel import Kernel
from pushforward.sums.gpu._tiles import (
    LIFT,
    LOG2E,
    Mask,
    Tile,
    exp2,
    exponents,
    fused_call,
    halves,
    masked_exponents,
    over_columns,
    padded,
    product,
    size_of,
)

BATCH = 16  # column blocks: tensor cores truncate when they add, so sums are short
NOTHING = -1e30  # the largest exponent of a row that has seen nobody


def large_sum(kernel: Kernel, tile: Tile, passes: int, running: bool):
    """Shifts, and sum_j w_j e^{beta <q_i, k_j> - shift_i} (1, f_j).

    In three passes every factor is a high and a low half; in one, the high half.
    `running`: the shift is the maximum of the row, and otherwise beta.
    """
    from jax.experimental import pallas as pl

    m, k = kernel.queries.shape[0], kernel.values.shape[1]
    count = 2 if passes == 3 else 1
    queries, q_size = _prepared(kernel.queries, tile.rows, count)
    keys, k_size = _prepared(kernel.keys, tile.columns, count)
    values, f_size = _prepared(kernel.values, tile.columns, count)
    heaviest = jnp.max(kernel.log_weights)  # relative to it all weights are in range
    heaviest = jnp.where(jnp.isfinite(heaviest), heaviest, 0.0)
    fixed = jnp.zeros_like(kernel.beta) if running else kernel.beta
    b = exponents(kernel.log_weights - heaviest, fixed, tile.columns) + LIFT
    rows, columns = queries[0].shape[0], b.shape[0]
    line = jax.ShapeDtypeStruct((rows,), jnp.float32)
    strip = lambda a: pl.BlockSpec((tile.rows, a.shape[1]), lambda i: (i, 0))  # noqa: E731
    whole = lambda a: pl.BlockSpec(a.shape, lambda i: (0,) * a.ndim)  # noqa: E731
    moments = jax.ShapeDtypeStruct((rows, values[0].shape[1]), jnp.float32)
    thin = pl.BlockSpec((tile.rows,), lambda i: (i,))
    scale = (LOG2E * kernel.beta * q_size * k_size)[None]
    seen = (*keys, *values, b, scale)
    mask = Mask(kernel.own, kernel.causal)
    top, total, moment = fused_call(
        _body(count, tile, columns // tile.columns, mask, running),
        (rows // tile.rows,),
        (*queries, *seen),
        [*map(strip, queries), *map(whole, seen)],
        [line, line, moments],
        [thin, thin, strip(moments)],
        tile.warps,
    )
    shift = heaviest + (top[:m] / LOG2E if running else kernel.beta)
    lifted = 2.0**-LIFT
    return shift, lifted * total[:m], (lifted * f_size) * moment[:m, :k]


def _prepared(a: Array, rows: int, count: int) -> tuple[list[Array], Array]:
    """Halves of a over its size, with whole blocks of rows and a power of two wide.

    The size is a power of two, so that dividing by it rounds nothing.
    """
    size = size_of(a)
    d = a.shape[1]
    wide = max(16, 1 << max(0, d - 1).bit_length())
    whole = jnp.pad(padded(a / size, rows), ((0, 0), (0, wide - d)))
    return list(halves(whole)[:count]), size


def _body(count: int, tile: Tile, blocks: int, mask: Mask, running: bool):
    """The program of one strip of rows, with `count` halves of every factor."""
    from jax.experimental import pallas as pl

    def body(*refs):
        x, y, f = (refs[k * count : (k + 1) * count] for k in range(3))
        b, c, *out = refs[3 * count :]
        i = pl.program_id(0)
        x_i = [half[...] for half in x]

        def step(j, acc, masked):
            at = pl.ds(j * tile.columns, tile.columns)
            y_j, f_j = ([half[at, :] for half in a] for a in (y, f))
            s = product(x_i[0], y_j[-1], 1)
            if count == 2:  # low times low is nothing
                s = s + product(x_i[1], y_j[0], 1) + product(x_i[0], y_j[0], 1)
            s = c[0] * s + b[at][None, :]
            if masked:
                s = masked_exponents(s, i, j, tile, mask)
            return _added(acc, s, f_j, running)

        zero = jnp.zeros((tile.rows,), jnp.float32)
        empty = jnp.zeros((tile.rows, f[0].shape[1]), jnp.float32)

        def batch(first, length, sums, masked):
            def one(k, acc):
                return step(first + k, acc, masked)

            old, total, moment = sums
            top, *part = lax.fori_loop(0, length, one, (old, zero, empty))
            if running:
                shrunk = exp2(old - top)
                total, moment = total * shrunk, moment * shrunk[:, None]
            return top, total + part[0], moment + part[1]

        start = (jnp.full((tile.rows,), NOTHING, jnp.float32), zero, empty)
        sums = over_columns(batch, start, i, tile, blocks, mask, BATCH)
        for ref, a in zip(out, sums, strict=True):
            ref[...] = a

    return body


def _added(acc, s: Array, f_j: list[Array], running: bool):
    """The accumulators after one more tile of exponents, lifted."""
    top, total, moment = acc
    if running:
        old, top = top, jnp.maximum(top, s.max(axis=1) - LIFT)
        s, shrunk = s - top[:, None], exp2(old - top)
        total, moment = total * shrunk, moment * shrunk[:, None]
    e = exp2(s)
    high = e.astype(jnp.float16)
    for half in f_j:  # one by one: the tensor cores add to what they are given
        moment = moment + product(high, half, 0)
    if len(f_j) == 2:
        low = (e - high.astype(jnp.float32)).astype(jnp.float16)
        moment = moment + product(low, f_j[0], 0)
    return top, total + e.sum(axis=1), moment
