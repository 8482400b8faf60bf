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
import jax.numpy as jnp
from jax import lax

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.sums._blocks import Tiles, fixed_shift_is_legal
from pushforward.sums._exact import Exact, sum_by_rows
from pushforward.sums._kernel import AbstractSum, Kernel, KernelSum
from pushforward.sums._pallas_large import large_sum
from pushforward.sums._pallas_small import small_sum
from pushforward.sums._pallas_tiles import Tile
from pushforward.sums._symmetric import differentiated_by_rows
from pushforward.sums._wide import wide_sum

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
