"""The exact sum on a GPU, in float32, as one fused kernel.

Rows of the n x n matrix never leave the chip. With unit vectors the shift is fixed
(<x, x> = 1 is the largest logit), so there is no running maximum: one exponential and
2 d + 1 fused multiply-adds per pair. For small d a two-dimensional tile of partial sums
is kept in registers and reduced rarely; above, both products run on the tensor cores
in three passes of 16-bit halves, which keeps float32 accuracy.
"""

import functools
import logging
import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.sums._exact import Exact
from pushforward.sums._kernel import AbstractSum, Kernel, KernelSum

LOG2E = math.log2(math.e)
BATCH = 64  # column blocks whose sums stay in float32 before they go to float64
LIFT = 2.0**11  # brings the low half of an exponential into the range of a half
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
        why = _unsuited(kernel)
        if why:
            _warn_once(why)
            return Exact()(kernel)
        # A negative beta repels: the self term is then the smallest, not the largest.
        return lax.cond(kernel.beta >= 0, self._attracted, Exact(), kernel)

    def _attracted(self, kernel: Kernel) -> KernelSum:
        tile = self._tile(kernel.queries.shape[1])
        total, moment = _fused(
            kernel.queries,
            kernel.keys,
            kernel.values,
            kernel.log_weights,
            kernel.beta,
            kernel.causal,
            tile,
        )
        shift = jnp.broadcast_to(kernel.beta, total.shape)
        overlap = jnp.sum(kernel.queries * kernel.keys, axis=1)
        log_own = kernel.beta * overlap + kernel.log_weights
        total = total + jnp.exp(log_own - shift)
        return KernelSum(shift + jnp.log(total), shift, moment, log_own)

    def _tile(self, d: int) -> tuple[int, int, int]:
        """The fastest tiles on an H200 at n = 131,072 (docs/performance.md)."""
        if d <= 2:
            tile = (32, 32, 2)
        elif d <= SMALL_D:
            tile = (32, 64, 4)
        else:
            tile = (64, 64, 4) if d <= 64 else (128, 64, 8)
        chosen = zip((self.rows, self.columns, self.warps), tile, strict=True)
        rows, columns, warps = (asked or best for asked, best in chosen)
        return rows, columns, warps


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


@functools.partial(jax.custom_vjp, nondiff_argnums=(5, 6))
def _fused(x, y, f, log_w, beta, causal: bool, tile: tuple[int, int, int]):
    """sum_{j != i} w_j e^{beta (<x_i, y_j> - 1)} (1, f_j), over j < i if causal."""
    if x.shape[1] <= SMALL_D:
        return _small(x, y, f, log_w, beta, causal, tile)
    return _large(x, y, f, log_w, beta, causal, tile)


def _forward(x, y, f, log_w, beta, causal, tile):
    return _fused(x, y, f, log_w, beta, causal, tile), (x, y, f, log_w, beta)


def _backward(causal, tile, saved, cotangents):
    """The gradient recomputes row blocks with XLA instead of keeping them."""

    def same(x, y, f, log_w, beta):
        out = Exact()(Kernel(x, y, f, log_w, beta, own=True, causal=causal))
        assert out.log_own is not None
        scale = jnp.exp(out.log_scale - beta)[:, None]
        others = jnp.exp(out.log_total - beta) - jnp.exp(out.log_own - beta)
        return others, scale * out.moment

    return jax.vjp(same, *saved)[1](cotangents)


_fused.defvjp(_forward, _backward)


def _padded(a: Array, multiple: int, fill: float = 0.0) -> Array:
    extra = -a.shape[0] % multiple
    widths = ((0, extra),) + ((0, 0),) * (a.ndim - 1)
    return jnp.pad(a, widths, constant_values=fill)


def _exponents(log_w: Array, beta: Array, columns: int) -> Float[Array, "n"]:
    """log2 of w_j e^{-beta}; padding gets -inf and so weighs nothing."""
    return _padded(LOG2E * (log_w - beta), columns, -jnp.inf)


def _call(body, grid, inputs, in_specs, outputs, out_specs, warps):
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton as plt

    interpret = jax.default_backend() != "gpu"
    settings = plt.CompilerParams(num_warps=warps, num_stages=2)
    return pl.pallas_call(
        body,
        grid=grid,
        in_specs=in_specs,
        out_specs=out_specs,
        out_shape=outputs,
        interpret=interpret,
        compiler_params=None if interpret else settings,
    )(*inputs)


