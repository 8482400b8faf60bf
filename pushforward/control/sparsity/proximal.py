"""Proximal maps of the l1 norm, with and without a bound on it."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def soft_threshold(v: Float[Array, "p"], tau: Float[Array, ""]) -> Float[Array, "p"]:
    """Move every entry toward zero by tau; entries below tau become exactly zero."""
    return jnp.where(jnp.abs(v) > tau, v - jnp.sign(v) * tau, 0.0)


def project_l1_ball(
    v: Float[Array, "p"], radius: Float[Array, ""]
) -> Float[Array, "p"]:
    """Nearest point of {||x||_1 <= radius}, by sorting.

    Not a rescaling: entries move toward zero by the same amount, and the small
    ones vanish.
    """
    size = jnp.abs(v)
    ordered = jnp.sort(size)[::-1]
    count = jnp.arange(1, len(v) + 1)
    level = (jnp.cumsum(ordered) - radius) / count
    last = jnp.sum(ordered > level) - 1
    inside = jnp.sum(size) <= radius
    # of an inside point the level is not positive: nothing to remove
    return jnp.where(inside, v, soft_threshold(v, jnp.maximum(level[last], 0.0)))


def bounded_l1_prox(
    v: Float[Array, "p"], weight: Float[Array, ""], radius: Float[Array, ""]
) -> Float[Array, "p"]:
    """argmin_x 1/2 |x - v|^2 + weight ||x||_1 over ||x||_1 <= radius.

    Soft threshold, then projection: the composition is the exact minimizer.

    >>> bounded_l1_prox(jnp.array([3.0, -0.5]), jnp.array(1.0), jnp.array(1.5))
    Array([1.5, 0. ], dtype=float64)
    """
    return project_l1_ball(soft_threshold(v, weight), radius)


def rows_prox(
    v: Float[Array, "k p"], weight: Float[Array, ""], radius: Float[Array, ""]
) -> Float[Array, "k p"]:
    """`bounded_l1_prox` of every row: one layer at a time."""
    return jax.vmap(lambda row: bounded_l1_prox(row, weight, radius))(v)
