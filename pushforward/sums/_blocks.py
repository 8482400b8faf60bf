"""The exact sum tile by tile: rows times columns, never the whole matrix.

With t_ij = log2(e) (beta <q_i, k_j> + log w_j), every tile adds
2^{t_ij - shift_i} (1, f_j) to the accumulators of its rows. The shift is log2(e) beta
where that is legal, and otherwise the maximum of the row, found by a first pass. Tiles
to the right of a causal diagonal are skipped.

2^t by a polynomial: twice as fast on a CPU as the compiler's exponential.
"""

import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pushforward.sums._kernel import Kernel, KernelSum

LOG2_E = 1.4426950408889634

# Near-minimax polynomials of 2^r on [-1/2, 1/2], highest power first; relative errors
# 3e-18 and 2e-9, so that rounding decides: 2.2e-16 and 8e-8 were measured.
_FLOAT64 = (
    4.4558179083360645e-10,
    7.074194297288521e-09,
    1.0178057087733941e-07,
    1.3215432535912375e-06,
    1.5252733841556773e-05,
    0.00015403530463724353,
    0.001333355814640647,
    0.009618129107587256,
    0.055504108664821625,
    0.24022650695910158,
    0.6931471805599453,
    1.0,
)
_FLOAT32 = (
    0.0001546144469856913,
    0.0013400428177615838,
    0.009618056678524637,
    0.05550327226670302,
    0.24022650922288757,
    0.6931472067028326,
    1.0,
)


@jax.custom_jvp
def exp2(t: Float[Array, "..."]) -> Float[Array, "..."]:
    """2^t for t at most 1023 (float32: 127); zero where it would be subnormal."""
    if t.dtype not in (jnp.float32, jnp.float64):
        return jnp.exp2(t)
    return jax.lax.platform_dependent(t, cpu=_polynomial, default=jnp.exp2)


@exp2.defjvp
def _exp2_jvp(primals, tangents):
    (t,), (dt,) = primals, tangents
    value = exp2(t)
    return value, np.log(2.0).astype(t.dtype) * value * dt


def _polynomial(t: Array) -> Array:
    wide = t.dtype == jnp.float64
    bits, mantissa, least = (
        (jnp.int64, 52, -1022.0) if wide else (jnp.int32, 23, -126.0)
    )
    k = jax.lax.round(t, jax.lax.RoundingMethod.TO_NEAREST_EVEN)
    r = t - k
    p = jnp.zeros_like(r)
    for c in _FLOAT64 if wide else _FLOAT32:
        p = p * r + jnp.asarray(c, t.dtype)
    # The low bits of 1.5 2^mantissa + k are the integer k: no conversion is needed,
    # which matters because float64 to int64 is slow before AVX-512.
    raised = k + jnp.asarray(1.5 * 2.0**mantissa, t.dtype)
    exponent = jax.lax.shift_left(
        jax.lax.bitcast_convert_type(raised, bits), jnp.asarray(mantissa, bits)
    )
    scaled = jax.lax.bitcast_convert_type(
        jax.lax.bitcast_convert_type(p, bits) + exponent, t.dtype
    )
    return jnp.where(t < least, jnp.zeros((), t.dtype), scaled)


NOTHING = -1e30  # the logarithm of a weight of zero; finite, for the gradient
SMALLEST = {4: -40.0, 8: -600.0}  # log weights above this survive the fixed shift
COLDEST = {4: 1e7, 8: 1e15}  # beyond, the rounding of <x, x> alone would overflow
UNROLLED = 4  # dimension up to which an inner product is written out
LANES = 8  # columns that the vector units take at once
FULL = jax.lax.Precision.HIGHEST  # never TF32, where there is such a thing


class Tiles(NamedTuple):
    """How many rows and columns are handled at once."""

    rows: int
    columns: int


class _Columns(NamedTuple):
    """A tile of columns; keys and logarithms of weights in units of log2(e)."""

    place: Int[Array, "c"]
    keys: Float[Array, "d c"]
    weight: Float[Array, "c"]
    values: Float[Array, "c k"]


