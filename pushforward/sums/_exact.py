"""The exact sum: dense when it is small, tile by tile when it is not; rows scaled.

Rows of any queries, keys and values by compiled loops, on a CPU.
"""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from pushforward._checks import whole
from pushforward.sums import _native
from pushforward.sums._blocks import (
    COLDEST,
    FULL,
    LOG2_E,
    Tiles,
    blocked,
    fixed_shift_is_legal,
)
from pushforward.sums._kernel import AbstractSum, Kernel, KernelSum
from pushforward.sums._symmetric import (
    Pairs,
    compiled_pairs,
    differentiated_by_rows,
    scaled_by_rows,
    symmetric,
    tiled_pairs,
)


def compiled_rows(kernel: Kernel) -> KernelSum:
    """Every row relative to its largest term, by loops in C++."""
    q, keys, values = kernel.queries, kernel.keys, kernel.values
    unit = jnp.asarray(LOG2_E, q.dtype)
    line = jax.ShapeDtypeStruct(q.shape[:1], q.dtype)
    results = (line, line, jax.ShapeDtypeStruct((q.shape[0], values.shape[1]), q.dtype))
    weights, scale = unit * kernel.log_weights, unit * kernel.beta
    tokens = (q, keys, values, weights, scale)
    flags = {"own": kernel.own, "causal": kernel.causal}
    top, total, moment = _native.compiled_call(
        f"rows_{q.dtype}", results, *tokens, **flags
    )
    log_scale = top / unit
    some = total > 0
    log_total = log_scale + jnp.log(jnp.where(some, total, 1.0))
    log_total = jnp.where(some, log_total, -jnp.inf)
    if not kernel.own:
        return KernelSum(log_total, log_scale, moment, None)
    log_own = kernel.beta * jnp.sum(q * keys, axis=1) + kernel.log_weights
    return KernelSum(jnp.logaddexp(log_total, log_own), log_scale, moment, log_own)


FEW_PAIRS = 2**17  # up to here the n x n block is fastest whatever else there is
WIDER = 4  # values that many times wider than keys are multiplied faster by XLA
DENSE_PAIRS = 2**21  # up to here it costs 16 MB and is the fastest by XLA


class Exact(AbstractSum):
    """Every pair, shifted before the exponential: no overflow at any beta.

    Memory is linear: beyond 2**21 pairs, tiles of `chunk` rows (chosen by dimension
    when left out) are summed one after the other, and the gradient recomputes each tile
    instead of keeping it. Tokens on the sphere that see themselves use the fixed shift
    e^{beta (<x, y> - 1)}, legal because the self term is one; all others the maximum of
    the row. A causal sum skips the empty half. On a CPU, tokens that see each other
    with Q = K = I are summed pair by pair, each looked at once, unless `chunk` is set:
    by loops in C++ where there is a compiler, and otherwise by XLA. All other kernels
    are summed row by row, by loops in C++ as well.
    """

    chunk: int | None = eqx.field(static=True)

    def __init__(self, chunk: int | None = None):
        why = "It is a number of rows; leave it out to let the dimension decide."
        self.chunk = None if chunk is None else whole("chunk", chunk, 1, why)

    def __call__(self, kernel: Kernel) -> KernelSum:
        """Exact to rounding."""
        if kernel.queries.shape[0] * kernel.keys.shape[0] <= FEW_PAIRS:
            return all_at_once(kernel)
        by_rows = sum_by_rows(kernel, self.chunk)
        wide = kernel.values.shape[1] > WIDER * kernel.keys.shape[1]
        known = compiled_for(kernel) and not (of_tokens(kernel) or wide)
        if known and self.chunk is None:
            return differentiated_by_rows(kernel, compiled_rows, by_rows)
        pairs = None if self.chunk else available_pair_sum(kernel)
        if pairs is None:
            return by_rows(kernel)
        by_pairs = partial(
            differentiated_by_rows,
            by_pairs=partial(symmetric, pairs=pairs),
            by_rows=by_rows,
        )
        return jax.lax.cond(fixed_shift_is_legal(kernel), by_pairs, by_rows, kernel)


def available_pair_sum(kernel: Kernel) -> Pairs | None:
    """How tokens that see each other as they are look at each pair once, on a CPU."""
    (n, d), dtype = kernel.keys.shape, kernel.keys.dtype
    if not of_tokens(kernel) or jax.default_backend() != "cpu":
        return None
    if compiled_for(kernel):
        return compiled_pairs
    # By XLA, rows are faster for these.
    wide = d >= 64 and dtype == jnp.float32
    if wide or kernel.causal or n * n <= DENSE_PAIRS:
        return None
    width = _even(n, 512 if d <= 4 else 1000)  # the fastest measured
    return partial(tiled_pairs, width=width)


def of_tokens(kernel: Kernel) -> bool:
    """Whether tokens on a sphere see each other as they are: Q = K = I."""
    return kernel.own and kernel.unit