def _exp2(s: Array) -> Array:
    """2^s by the special-function unit alone; jnp.exp2 adds a range check."""
    if jax.default_backend() != "gpu":
        return jnp.exp2(s)
    from jax.experimental.pallas import triton as plt

    (out,) = plt.elementwise_inline_asm(
        "ex2.approx.ftz.f32 $0, $1;",
        args=[s],
        constraints="=f,f",
        pack=1,
        result_shape_dtypes=[jax.ShapeDtypeStruct(s.shape, s.dtype)],
    )
    return out


def _small(x, y, f, log_w, beta, causal, tile):
    from jax.experimental import pallas as pl

    (R, C, warps), (m, d) = tile, x.shape
    xs = [(LOG2E * beta) * column for column in _padded(x, R).T]
    ys = list(_padded(y, C).T)
    b = _exponents(log_w, beta, C)
    rows, blocks = xs[0].shape[0], b.shape[0] // C

    def body(*refs):
        x_refs, y_refs, b_ref, out = (
            refs[:d],
            refs[d : 2 * d],
            refs[2 * d],
            refs[2 * d + 1 :],
        )
        i = pl.program_id(0)
        x_i = [ref[...][:, None] for ref in x_refs]

        def step(j, acc, masked=False):
            at = pl.ds(j * C, C)
            y_j = [ref[at][None, :] for ref in y_refs]
            s = b_ref[at][None, :] + x_i[0] * y_j[0]
            for x_k, y_k in zip(x_i[1:], y_j[1:], strict=True):
                s = s + x_k * y_k
            if masked:
                row = i * R + lax.broadcasted_iota(jnp.int32, (R, C), 0)
                column = j * C + lax.broadcasted_iota(jnp.int32, (R, C), 1)
                s = jnp.where(_seen(row, column, causal), s, -jnp.inf)
            e = _exp2(s)
            return (
                acc[0] + e,
                *(a + e * y_k for a, y_k in zip(acc[1:], y_j, strict=True)),
            )

        tile = tuple(jnp.zeros((R, C), jnp.float32) for _ in range(d + 1))
        line = tuple(jnp.zeros((R,), jnp.float64) for _ in range(d + 1))

        def batch(first, last, total, masked):
            part = lax.fori_loop(
                first, last, functools.partial(step, masked=masked), tile
            )
            new = (a.sum(axis=1).astype(jnp.float64) for a in part)
            return tuple(t + a for t, a in zip(total, new, strict=True))

        total = _loop(batch, line, i, R, C, blocks, causal)
        for ref, a in zip(out, total, strict=True):
            ref[...] = a.astype(jnp.float32)

    tiles = pl.BlockSpec((R,), lambda i: (i,))
    whole_array = pl.BlockSpec(b.shape, lambda i: (0,))
    column = jax.ShapeDtypeStruct((rows,), jnp.float32)
    out = _call(
        body,
        (rows // R,),
        (*xs, *ys, b),
        [tiles] * d + [whole_array] * (d + 1),
        [column] * (d + 1),
        [tiles] * (d + 1),
        warps,
    )
    return out[0][:m], jnp.stack(out[1:], axis=1)[:m]


def _seen(row: Array, column: Array, causal: bool) -> Array:
    """Every other token, or every earlier one; never the token itself."""
    return column < row if causal else column != row


def _loop(batch, total, i, R: int, C: int, blocks: int, causal: bool):
    """All column blocks, in batches whose partial sums are short enough for float32.

    First the blocks before the diagonal, then those on it, where tokens meet
    themselves, then, without a causal mask, those after it.
    """
    first = jnp.minimum((i * R) // C, blocks)
    last = jnp.minimum((i * R + R - 1) // C + 1, blocks)

    def many(start, stop, total):
        def one(k, total):
            begin = start + k * BATCH
            return batch(begin, jnp.minimum(begin + BATCH, stop), total, False)

        return lax.fori_loop(0, (stop - start + BATCH - 1) // BATCH, one, total)

    total = many(0, first, total)
    total = batch(first, last, total, True)
    return total if causal else many(last, blocks, total)


def _large(x, y, f, log_w, beta, causal, tile):
    from jax.experimental import pallas as pl

    (R, C, warps), (m, d) = tile, x.shape
    wide = max(16, 1 << (d - 1).bit_length())
    pad = ((0, 0), (0, wide - d))
    # Relative to the heaviest token exponentials fill the range of a half.
    heaviest = log_w.max()
    c = (LOG2E * beta)[None]
    xs = jnp.pad(_padded(x, R), pad)
    ys, fs = jnp.pad(_padded(y, C), pad), jnp.pad(_padded(f, C), pad)
    b = _exponents(log_w - heaviest, beta, C)
    rows, blocks = xs.shape[0], b.shape[0] // C
    (xs, xs_low), (ys, ys_low), (fs, fs_low) = (_halves(a) for a in (xs, ys, fs))

    def body(x_ref, xl_ref, y_ref, yl_ref, f_ref, fl_ref, b_ref, c_ref, *out):
        i = pl.program_id(0)
        x_i, xl_i = x_ref[...], xl_ref[...]

        def step(j, acc, masked=False):
            at = pl.ds(j * C, C)
            y_j, f_j = y_ref[at, :], f_ref[at, :]
            s = _dot(x_i, yl_ref[at, :], 1) + _dot(xl_i, y_j, 1)
            s = c_ref[0] * (s + _dot(x_i, y_j, 1)) + b_ref[at][None, :]
            if masked:
                row = i * R + lax.broadcasted_iota(jnp.int32, (R, C), 0)
                column = j * C + lax.broadcasted_iota(jnp.int32, (R, C), 1)
                s = jnp.where(_seen(row, column, causal), s, -jnp.inf)
            e = _exp2(s)
            high = e.astype(jnp.float16)
            low = ((e - high.astype(jnp.float32)) * LIFT).astype(jnp.float16)
            moment = acc[1] + _dot(high, f_j, 0) + _dot(high, fl_ref[at, :], 0)
            return acc[0] + e.sum(axis=1), moment, acc[2] + _dot(low, f_j, 0)

        wide_zero = jnp.zeros((R, wide), jnp.float32)
        zero = (jnp.zeros((R,), jnp.float32), wide_zero, wide_zero)

        def batch(first, last, sums, masked):
            # Tensor cores truncate when they add: long sums are made of short ones.
            one = functools.partial(step, masked=masked)
            total, moment, rest = lax.fori_loop(first, last, one, zero)
            return sums[0] + total, sums[1] + (moment + rest / LIFT)

        total, moment = _loop(batch, zero[:2], i, R, C, blocks, causal)
        out[0][...] = total
        out[1][...] = moment

    strip = pl.BlockSpec((R, wide), lambda i: (i, 0))
    line = pl.BlockSpec((R,), lambda i: (i,))
    whole_matrix = pl.BlockSpec(ys.shape, lambda i: (0, 0))
    whole_line = pl.BlockSpec(b.shape, lambda i: (0,))
    one = pl.BlockSpec((1,), lambda i: (0,))
    total, moment = _call(
        body,
        (rows // R,),
        (xs, xs_low, ys, ys_low, fs, fs_low, b, c),
        [strip] * 2 + [whole_matrix] * 4 + [whole_line, one],
        [
            jax.ShapeDtypeStruct((rows,), jnp.float32),
            jax.ShapeDtypeStruct((rows, wide), jnp.float32),
        ],
        [line, strip],
        warps,
    )
    scale = jnp.exp(heaviest)
    return scale * total[:m], scale * moment[:m, :d]


def _halves(a: Array) -> tuple[Array, Array]:
    """a = high + low in two halves: 22 bits, enough for float32 accuracy."""
    # Not by casting back and forth, which XLA takes for the identity.
    high = lax.reduce_precision(a, exponent_bits=5, mantissa_bits=10)
    return high.astype(jnp.float16), (a - high).astype(jnp.float16)


def _dot(a: Array, b: Array, over: int) -> Array:
    """a b^T when `over` is 1, a b when it is 0, on the tensor cores."""
    dims = (((1,), (over,)), ((), ()))
    return lax.dot_general(a, b, dims, preferred_element_type=jnp.float32)
