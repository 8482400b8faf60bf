"""Doubly stochastic scalings: potentials that make every row of a kernel sum to one.

For a symmetric kernel k and masses w the potential f solves
f_i = -log sum_j w_j k_ij e^{f_j}; then w_j e^{f_i + f_j} k_ij has unit row sums. The
step f <- (f + T f) / 2 halves the error where k is positive definite, however narrow it
is, where Sinkhorn's own f <- T f would need ever more steps.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward.sums._kernel import AbstractSum, Kernel

MOST_STEPS = 10_000
HALVINGS = 55
PAIR_STEPS = 400  # two potentials have no such rate: for derivatives to a few digits
ROUNDING = 8  # units of the last place


def balanced(
    log_total: Callable[[Array], Array],
    guess: Float[Array, "n"],
    tangent_steps: int = HALVINGS,
) -> Float[Array, "n"]:
    """f with f + log_total(f) = 0, with derivatives by the implicit function.

    The linear equation of a derivative is solved by as many steps as are asked for; the
    default halves its error to rounding where the kernel is positive definite.
    """
    residual = lambda f: f + log_total(f)  # noqa: E731

    def solve(residual: Callable, guess: Array) -> Array:
        eps = ROUNDING * jnp.finfo(guess.dtype).eps

        def going(state):
            f, off, steps = state
            wrong = jnp.max(jnp.abs(off)) > eps * (1 + jnp.max(jnp.abs(f)))
            return wrong & (steps < MOST_STEPS)

        def once(state):
            f, off, steps = state
            f = f - off / 2
            return f, residual(f), steps + 1

        start = guess, residual(guess), jnp.zeros((), int)
        return jax.lax.while_loop(going, once, start)[0]

    def tangent(linear: Callable, y: Array) -> Array:
        # A fixed number of linear steps, which JAX can transpose.
        once = lambda x, _: (x + (y - linear(x)) / 2, None)  # noqa: E731
        return jax.lax.scan(once, y / 2, length=tangent_steps)[0]

    return jax.lax.custom_root(residual, guess, solve, tangent)


def balancing(kernel: Kernel, sums: AbstractSum) -> Float[Array, "n"]:
    """The potential of the keys; queries are the same particles in the same order."""
    n = kernel.keys.shape[0]

    def total(queries: Array, keys: Array, f: Array) -> Array:
        seen = Kernel(queries, keys, keys[:, :0], kernel.log_weights + f, kernel.beta)
        return sums(seen).log_total

    zero = jnp.zeros_like(kernel.log_weights)
    if kernel.queries is kernel.keys:
        return balanced(lambda f: total(kernel.keys, kernel.keys, f), zero)

    def both(fg: Array) -> Array:
        rows = total(kernel.queries, kernel.keys, fg[n:])
        return jnp.concatenate([rows, total(kernel.keys, kernel.queries, fg[:n])])

    return balanced(both, jnp.concatenate([zero, zero]), PAIR_STEPS)[n:]


def reweighted(kernel: Kernel, f: Float[Array, "n"]) -> Kernel:
    """The kernel with the masses w_j e^{f_j}."""
    return eqx.tree_at(lambda k: k.log_weights, kernel, kernel.log_weights + f)
