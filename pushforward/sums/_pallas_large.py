"""The fused sum for d > 8: both products on the tensor cores, in halves."""

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

from pushforward.sums._pallas_tiles import (
    LOG2E,
    call,
    exp2,
    exponents,
    masked_exponents,
    over_columns,
    padded,
)

LIFT = 2.0**11  # brings the low half of an exponential into the range of a half


def large_sum(x, y, f, log_w, beta, causal: bool, tile, passes: int):
    """sum_{j != i} w_j e^{beta (<x_i, y_j> - 1)} (1, f_j) by matrix products.

    In three passes every factor is a high and a low half; in one, the high half.
    """
    from jax.experimental import pallas as pl

    (R, C, warps), (m, d) = tile, x.shape
    wide = max(16, 1 << (d - 1).bit_length())
    pad = ((0, 0), (0, wide - d))
    heaviest = log_w.max()  # relative to it exponentials fill the range of a half
    b = exponents(log_w - heaviest, beta, C)
    parts = (padded(x, R), padded(y, C), padded(f, C))
    count = 2 if passes == 3 else 1
    halves = [half for a in parts for half in _halves(jnp.pad(a, pad))[:count]]
    rows, columns = halves[0].shape[0], b.shape[0]
    strip = pl.BlockSpec((R, wide), lambda i: (i, 0))
    whole = pl.BlockSpec((columns, wide), lambda i: (0, 0))
    line = pl.BlockSpec((columns,), lambda i: (0,))
    number = pl.BlockSpec((1,), lambda i: (0,))
    total, moment = call(
        _body(wide, R, C, columns // C, causal, count),
        (rows // R,),
        (*halves, b, (LOG2E * beta)[None]),
        [strip] * count + [whole] * (2 * count) + [line, number],
        [
            jax.ShapeDtypeStruct((rows,), jnp.float32),
            jax.ShapeDtypeStruct((rows, wide), jnp.float32),
        ],
        [pl.BlockSpec((R,), lambda i: (i,)), strip],
        warps,
    )
    scale = jnp.exp(heaviest)
    return scale * total[:m], scale * moment[:m, :d]


def _body(wide: int, R: int, C: int, blocks: int, causal: bool, count: int):
    """The program of R rows, with `count` halves of every factor."""
    from jax.experimental import pallas as pl

    def body(*refs):
        x, y, f = (refs[k * count : (k + 1) * count] for k in range(3))
        b, c, *out = refs[3 * count :]
        i = pl.program_id(0)
        x_i = [half[...] for half in x]

        def step(j, acc, masked):
            at = pl.ds(j * C, C)
            y_j, f_j = ([half[at, :] for half in a] for a in (y, f))
            s = _dot(x_i[0], y_j[-1], 1)
            if count == 2:  # low times low is nothing
                s = s + _dot(x_i[1], y_j[0], 1) + _dot(x_i[0], y_j[0], 1)
            s = c[0] * s + b[at][None, :]
            if masked:
                s = masked_exponents(s, i, j, R, C, causal)
            e = exp2(s)
            high = e.astype(jnp.float16)
            moment, rest = acc[1:]
            for half in f_j:  # one by one: the tensor cores add to what they are given
                moment = moment + _dot(high, half, 0)
            if count == 2:
                low = ((e - high.astype(jnp.float32)) * LIFT).astype(jnp.float16)
                rest = rest + _dot(low, f_j[0], 0)
            return acc[0] + e.sum(axis=1), moment, rest

        empty = jnp.zeros((R, wide), jnp.float32)
        zero = (jnp.zeros((R,), jnp.float32), empty, empty)

        def batch(first, count, sums, masked):
            # Tensor cores truncate when they add: long sums are made of short ones.
            def one(k, acc):
                return step(first + k, acc, masked)

            total, moment, rest = lax.fori_loop(0, count, one, zero)
            return sums[0] + total, sums[1] + (moment + rest / LIFT)

        total, moment = over_columns(batch, zero[:2], i, R, C, blocks, causal)
        out[0][...] = total
        out[1][...] = moment

    return body


def _halves(a: Array) -> tuple[Array, Array]:
    """a = high + low in two halves: 22 bits, enough for float32 accuracy."""
    # Not by casting back and forth, which XLA takes for the identity.
    high = lax.reduce_precision(a, exponent_bits=5, mantissa_bits=10)
    return high.astype(jnp.float16), (a - high).astype(jnp.float16)


def _dot(a: Array, b: Array, over: int) -> Array:
    """a b^T when `over` is 1, a b when it is 0, on the tensor cores."""
    dims = (((1,), (over,)), ((), ()))
    return lax.dot_general(a, b, dims, preferred_element_type=jnp.float32)