def compiled_for(kernel: Kernel) -> bool:
    """Whether there are loops in C++ for numbers of this kind on this machine."""
    return kernel.keys.dtype in (jnp.float32, jnp.float64) and _native.available()


def sum_by_rows(kernel: Kernel, chunk: int | None = None):
    """The sum by XLA row by row: dense while that is small, and else in tiles."""
    m, (n, d) = kernel.queries.shape[0], kernel.keys.shape
    if m * n <= DENSE_PAIRS:
        return all_at_once
    return partial(blocked, tiles=tile_sizes(m, n, d, chunk, kernel.causal))


def tile_sizes(
    m: int, n: int, d: int, chunk: int | None, causal: bool = False
) -> Tiles:
    """The fastest measured: square in low dimension, wide above, small along a mask."""
    if jax.default_backend() == "gpu":
        rows, columns = 4096, 8192
    elif causal:
        rows, columns = 256, 512
    elif d <= 4:
        rows, columns = 1024, 1024
    else:
        rows, columns = (512, 4096) if d < 128 else (1024, 2048)
    return Tiles(min(chunk or _even(m, rows), m), min(_even(n, columns), n))


def _even(n: int, width: int) -> int:
    """A width near the one asked for that leaves little padding, in whole vectors."""
    count = max(1, round(n / width))
    return 8 * -(-n // (8 * count))


def all_at_once(kernel: Kernel) -> KernelSum:
    """The sum with the whole matrix in memory."""
    return dense(kernel, kernel.queries, jnp.arange(kernel.queries.shape[0]))


def dense(
    kernel: Kernel, queries: Float[Array, "b d"], index: Int[Array, "b"]
) -> KernelSum:
    """The sum for some rows of the problem, all columns at once; `index` says which."""
    logits = kernel.beta * jnp.matmul(queries, kernel.keys.T, precision=FULL)
    logits = logits + kernel.log_weights[None, :]
    column = jnp.arange(kernel.keys.shape[0])
    if kernel.causal:  # before the maximum, so that the future cannot set the shift
        logits = jnp.where(column[None, :] <= index[:, None], logits, -jnp.inf)
    shift = jax.lax.stop_gradient(logits.max(axis=1))
    a_ij = jnp.exp(logits - shift[:, None])
    log_total = shift + jnp.log(a_ij.sum(axis=1))
    log_own = None
    if kernel.own:
        log_own = jnp.take_along_axis(logits, index[:, None], axis=1)[:, 0]
        a_ij = jnp.where(column[None, :] == index[:, None], 0.0, a_ij)
    moment = jnp.matmul(a_ij, kernel.values, precision=FULL)
    return KernelSum(log_total, shift, moment, log_own)


FAINT = -460.0  # the pull e^{-460} over the self term still has all its digits


class RowScaled(AbstractSum):
    """Every pair, with the pull of the others scaled apart from the self term.

    Where the pull of all other particles is e^{-2000} times the self term, the moment
    is still a number of order one and `log_scale` says how small it is. Dense, for it
    is meant for the few atoms that are left after merging; while there are many of them
    on the sphere and no pull is beyond float64, they are summed by compiled pairs.
    """

    def __call__(self, kernel: Kernel) -> KernelSum:
        """Relative accuracy in every row, at any beta."""
        m, n = kernel.queries.shape[0], kernel.keys.shape[0]
        pairs = None if m * n <= FEW_PAIRS else available_pair_sum(kernel)
        if pairs is None:
            return _all_at_once(kernel)
        by_pairs = partial(scaled_by_rows, pairs=pairs)

        def quickly(kernel: Kernel) -> KernelSum:
            found = differentiated_by_rows(kernel, by_pairs, _all_at_once)
            faintest = jnp.min(found.log_scale - kernel.beta)
            keep = lambda kernel: found  # noqa: E731
            return jax.lax.cond(faintest > FAINT, keep, _all_at_once, kernel)

        attracts = (kernel.beta >= 0) & (kernel.beta <= COLDEST[8])
        return jax.lax.cond(attracts, quickly, _all_at_once, kernel)


def _all_at_once(kernel: Kernel) -> KernelSum:
    logits = kernel.beta * (kernel.queries @ kernel.keys.T)
    logits = logits + kernel.log_weights[None, :]
    m, n = logits.shape
    if kernel.causal:
        logits = jnp.where(jnp.tri(m, n, dtype=bool), logits, -jnp.inf)
    log_own = None
    if kernel.own:
        log_own = jnp.diagonal(logits)
        logits = jnp.where(jnp.eye(m, n, dtype=bool), -jnp.inf, logits)
    shift = jax.lax.stop_gradient(logits.max(axis=1))
    shift = jnp.where(jnp.isfinite(shift), shift, 0.0)  # nobody else is there
    a_ij = jnp.exp(logits - shift[:, None])  # the one pass over all exponentials
    log_total = shift + jnp.log(a_ij.sum(axis=1))
    if log_own is not None:
        log_total = jnp.logaddexp(log_total, log_own)
    moment = a_ij @ kernel.values
    return KernelSum(log_total, shift, moment, log_own)
