"""The exact sum: dense when it is small, row block by row block when it is not."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from pushforward._checks import whole
from pushforward.sums._kernel import AbstractSum, Kernel, KernelSum

DENSE_PAIRS = 2**21  # below this many pairs the n x n block costs 16 MB and is fastest


class Exact(AbstractSum):
    """Every pair, with the row maximum shifted out before the exponential.

    Memory is linear: rows are handled `chunk` at a time, and the gradient recomputes
    each block instead of keeping it. Stable at any beta, in float32 and float64.
    """

    chunk: int = eqx.field(static=True)

    def __init__(self, chunk: int = 128):
        self.chunk = whole("chunk", chunk, 1, "It is a number of rows.")

    def __call__(self, kernel: Kernel) -> KernelSum:
        """Exact to rounding."""
        m, n = kernel.queries.shape[0], kernel.keys.shape[0]
        if m * n <= DENSE_PAIRS:
            return _rows(kernel, kernel.queries, jnp.arange(m))
        blocks = -(-m // self.chunk)
        padding = blocks * self.chunk - m
        queries = jnp.pad(kernel.queries, ((0, padding), (0, 0)))
        queries = queries.reshape(blocks, self.chunk, -1)
        index = jnp.minimum(jnp.arange(blocks * self.chunk), m - 1)
        one = jax.checkpoint(lambda block: _rows(kernel, *block))
        out = jax.lax.map(one, (queries, index.reshape(blocks, self.chunk)))
        return jax.tree_util.tree_map(lambda a: a.reshape(-1, *a.shape[2:])[:m], out)


def _rows(
    kernel: Kernel, queries: Float[Array, "b d"], index: Int[Array, "b"]
) -> KernelSum:
    """The sum for some rows of the problem; `index` says which."""
    logits = kernel.beta * (queries @ kernel.keys.T) + kernel.log_weights[None, :]
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
    return KernelSum(log_total, shift, a_ij @ kernel.values, log_own)
