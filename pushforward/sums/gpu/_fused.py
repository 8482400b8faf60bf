"""The exact sum on a GPU, in float32, as one fused kernel.

Rows of the n x n matrix never leave the chip. With unit vectors the shift is fixed
(<x, x> = 1 is the largest logit), so there is no running maximum: one exponential and
2 d + 1 fused multiply-adds per pair. For d <= 3 a two-dimensional tile of partial sums
is kept in registers and reduced rarely; above, both products run on the tensor cores
in three passes of 16-bit halves, which keeps float32 accuracy. All other kernels, such
as those with weights Q and K, take the largest exponent of a row so far as its shift.
Beyond d = 128 the products are large enough for XLA's own (`_wide`).
"""

import functools
import logging

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.sums._blocks import Tiles, fixed_shift_is_legal
from pushforward.sums._exact import Exact, sum_by_rows
from pushforward.sums._kernel import AbstractSum, Kernel, KernelSum
from pushforward.sums._symmetric import differentiated_by_rows
from pushforward.sums.gpu._large import large_sum
from pushforward.sums.gpu._tiles import (
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
from pushforward.sums.gpu._wide import wide_sum

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


SMALL_D = 3  # up to here coordinates are scalars of the tile; above, tensor cores
LARGE_D = 128  # up to here a strip of queries and its moments fit into a fused kernel
WIDE = Tiles(4096, 8192)  # the fastest on an H200
_log = logging.getLogger("pushforward")


class FusedGPU(AbstractSum):
    """The exact sum as a Pallas-Triton kernel, for float32 on a GPU.

    `rows` and `columns` are the tile, `warps` the warps that share it, for d <= 128.
    Without a GPU it runs in interpret mode, for tests; float64 goes to `Exact`, with
    one line in the log. Derivatives are those of the exact sum, in tiles by XLA.
    """

    rows: int = eqx.field(static=True)
    columns: int = eqx.field(static=True)
    warps: int = eqx.field(static=True)

    def __init__(self, rows: int = 0, columns: int = 0, warps: int = 0):
        self.rows = whole("rows", rows, 0, "Zero chooses it by d.")
        self.columns = whole("columns", columns, 0, "Zero chooses it by d.")
        self.warps = whole("warps", warps, 0, "Zero chooses it by d.")
        for name, value in (("rows", rows), ("columns", columns), ("warps", warps)):
            if value & (value - 1):
                raise InputError(f"`{name}` must be a power of two, got {value}.")

    def __call__(self, kernel: Kernel) -> KernelSum:
        """Exact to float32 rounding."""
        return _fused(kernel, self._tile, passes=3)

    def _tile(self, d: int, running: bool) -> Tile:
        """The fastest tiles on an H200 at n = 65,536 (docs/performance.md)."""
        if d <= SMALL_D and not running:
            tile = Tile(16, 64, 2)
        else:
            rows, warps = (64, 4) if d <= 16 else (128, 4) if d <= 64 else (128, 8)
            tile = Tile(rows, 64, warps)
        asked = (self.rows, self.columns, self.warps)
        return Tile(*(a or best for a, best in zip(asked, tile, strict=True)))


class HalfGPU(AbstractSum):
    """`FusedGPU` with one pass of 16-bit halves for d > 3: a quick look, three digits.

    Averages are off by about 1e-3 of a token. The drift of nearly uniform tokens is a
    small difference of such averages and may lose all digits: look, do not measure.
    """

    def __call__(self, kernel: Kernel) -> KernelSum:
        """Fast and coarse on a GPU; in float64 and beyond d = 128 as `FusedGPU`."""
        return _fused(kernel, self._tile, passes=1)

    def _tile(self, d: int, running: bool) -> Tile:
        if d <= SMALL_D and not running:
            return FusedGPU()._tile(d, running)
        return Tile(128, 64, 4)  # the fastest


def _fused(kernel: Kernel, tile_for, passes: int) -> KernelSum:
    if kernel.queries.dtype != jnp.float32:
        _say_once("the fused kernel is for float32")
        return Exact()(kernel)
    of_keys = kernel.values is kernel.keys
    by_rows = sum_by_rows(kernel)

    def sum_with(running: bool):
        fused = functools.partial(
            _at_scale,
            running=running,
            tile_for=tile_for,
            passes=passes,
            of_keys=of_keys,
        )
        return functools.partial(
            differentiated_by_rows, by_pairs=fused, by_rows=by_rows
        )

    if not (kernel.own and kernel.unit):
        return sum_with(running=True)(kernel)
    # A negative beta repels: the self term is then the smallest, not the largest.
    legal = fixed_shift_is_legal(kernel)
    return lax.cond(legal, sum_with(running=False), sum_with(running=True), kernel)


def _at_scale(
    kernel: Kernel, running: bool, tile_for, passes: int, of_keys: bool
) -> KernelSum:
    d, k = kernel.queries.shape[1], kernel.values.shape[1]
    wide = max(d, k)
    if wide > LARGE_D:
        shift, total, moment = wide_sum(kernel, WIDE, running)
    elif wide > SMALL_D or running:
        tile = tile_for(wide, running)
        shift, total, moment = large_sum(kernel, tile, passes, running)
    else:
        tile = tile_for(wide, running)
        total, moment = small_sum(kernel, tile, of_keys)
        shift = kernel.beta
    shift = jnp.broadcast_to(shift, total.shape)
    some = total > 0
    log_total = jnp.where(some, shift + jnp.log(jnp.where(some, total, 1.0)), -jnp.inf)
    if not kernel.own:
        return KernelSum(log_total, shift, moment, None)
    overlap = jnp.sum(kernel.queries * kernel.keys, axis=1)
    log_own = kernel.beta * overlap + kernel.log_weights
    return KernelSum(jnp.logaddexp(log_total, log_own), shift, moment, log_own)


@functools.cache
def _say_once(why: str) -> None:
    _log.info("%s: using the XLA sum instead", why)
