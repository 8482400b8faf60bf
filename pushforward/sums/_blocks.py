"""The exact sum tile by tile: rows times columns, never the whole matrix.

With t_ij = log2(e) (beta <q_i, k_j> + log w_j), every tile adds
2^{t_ij - shift_i} (1, f_j) to the accumulators of its rows. The shift is fixed where one
is legal, and the running maximum of the row otherwise. Tiles to the right of a causal
diagonal are skipped.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from pushforward.sums._exponential import LOG2_E, exp2
from pushforward.sums._kernel import Kernel, KernelSum

NOTHING = -1e30  # the logarithm of a weight of zero; finite, for the gradient
UNROLLED = 4  # dimension up to which an inner product is written out
LANES = 8  # columns that the vector units take at once
FULL = jax.lax.Precision.HIGHEST


class Tiles(NamedTuple):
    """How many rows and columns are handled at once."""

    rows: int
    columns: int


class _Tile(NamedTuple):
    """Some columns; keys and logarithms of weights in units of log2(e)."""

    index: Int[Array, "c"]
    keys: Float[Array, "d c"]
    weight: Float[Array, "c"]
    values: Float[Array, "c k"]


class _Rows(NamedTuple):
    """Some rows."""

    index: Int[Array, "b"]
    queries: Float[Array, "b d"]


def blocked(
    kernel: Kernel, tiles: Tiles, fixed: bool, which: Int[Array, "m"] | None = None
) -> KernelSum:
    """The sum by tiles; `fixed` promises that 2^{t - log2(e) beta} cannot vanish.

    `which` says, in increasing order, which keys the queries are, when they are not all.
    """
    m = kernel.queries.shape[0]
    columns = _columns(kernel, tiles.columns, fixed)
    blocks = -(-m // tiles.rows)
    queries = jnp.pad(kernel.queries, ((0, blocks * tiles.rows - m), (0, 0)))
    index = jnp.arange(blocks * tiles.rows)
    if which is not None:
        index = jnp.pad(which, (0, blocks * tiles.rows - m), mode="edge")
    index = index.reshape(blocks, tiles.rows)
    rows = _Rows(index, queries.reshape(blocks, tiles.rows, -1))
    out = jax.lax.map(lambda r: _accumulated(kernel, r, columns, fixed), rows)
    flat = jax.tree_util.tree_map(lambda a: a.reshape(-1, *a.shape[2:])[:m], out)
    return _finished(kernel, *flat, fixed, which)


def _columns(kernel: Kernel, width: int, fixed: bool) -> _Tile:
    n = kernel.keys.shape[0]
    count = -(-n // width)
    more = count * width - n
    scale = jnp.asarray(LOG2_E, kernel.keys.dtype)
    offset = kernel.beta if fixed else jnp.zeros_like(kernel.beta)
    weight = jnp.maximum(scale * (kernel.log_weights - offset), NOTHING)
    weight = jnp.pad(weight, (0, more), constant_values=NOTHING)
    keys = jnp.pad(scale * kernel.beta * kernel.keys, ((0, more), (0, 0)))
    values = jnp.pad(kernel.values, ((0, more), (0, 0)))
    split = lambda a: a.reshape(count, width, *a.shape[1:])  # noqa: E731
    index = split(jnp.arange(n + more))
    return _Tile(index, split(keys).swapaxes(1, 2), split(weight), split(values))


def _accumulated(kernel: Kernel, rows: _Rows, columns: _Tile, fixed: bool):
    """Shift, sum_j 2^{t_ij - shift_i} and the same with f_j, for one block of rows."""
    dtype = rows.queries.dtype

    def add(tile: _Tile, masked: bool, carry):
        shift, total, moment = carry
        if not fixed:
            t_ij = jax.lax.stop_gradient(_logits(kernel, rows, tile, masked))
            top = jnp.maximum(shift, t_ij.max(axis=1))
            shrink, shift = exp2(shift - top), top
            total, moment = shrink * total, shrink[:, None] * moment
        # Recomputed in the gradient: nothing of the size of a tile is kept.
        part = jax.checkpoint(
            lambda rows, tile: _part(kernel, rows, tile, shift, masked, fixed),
            prevent_cse=False,
        )
        more, moment_more = part(rows, tile)
        return shift, total + more, moment + moment_more

    def step(carry, tile: _Tile):
        if not (kernel.own or kernel.causal):
            return add(tile, False, carry), None
        right = tile.index[0] > rows.index[-1]
        apart = right | (tile.index[-1] < rows.index[0])
        far, near = (lambda c: add(tile, False, c)), (lambda c: add(tile, True, c))
        if not kernel.causal:
            return jax.lax.cond(apart, far, near, carry), None
        place = jnp.where(right, 0, jnp.where(apart, 1, 2))
        return jax.lax.switch(place, [lambda c: c, far, near], carry), None

    shift = jnp.full(rows.index.shape, 0.0 if fixed else NOTHING, dtype)
    total = jnp.zeros(rows.index.shape, dtype)
    moment = jnp.zeros((rows.index.size, columns.values.shape[-1]), dtype)
    return jax.lax.scan(step, (shift, total, moment), columns)[0]


def _logits(kernel: Kernel, rows: _Rows, tile: _Tile, masked: bool):
    t_ij = _products(rows.queries, tile.keys) + tile.weight[None, :]
    if not masked:
        return t_ij
    i, j = rows.index[:, None], tile.index[None, :]
    if kernel.causal:
        keep = j < i if kernel.own else j <= i
    else:
        keep = j != i
    return jnp.where(keep, t_ij, NOTHING)


def _products(q: Float[Array, "b d"], keys: Float[Array, "d c"]):
    """<q_i, k_j>; written out in low dimension, where it fuses with the exponential."""
    d = q.shape[1]
    if d > UNROLLED:
        return jnp.matmul(q, keys, precision=FULL)
    return sum(q[:, a : a + 1] * keys[a : a + 1, :] for a in range(d))


def _part(kernel: Kernel, rows: _Rows, tile: _Tile, shift, masked, fixed):
    t_ij = _logits(kernel, rows, tile, masked)
    a_ij = exp2(t_ij if fixed else t_ij - shift[:, None])
    if tile.values.shape[1] % LANES == 0:  # one more column would cost a whole vector
        total = jnp.matmul(a_ij, jnp.ones_like(tile.weight), precision=FULL)
        return total, jnp.matmul(a_ij, tile.values, precision=FULL)
    joined = jnp.concatenate([jnp.ones_like(tile.weight)[:, None], tile.values], axis=1)
    both = jnp.matmul(a_ij, joined, precision=FULL)
    return both[:, 0], both[:, 1:]


def _finished(kernel: Kernel, shift, total, moment, fixed, which) -> KernelSum:
    """Back to natural logarithms, with the self term apart."""
    log_scale = shift / jnp.asarray(LOG2_E, shift.dtype)
    if fixed:
        log_scale = log_scale + kernel.beta
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
