"""The exact sum on a GPU, in float32, as one fused kernel.

Rows of the n x n matrix never leave the chip. With unit vectors the shift is fixed
(<x, x> = 1 is the largest logit), so there is no running maximum: one exponential and
2 d + 1 fused multiply-adds per pair. For small d a two-dimensional tile of partial sums
is kept in registers and reduced rarely; above, both products run on the tensor cores
in three passes of 16-bit halves, which keeps float32 accuracy.
"""

import functools
import logging

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.sums._exact import Exact
from pushforward.sums._kernel import AbstractSum, Kernel, KernelSum
from pushforward.sums._pallas_large import large_sum
from pushforward.sums._pallas_small import small_sum

Tile = tuple[int, int, int]
SMALL_D = 8  # up to here coordinates are scalars of the tile; above, tensor cores
_log = logging.getLogger("pushforward")


class FusedGPU(AbstractSum):
    """The exact sum as a Pallas-Triton kernel, for float32 on a GPU.

    `rows` and `columns` are the tile, `warps` the warps that share it. Without a GPU it
    runs in interpret mode, for tests; what it cannot do (other shifts than the fixed
    one, float64) goes to `Exact`, with one line in the log.
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
        """Exact to float32 rounding; falls back where the fixed shift is not legal."""
        tile = self._tile(kernel.queries.shape[1])
        return _where_legal(kernel, tile, passes=3)

    def _tile(self, d: int) -> Tile:
        """The fastest tiles on an H200 at n = 131,072 (docs/performance.md)."""
        if d <= SMALL_D:
            tile = (16, 64, 2)
        else:
            tile = (64, 64, 4) if d <= 64 else (128, 64, 8)
        chosen = zip((self.rows, self.columns, self.warps), tile, strict=True)
        rows, columns, warps = (asked or best for asked, best in chosen)
        return rows, columns, warps


class HalfGPU(AbstractSum):
    """`FusedGPU` with one pass of 16-bit halves for d > 8: a quick look, three digits.

    Averages are off by about 1e-3 of a token. The drift of nearly uniform tokens is a
    small difference of such averages and may lose all digits: look, do not measure.
    """

    def __call__(self, kernel: Kernel) -> KernelSum:
        """Fast and coarse on a GPU; falls back as `FusedGPU` does."""
        d = kernel.queries.shape[1]
        tile = (128, 64, 4) if d > SMALL_D else FusedGPU()._tile(d)  # the fastest
        return _where_legal(kernel, tile, passes=1)


def _where_legal(kernel: Kernel, tile: Tile, passes: int) -> KernelSum:
    why = _unsuited(kernel)
    if why:
        _warn_once(why)
        return Exact()(kernel)
    attracted = functools.partial(_attracted, tile=tile, passes=passes)
    # A negative beta repels: the self term is then the smallest, not the largest.
    return lax.cond(kernel.beta >= 0, attracted, Exact(), kernel)


def _attracted(kernel: Kernel, tile: Tile, passes: int) -> KernelSum:
    total, moment = _fused(
        kernel.queries,
        kernel.keys,
        kernel.values,
        kernel.log_weights,
        kernel.beta,
        kernel.causal,
        tile,
        passes,
    )
    shift = jnp.broadcast_to(kernel.beta, total.shape)
    overlap = jnp.sum(kernel.queries * kernel.keys, axis=1)
    log_own = kernel.beta * overlap + kernel.log_weights
    total = total + jnp.exp(log_own - shift)
    return KernelSum(shift + jnp.log(total), shift, moment, log_own)


def _unsuited(kernel: Kernel) -> str:
    if kernel.queries.dtype != jnp.float32:
        return "the fused kernel is for float32"
    if not (kernel.unit and kernel.own):
        return "the fused kernel needs unit tokens that see themselves"
    if kernel.values.shape[1] != kernel.queries.shape[1]:
        return "the fused kernel averages the tokens themselves"
    return ""


@functools.cache
def _warn_once(why: str) -> None:
    _log.info("%s: using the XLA sum instead", why)


@functools.partial(jax.custom_vjp, nondiff_argnums=(5, 6, 7))
def _fused(x, y, f, log_w, beta, causal: bool, tile: Tile, passes: int):
    """sum_{j != i} w_j e^{beta (<x_i, y_j> - 1)} (1, f_j), over j < i if causal."""
    if x.shape[1] <= SMALL_D:
        return small_sum(x, y, f, log_w, beta, causal, tile)
    return large_sum(x, y, f, log_w, beta, causal, tile, passes)


def _forward(x, y, f, log_w, beta, causal, tile, passes):
    return _fused(x, y, f, log_w, beta, causal, tile, passes), (x, y, f, log_w, beta)


def _backward(causal, tile, passes, saved, cotangents):
    """The gradient recomputes row blocks with XLA instead of keeping them."""

    def same(x, y, f, log_w, beta):
        out = Exact()(Kernel(x, y, f, log_w, beta, own=True, causal=causal))
        assert out.log_own is not None
        scale = jnp.exp(out.log_scale - beta)[:, None]
        others = jnp.exp(out.log_total - beta) - jnp.exp(out.log_own - beta)
        return others, scale * out.moment

    return jax.vjp(same, *saved)[1](cotangents)


_fused.defvjp(_forward, _backward)
