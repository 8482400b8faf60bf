"""Log-domain Sinkhorn iterations in JAX, balanced or not, annealed or not.

The potentials of  min <C, P> + eps KL(P | a b^T) + rho KL(P 1 | a) + rho KL(P^T 1 | b)
(rho infinite: exact marginals) are the fixed point of

    f_i = -eps kappa log sum_j b_j exp((g_j - C_ij) / eps),   kappa = rho / (rho + eps),

and of the same equation for g. P_ij = a_i b_j exp((f_i + g_j - C_ij) / eps).
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

ANNEAL = 0.7  # eps falls by this factor per step while annealing


def soft_min(
    table: Float[Array, "n m"],
    g: Float[Array, "m"],
    log_b: Float[Array, "m"],
    eps: Float[Array, ""],
) -> Float[Array, "n"]:
    """-eps log sum_j b_j exp((g_j - C_ij) / eps)."""
    logs = ((g + eps * log_b)[None, :] - table) / eps
    top = jnp.max(logs, axis=1)  # finite: some atom carries mass
    return -eps * (top + jnp.log(jnp.sum(jnp.exp(logs - top[:, None]), axis=1)))


def _level(f: Array, g: Array, log_a: Array, log_b: Array, rho: Array) -> Array:
    """The constant c that makes (f + c, g - c) the best of its kind, rho finite.

    Plain iterations find it at the rate rho / (rho + eps), which is no rate at all
    when rho is large. [sejourne2022faster]
    """
    mass_f = jax.nn.logsumexp(log_a - f / rho)
    mass_g = jax.nn.logsumexp(log_b - g / rho)
    return 0.5 * rho * (mass_f - mass_g)


@jax.jit
def solve_potentials(
    table: Float[Array, "n m"],
    log_a: Float[Array, "n"],
    log_b: Float[Array, "m"],
    eps: Float[Array, ""],
    rho: Float[Array, ""],
    tol: Float[Array, ""],
    most: Float[Array, ""],
) -> tuple[Float[Array, "n"], Float[Array, "m"], Array, Array]:
    """Potentials, iterations and the last change of the potentials over eps.

    Starts at eps = max C and anneals, so a small eps costs a few dozen iterations
    more instead of a start from nothing. The change over eps bounds the relative
    change of every row mass, hence the marginal error.
    """

    def sweep(state: tuple) -> tuple:
        f, g, now, count, _ = state
        kappa = jnp.where(jnp.isinf(rho), 1.0, rho / (rho + now))
        new = kappa * soft_min(table, g, log_b, now)
        g = kappa * soft_min(table.T, new, log_a, now)
        level = jnp.where(jnp.isinf(rho), 0.0, _level(new, g, log_a, log_b, rho))
        new, g = new + level, g - level
        alive = jnp.isfinite(log_a)
        change = jnp.max(jnp.where(alive, jnp.abs(new - f), 0.0)) / now
        change = jnp.where(now > eps, jnp.inf, change)
        return new, g, jnp.maximum(eps, ANNEAL * now), count + 1, change

    def unfinished(state: tuple) -> Array:
        return (state[4] > tol) & (state[3] < most)

    start = jnp.maximum(eps, jnp.max(jnp.abs(table)))
    zero = (jnp.zeros_like(log_a), jnp.zeros_like(log_b))
    state = (*zero, start, jnp.zeros((), dtype=int), jnp.asarray(jnp.inf))
    f, g, _, count, change = jax.lax.while_loop(unfinished, sweep, state)
    return f, g, count, change


@jax.jit
def solve_symmetric(
    table: Float[Array, "n n"],
    log_a: Float[Array, "n"],
    eps: Float[Array, ""],
    tol: Float[Array, ""],
    most: Float[Array, ""],
) -> tuple[Float[Array, "n"], Array]:
    """The one potential of a measure with itself, by averaged steps: they contract."""

    def sweep(state: tuple) -> tuple:
        f, count, _ = state
        new = 0.5 * (f + soft_min(table, f, log_a, eps))
        alive = jnp.isfinite(log_a)
        change = jnp.max(jnp.where(alive, jnp.abs(new - f), 0.0)) / eps
        return new, count + 1, change

    def unfinished(state: tuple) -> Array:
        return (state[2] > tol) & (state[1] < most)

    state = (jnp.zeros_like(log_a), jnp.zeros((), dtype=int), jnp.asarray(jnp.inf))
    f, _, change = jax.lax.while_loop(unfinished, sweep, state)
    return f, change
