"""The sum for exponentially long times: every row keeps its own scale."""

from functools import partial

import jax
import jax.numpy as jnp

from pushforward.sums._blocks import COLDEST
from pushforward.sums._exact import FEW_PAIRS, available_pair_sum
from pushforward.sums._kernel import AbstractSum, Kernel, KernelSum
from pushforward.sums._symmetric import differentiated_by_rows, scaled_by_rows

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
