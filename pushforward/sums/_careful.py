"""The sum for exponentially long times: every row keeps its own scale."""

import jax
import jax.numpy as jnp

from pushforward.sums._kernel import AbstractSum, Kernel, KernelSum


class Careful(AbstractSum):
    """Every pair, with the pull of the others scaled apart from the self term.

    Where the pull of all other particles is e^{-2000} times the self term, the moment
    is still a number of order one and `log_scale` says how small it is. Dense: it is
    meant for the few atoms that are left after merging.
    """

    def __call__(self, kernel: Kernel) -> KernelSum:
        """Relative accuracy in every row, at any beta."""
        logits = kernel.beta * (kernel.queries @ kernel.keys.T)
        logits = logits + kernel.log_weights[None, :]
        m, n = logits.shape
        if kernel.causal:
            logits = jnp.where(jnp.tri(m, n, dtype=bool), logits, -jnp.inf)
        log_total = jax.nn.logsumexp(logits, axis=1)
        log_own = None
        if kernel.own:
            log_own = jnp.diagonal(logits)
            logits = jnp.where(jnp.eye(m, n, dtype=bool), -jnp.inf, logits)
        shift = jax.lax.stop_gradient(logits.max(axis=1))
        shift = jnp.where(jnp.isfinite(shift), shift, 0.0)  # nobody else is there
        moment = jnp.exp(logits - shift[:, None]) @ kernel.values
        return KernelSum(log_total, shift, moment, log_own)
