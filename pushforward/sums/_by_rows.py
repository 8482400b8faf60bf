"""Tables of all pairs that are never held whole: what each row says, block by block."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pushforward.sums._blocks import blocked
from pushforward.sums._exact import DENSE_PAIRS, tile_sizes
from pushforward.sums._kernel import Kernel, KernelSum

ROWS = 128  # rows at a time where the whole table would be large


def by_rows(row: Callable[[Any], Any], m: int, n: int) -> Any:
    """row(i) for the m rows of an m x n table, `row` being given many indices at once.

    Up to 2**21 pairs at once, above that in blocks of rows: memory is linear in n, for
    gradients too, which compute a block again. `row` returns arrays (or a tuple of
    them) whose first axis is that of the indices.
    """
    if m * n <= DENSE_PAIRS:
        return row(jnp.arange(m))
    blocks = -(-m // ROWS)
    index = jnp.minimum(jnp.arange(blocks * ROWS), m - 1).reshape(blocks, ROWS)
    found = jax.lax.map(jax.checkpoint(row), index)
    return jax.tree_util.tree_map(lambda a: a.reshape(-1, *a.shape[2:])[:m], found)


RECOMPUTED = 64  # rows are repaired this many at a time


def some_rows(kernel: Kernel, rows: Int[Array, "r"]) -> KernelSum:
    """The exact sum for some rows, in increasing order."""
    some = eqx.tree_at(lambda k: k.queries, kernel, kernel.queries[rows])
    n, d = kernel.keys.shape
    return blocked(some, tile_sizes(len(rows), n, d, None), which=rows)


def recompute_exactly(
    kernel: Kernel, out: KernelSum, bad: Bool[Array, "m"]
) -> KernelSum:
    """Recompute the bad rows, a few at a time; the gradient stays that of `out`."""
    sums = _repaired(kernel, bad, out.log_scale, out.log_total, out.moment)
    log_scale, log_total, moment = sums
    return out._replace(log_scale=log_scale, log_total=log_total, moment=moment)


@jax.custom_jvp
def _repaired(kernel: Kernel, bad, *sums: Array) -> tuple[Array, ...]:
    """Scales, totals and moments; a row that is summed again has a scale of its own."""
    m = bad.shape[0]

    def some_left(state):
        return state[0].any()

    def again(state):
        bad, scales, totals, moments = state
        rows = jnp.nonzero(bad, size=min(RECOMPUTED, m), fill_value=m)[0]
        exact = some_rows(kernel, jnp.minimum(rows, m - 1))
        scales = scales.at[rows].set(exact.log_scale, mode="drop")
        totals = totals.at[rows].set(exact.log_total, mode="drop")
        moments = moments.at[rows].set(exact.moment, mode="drop")
        return bad.at[rows].set(False, mode="drop"), scales, totals, moments

    def repair(*state):
        return jax.lax.while_loop(some_left, again, state)[1:]

    # In a branch, or the compiler would prepare all columns even for no row at all.
    keep = lambda bad, *sums: sums  # noqa: E731
    return jax.lax.cond(bad.any(), repair, keep, bad, *sums)


@_repaired.defjvp
def _repaired_jvp(primals, tangents):
    scales, totals, moments = _repaired(*primals)
    d_scales, d_totals, d_moments = tangents[-3:]
    d_moments = jnp.exp(primals[2] - scales)[:, None] * d_moments
    return (scales, totals, moments), (d_scales, d_totals, d_moments)


def error_on(kernel: Kernel, out: KernelSum, rows: Int[Array, "r"]) -> Float[Array, ""]:
    """The largest error of an average or of a logarithm of a total, on some rows."""
    exact = some_rows(kernel, rows)
    found = jax.tree_util.tree_map(lambda a: a[rows], out)
    error = jnp.max(jnp.abs(found.average() - exact.average()), initial=0.0)
    return jnp.maximum(error, jnp.abs(found.log_total - exact.log_total).max())


def spread_rows(m: int, count: int) -> Int[Array, "r"]:
    """At most `count` of m rows, spread evenly, in increasing order."""
    golden = np.arange(1, count + 1) * (np.sqrt(5) - 1) / 2
    return jnp.asarray(np.unique((golden % 1 * m).astype(int)))
