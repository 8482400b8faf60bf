"""What the fused GPU kernels share: calls, exponentials, and the walk over columns."""

import math

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

LOG2E = math.log2(math.e)
BATCH = 64  # column blocks whose sums stay in float32 before they are added up


def padded(a: Array, multiple: int, fill: float = 0.0) -> Array:
    extra = -a.shape[0] % multiple
    widths = ((0, extra),) + ((0, 0),) * (a.ndim - 1)
    return jnp.pad(a, widths, constant_values=fill)


def exponents(log_w: Array, beta: Array, columns: int) -> Float[Array, "n"]:
    """log2 of w_j e^{-beta}; padding gets -inf and so weighs nothing."""
    return padded(LOG2E * (log_w - beta), columns, -jnp.inf)


def call(body, grid, inputs, in_specs, outputs, out_specs, warps):
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


def exp2(s: Array) -> Array:
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


def seen(row: Array, column: Array, causal: bool) -> Array:
    """Every other token, or every earlier one; never the token itself."""
    return column < row if causal else column != row


def masked_exponents(s, i, j, R: int, C: int, causal: bool) -> Array:
    """The exponents of a tile on the diagonal, minus infinity where nothing is seen."""
    row = i * R + lax.broadcasted_iota(jnp.int32, (R, C), 0)
    column = j * C + lax.broadcasted_iota(jnp.int32, (R, C), 1)
    return jnp.where(seen(row, column, causal), s, -jnp.inf)


def over_columns(batch, total, i, R: int, C: int, blocks: int, causal: bool):
    """All column blocks, in batches whose partial sums are short enough for float32.

    `batch(first, count, total, masked)` adds `count` blocks. Only the batch on the
    diagonal, where tokens meet themselves, needs a mask; all others are loops of fixed
    length with nothing to ask inside.
    """
    whole: Array | int = blocks // BATCH
    rest: Array | int = blocks % BATCH
    home = (i * R) // (C * BATCH)
    if causal:
        whole = jnp.minimum(home, whole)
        rest = jnp.minimum((i * R + R - 1) // C + 1, blocks) - whole * BATCH

    def add(masked):
        return lambda k, total: batch(k * BATCH, BATCH, total, masked)

    total = lax.fori_loop(0, jnp.minimum(home, whole), add(masked=False), total)
    if not causal:
        total = lax.fori_loop(home, jnp.minimum(home + 1, whole), add(True), total)
        total = lax.fori_loop(home + 1, whole, add(masked=False), total)
    return batch(whole * BATCH, rest, total, masked=True)
