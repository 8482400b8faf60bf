"""What the fused GPU kernels share: calls, exponentials, and the walk over columns.

Float32 numbers as two 16-bit halves, which is what tensor cores multiply.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int

# An exponential is held times 2^14, near the top of the range of a half, so that its
# low half is not lost below the smallest one.
LIFT = 14.0


def halves(a: Float[Array, "..."]) -> tuple[Array, Array]:
    """a = high + low in two halves: 22 bits, enough for float32 accuracy."""
    # Not by casting back and forth, which XLA takes for the identity.
    high = lax.reduce_precision(a, exponent_bits=5, mantissa_bits=10)
    return high.astype(jnp.float16), (a - high).astype(jnp.float16)


def size_of(a: Float[Array, "..."]) -> Float[Array, ""]:
    """A power of two not below any |a|: over it, all entries are in range."""
    largest = jnp.max(jnp.abs(a), initial=0.0)
    _, power = jnp.frexp(lax.stop_gradient(largest))
    exact = jnp.ldexp(jnp.ones_like(largest), power)
    return jnp.where(jnp.isfinite(largest), jnp.where(largest > 0, exact, 1.0), largest)


def product(a: Float[Array, "..."], b: Float[Array, "..."], over: int) -> Array:
    """a b^T when `over` is 1, a b when it is 0, on the tensor cores."""
    dims = (((1,), (over,)), ((), ()))
    once = lax.Precision.DEFAULT  # halves are exact: no pass more, whatever is set
    return lax.dot_general(a, b, dims, once, preferred_element_type=jnp.float32)


LOG2E = math.log2(math.e)


class Tile(NamedTuple):
    """Rows and columns of a tile, and the warps that share it."""

    rows: int
    columns: int
    warps: int


class Mask(NamedTuple):
    """Whom row i leaves out: itself if `own`, all later ones if `causal`."""

    own: bool
    causal: bool

    def __bool__(self) -> bool:
        return self.own or self.causal

    def keeps(self, row: Int[Array, "..."], column: Int[Array, "..."]) -> Array:
        """Where a row sees a column."""
        if not self.causal:
            return column != row
        return column < row if self.own else column <= row


def padded(a: Float[Array, "n *c"], multiple: int, fill: float = 0.0) -> Array:
    """With whole blocks of rows."""
    extra = -a.shape[0] % multiple
    widths = ((0, extra),) + ((0, 0),) * (a.ndim - 1)
    return jnp.pad(a, widths, constant_values=fill)


def exponents(
    log_w: Float[Array, "n"], beta: Float[Array, ""], columns: int
) -> Float[Array, "p"]:
    """log2 of w_j e^{-beta}; padding gets -inf and so weighs nothing."""
    return padded(LOG2E * (log_w - beta), columns, -jnp.inf)


def fused_call(
    body: Callable,
    grid: Any,
    inputs: Any,
    in_specs: Any,
    outputs: Any,
    out_specs: Any,
    warps: Any,
):
    """The kernel by Triton on a GPU, step by step in Python anywhere else."""
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


def exp2(s: Float[Array, "..."]) -> Array:
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


def masked_exponents(
    s: Float[Array, "..."], i: Any, j: Any, tile: Tile, mask: Mask
) -> Array:
    """The exponents of a tile on the diagonal, minus infinity where nothing is seen."""
    shape = (tile.rows, tile.columns)
    row = i * tile.rows + lax.broadcasted_iota(jnp.int32, shape, 0)
    column = j * tile.columns + lax.broadcasted_iota(jnp.int32, shape, 1)
    return jnp.where(mask.keeps(row, column), s, -jnp.inf)


def over_columns(
    batch: Callable,
    total: Any,
    i: Any,
    tile: Tile,
    blocks: int,
    mask: Mask,
    length: int,
):
    """All column blocks, in batches of a length that float32 sums can have.

    `batch(first, count, total, masked)` adds `count` blocks. Only the batch on the
    diagonal, where tokens meet themselves, needs a mask; all others are loops of fixed
    length with nothing to ask inside.
    """
    R, C = tile.rows, tile.columns
    whole: Array | int = blocks // length
    rest: Array | int = blocks % length
    home = (i * R) // (C * length)
    if mask.causal:
        whole = jnp.minimum(home, whole)
        rest = jnp.minimum((i * R + R - 1) // C + 1, blocks) - whole * length

    def add(masked):
        return lambda k, total: batch(k * length, length, total, masked)

    if not mask:
        total = lax.fori_loop(0, whole, add(masked=False), total)
        return batch(whole * length, rest, total, masked=False)
    total = lax.fori_loop(0, jnp.minimum(home, whole), add(masked=False), total)
    if not mask.causal:
        total = lax.fori_loop(home, jnp.minimum(home + 1, whole), add(True), total)
        total = lax.fori_loop(home + 1, whole, add(masked=False), total)
    return batch(whole * length, rest, total, masked=True)
