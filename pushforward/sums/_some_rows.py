"""Some rows summed exactly: to repair a fast sum, and to measure its error."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pushforward.sums._blocks import blocked
from pushforward.sums._exact import tile_sizes
from pushforward.sums._kernel import Kernel, KernelSum

RECOMPUTED = 64  # rows are repaired this many at a time


def some_rows(kernel: Kernel, rows: Int[Array, "r"]) -> KernelSum:
    """The exact sum for some rows, in increasing order."""
    some = eqx.tree_at(lambda k: k.queries, kernel, kernel.queries[rows])
    n, d = kernel.keys.shape
    return blocked(some, tile_sizes(len(rows), n, d, None), which=rows)


def again_exactly(kernel: Kernel, out: KernelSum, bad: Bool[Array, "m"]) -> KernelSum:
    """Recompute the bad rows, a few at a time; the gradient stays that of `out`."""
    log_total, moment = _repaired(kernel, out.log_scale, bad, out.log_total, out.moment)
    return out._replace(log_total=log_total, moment=moment)


@jax.custom_jvp
def _repaired(kernel: Kernel, scale, bad, totals, moments) -> tuple[Array, Array]:
    m = bad.shape[0]

    def some_left(state):
        return state[0].any()

    def again(state):
        bad, totals, moments = state
        rows = jnp.nonzero(bad, size=min(RECOMPUTED, m), fill_value=m)[0]
        inside = jnp.minimum(rows, m - 1)
        exact = some_rows(kernel, inside)
        rescaled = jnp.exp(exact.log_scale - scale[inside])[:, None] * exact.moment
        totals = totals.at[rows].set(exact.log_total, mode="drop")
        moments = moments.at[rows].set(rescaled, mode="drop")
        return bad.at[rows].set(False, mode="drop"), totals, moments

    def repair(*state):
        return jax.lax.while_loop(some_left, again, state)[1:]

    # In a branch, or the compiler would prepare all columns even for no row at all.
    keep = lambda bad, *sums: sums  # noqa: E731
    return jax.lax.cond(bad.any(), repair, keep, bad, totals, moments)


@_repaired.defjvp
def _repaired_jvp(primals, tangents):
    return _repaired(*primals), tangents[-2:]


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
