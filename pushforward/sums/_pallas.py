"""The exact sum on a GPU, in float32, as one fused kernel.

Rows of the n x n matrix never leave the chip. With unit vectors the shift is fixed
(<x, x> = 1 is the largest logit), so there is no running maximum: one exponential and
2 d + 1 fused multiply-adds per pair. For small d a two-dimensional tile of partial sums
is kept in registers and reduced once at the end; for d >= 16 both products run on the
tensor cores in three tf32 passes, which keeps float32 accuracy.
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
        tile = self._tile(kernel.queries.shape[1])
        total, moment = _fused(
            kernel.queries, kernel.keys, kernel.values, kernel.log_weights, kernel.beta,
            kernel.causal, tile,
        )
        shift = jnp.broadcast_to(kernel.beta, total.shape)
        log_own = None
        if kernel.own:
            log_own = kernel.beta * jnp.sum(
                kernel.queries * kernel.keys, axis=1
            ) + kernel.log_weights
            own = jnp.exp(log_own - shift)[:, None]
            moment = moment - own * kernel.values
        return KernelSum(shift + jnp.log(total), shift, moment, log_own)

    def _tile(self, d: int) -> tuple[int, int, int]:
        rows, columns, warps = (32, 32, 1) if d <= SMALL_D else (64, 32, 4)
        return self.rows or rows, self.columns or columns, self.warps or warps


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
    """sum_j w_j e^{beta (<x_i, y_j> - 1)} (1, f_j)."""
    if x.shape[1] <= SMALL_D:
        return _small(x, y, f, log_w, beta, causal, tile)
    return _large(x, y, f, log_w, beta, causal, tile)


def _forward(x, y, f, log_w, beta, causal, tile):
    return _fused(x, y, f, log_w, beta, causal, tile), (x, y, f, log_w, beta)


def _backward(causal, tile, saved, cotangents):
    """The gradient recomputes row blocks with XLA instead of keeping them."""

    def same(x, y, f, log_w, beta):
        out = Exact()(Kernel(x, y, f, log_w, beta, causal=causal))
        scale = jnp.exp(out.log_scale - beta)[:, None]
        return jnp.exp(out.log_total - beta), scale * out.moment

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
    options = {} if interpret else {
        "compiler_params": plt.CompilerParams(num_warps=warps, num_stages=2)
    }
    return pl.pallas_call(
        body,
        grid=grid,
        in_specs=in_specs,
        out_specs=out_specs,
        out_shape=outputs,
        interpret=interpret,
        **options,
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
        x_refs, y_refs, b_ref, out = refs[:d], refs[d : 2 * d], refs[2 * d], refs[2 * d + 1 :]
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
                s = jnp.where(column <= row, s, -jnp.inf)
            e = _exp2(s)
            return (acc[0] + e, *(a + e * y_k for a, y_k in zip(acc[1:], y_j, strict=True)))

        acc = tuple(jnp.zeros((R, C), jnp.float32) for _ in range(d + 1))
        acc = _loop(step, acc, i, R, C, blocks, causal)
        for ref, a in zip(out, acc, strict=True):
            ref[...] = a.sum(axis=1)

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


def _loop(step, acc, i, R: int, C: int, blocks: int, causal: bool):
    """All column blocks; under a causal mask those before the diagonal, then those on it."""
    if not causal:
        return lax.fori_loop(0, blocks, step, acc)
    first = (i * R) // C
    last = jnp.minimum((i * R + R - 1) // C + 1, blocks)
    acc = lax.fori_loop(0, jnp.minimum(first, blocks), step, acc)
    masked = functools.partial(step, masked=True)
    return lax.fori_loop(first, last, masked, acc)


def _large(x, y, f, log_w, beta, causal, tile):
    from jax.experimental import pallas as pl

    (R, C, warps), (m, d) = tile, x.shape
    wide = max(16, 1 << (d - 1).bit_length())
    pad = ((0, 0), (0, wide - d))
    xs = jnp.pad((LOG2E * beta) * _padded(x, R), pad)
    ys, fs = jnp.pad(_padded(y, C), pad), jnp.pad(_padded(f, C), pad)
    b = _exponents(log_w, beta, C)
    rows, blocks = xs.shape[0], b.shape[0] // C
    three = lax.DotAlgorithmPreset.TF32_TF32_F32_X3
    precision = three if jax.default_backend() == "gpu" else lax.Precision.HIGHEST
    dot = functools.partial(pl.dot, precision=precision)

    def body(x_ref, y_ref, f_ref, b_ref, total_ref, moment_ref):
        i = pl.program_id(0)
        x_i = x_ref[...]

        def step(j, acc, masked=False):
            at = pl.ds(j * C, C)
            s = dot(x_i, y_ref[at, :], trans_b=True) + b_ref[at][None, :]
            if masked:
                row = i * R + lax.broadcasted_iota(jnp.int32, (R, C), 0)
                column = j * C + lax.broadcasted_iota(jnp.int32, (R, C), 1)
                s = jnp.where(column <= row, s, -jnp.inf)
            e = _exp2(s)
            return acc[0] + e.sum(axis=1), acc[1] + dot(e, f_ref[at, :])

        acc = jnp.zeros((R,), jnp.float32), jnp.zeros((R, wide), jnp.float32)
        total, moment = _loop(step, acc, i, R, C, blocks, causal)
        total_ref[...] = total
        moment_ref[...] = moment

    strip = pl.BlockSpec((R, wide), lambda i: (i, 0))
    line = pl.BlockSpec((R,), lambda i: (i,))
    whole_matrix = pl.BlockSpec(ys.shape, lambda i: (0, 0))
    total, moment = _call(
        body,
        (rows // R,),
        (xs, ys, fs, b),
        [strip, whole_matrix, whole_matrix, pl.BlockSpec(b.shape, lambda i: (0,))],
        [
            jax.ShapeDtypeStruct((rows,), jnp.float32),
            jax.ShapeDtypeStruct((rows, wide), jnp.float32),
        ],
        [line, strip],
        warps,
    )
    return total[:m], moment[:m, :d]