class _Rows(NamedTuple):
    """A block of rows."""

    place: Int[Array, "b"]
    queries: Float[Array, "b d"]


@partial(jax.jit, static_argnames=("tiles",))
def blocked(
    kernel: Kernel, tiles: Tiles, which: Int[Array, "m"] | None = None
) -> KernelSum:
    """The sum by tiles.

    `which` says, in increasing order, which keys the queries are when they are some.
    """
    m = kernel.queries.shape[0]
    columns = _columns(kernel, tiles.columns)
    blocks = -(-m // tiles.rows)
    more = blocks * tiles.rows - m
    queries = jnp.pad(kernel.queries, ((0, more), (0, 0)))
    index = jnp.arange(m, dtype=jnp.int32) if which is None else which
    index = index.astype(jnp.int32)
    after = jnp.arange(1, more + 1, dtype=jnp.int32)
    index = jnp.concatenate([index, index[-1] + after])
    split = lambda a: a.reshape(blocks, tiles.rows, *a.shape[1:])  # noqa: E731
    rows = _Rows(split(index), split(queries))
    fixed = fixed_shift_is_legal(kernel)
    out = jax.lax.map(lambda r: _one_block(kernel, r, columns, fixed), rows)
    join = lambda a: a.reshape(index.size, *a.shape[2:])[:m]  # noqa: E731
    shift, total, moment = jax.tree_util.tree_map(join, out)
    return _finished(kernel, shift, total, moment, which)


def fixed_shift_is_legal(kernel: Kernel) -> Bool[Array, ""]:
    """On the sphere the self term is e^{beta}: no total can vanish below it."""
    if not (kernel.own and kernel.unit):
        return jnp.array(False)
    size = kernel.keys.dtype.itemsize
    attracts = (kernel.beta >= 0) & (kernel.beta <= COLDEST[size])
    return attracts & (kernel.log_weights.min() > SMALLEST[size])


def _columns(kernel: Kernel, width: int) -> _Columns:
    n = kernel.keys.shape[0]
    count = -(-n // width)
    more = count * width - n
    scale = jnp.asarray(LOG2_E, kernel.keys.dtype)
    weight = jnp.maximum(scale * kernel.log_weights, NOTHING)
    weight = jnp.pad(weight, (0, more), constant_values=NOTHING)
    keys = jnp.pad(scale * kernel.beta * kernel.keys, ((0, more), (0, 0)))
    values = jnp.pad(kernel.values, ((0, more), (0, 0)))
    split = lambda a: a.reshape(count, width, *a.shape[1:])  # noqa: E731
    index = split(jnp.arange(n + more, dtype=jnp.int32))
    return _Columns(index, split(keys).swapaxes(1, 2), split(weight), split(values))


def _one_block(kernel: Kernel, rows: _Rows, columns: _Columns, fixed):
    """Shift, sum_j 2^{t_ij - shift_i} and the same with f_j, for one block of rows."""
    still = jax.lax.stop_gradient((kernel, rows, columns))
    constant = still[0].beta * jnp.asarray(LOG2_E, rows.queries.dtype)
    if kernel.own and kernel.unit:
        shift = jax.lax.cond(
            fixed,
            lambda *_: jnp.full(rows.place.shape, constant),
            _row_maximum,
            *still,
        )
    else:
        shift = _row_maximum(*still)

    def add(tile: _Columns, masked: bool, carry):
        # Recomputed in the gradient: nothing of the size of a tile is kept.
        part = jax.checkpoint(
            lambda rows, tile: _part(kernel, rows, tile, shift, masked),
            prevent_cse=False,
        )
        return jax.tree_util.tree_map(jnp.add, carry, part(rows, tile))

    def step(carry, tile: _Columns):
        right = tile.place[0] > rows.place[-1]
        apart = right | (tile.place[-1] < rows.place[0])
        far, near = (lambda c: add(tile, False, c)), (lambda c: add(tile, True, c))
        if not (kernel.own or kernel.causal):
            return jax.lax.cond(_always(tile), far, lambda c: c, carry), None
        if not kernel.causal:
            return jax.lax.cond(apart, far, near, carry), None
        place = jnp.where(right, 0, jnp.where(apart, 1, 2))
        return jax.lax.switch(place, [lambda c: c, far, near], carry), None

    total = jnp.zeros(rows.place.shape, rows.queries.dtype)
    moment = jnp.zeros((rows.place.size, columns.values.shape[-1]), total.dtype)
    return shift, *jax.lax.scan(step, (total, moment), columns)[0]


def _row_maximum(kernel: Kernel, rows: _Rows, columns: _Columns) -> Float[Array, "b"]:
    """max_j t_ij over what the row sees, itself left out when `own`."""

    def higher(tile: _Columns, top):
        t_ij = _logits(kernel, rows, tile, masked=True)
        lanes = math.gcd(t_ij.shape[1], 64)  # a maximum across vectors, then within one
        t_ij = t_ij.reshape(t_ij.shape[0], -1, lanes).max(axis=1).max(axis=1)
        return jnp.maximum(top, t_ij)

    def step(top, tile: _Columns):
        more = lambda top: higher(tile, top)  # noqa: E731
        return jax.lax.cond(_always(tile), more, lambda top: top, top), None

    start = jnp.full(rows.place.shape, NOTHING, rows.queries.dtype)
    return jax.lax.scan(step, start, columns)[0]


def _always(tile: _Columns) -> Bool[Array, ""]:
    """True, but only at run time.

    Inside a branch the compiler fuses and vectorizes a tile; outside, it fuses the cut
    of the tile as well and is four times slower.
    """
    return tile.place[0] >= 0


def _logits(kernel: Kernel, rows: _Rows, tile: _Columns, masked: bool):
    t_ij = products(rows.queries, tile.keys) + tile.weight[None, :]
    if not masked or not (kernel.own or kernel.causal):
        return t_ij
    i, j = rows.place[:, None], tile.place[None, :]
    if kernel.causal:
        keep = j < i if kernel.own else j <= i
    else:
        keep = j != i
    return jnp.where(keep, t_ij, NOTHING)


def products(q: Float[Array, "b d"], keys: Float[Array, "d c"]):
    """<q_i, k_j>; written out in low dimension, where it fuses with the exponential."""
    d = q.shape[1]
    if d > UNROLLED:
        return jnp.matmul(q, keys, precision=FULL)
    return sum(q[:, a : a + 1] * keys[a : a + 1, :] for a in range(d))


def _part(kernel: Kernel, rows: _Rows, tile: _Columns, shift, masked: bool):
    a_ij = exp2(_logits(kernel, rows, tile, masked) - shift[:, None])
    if tile.values.shape[1] % LANES == 0:  # one more column would cost a whole vector
        total = jnp.matmul(a_ij, jnp.ones_like(tile.weight), precision=FULL)
        return total, jnp.matmul(a_ij, tile.values, precision=FULL)
    joined = jnp.concatenate([jnp.ones_like(tile.weight)[:, None], tile.values], axis=1)
    both = jnp.matmul(a_ij, joined, precision=FULL)
    return both[:, 0], both[:, 1:]


def _finished(kernel: Kernel, shift, total, moment, which) -> KernelSum:
    """Back to natural logarithms, with the self term apart."""
    log_scale = shift / jnp.asarray(LOG2_E, shift.dtype)
    some = total > 0
    log_total = log_scale + jnp.log(jnp.where(some, total, 1.0))
    log_total = jnp.where(some, log_total, -jnp.inf)
    log_own = None
    if kernel.own:
        keys, weight = kernel.keys, kernel.log_weights
        if which is not None:
            keys, weight = keys[which], weight[which]
        log_own = kernel.beta * jnp.sum(kernel.queries * keys, axis=1) + weight
        log_total = jnp.logaddexp(log_total, log_own)
    return KernelSum(log_total, log_scale, moment, log_own)
