"""Unadjusted Langevin sampling: the particle form of the Fokker-Planck flow."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from pushforward.errors import InputError


@partial(jax.jit, static_argnames=("potential", "steps"))
def _walk(
    potential: Callable, points: Array, h: Array, steps: int, key: PRNGKeyArray
) -> Array:
    drift = jax.vmap(jax.grad(potential))

    def body(x: Array, one: PRNGKeyArray) -> tuple[Array, None]:
        noise = jax.random.normal(one, x.shape, dtype=x.dtype)
        return x - h * drift(x) + jnp.sqrt(2 * h) * noise, None

    return jax.lax.scan(body, points, jax.random.split(key, steps))[0]


def langevin(
    potential: Callable[[Float[Array, "d"]], Float[Array, ""]],
    points: Float[Array, "n d"],
    h: float,
    steps: int,
    *,
    key: PRNGKeyArray,
) -> Float[Array, "n d"]:
    """n independent chains after `steps` of x <- x - h grad V(x) + sqrt(2 h) noise.

    The step biases the law: for V = |x|^2 / 2 the stationary variance is
    1 / (1 - h / 2), not one.
    """
    x = jnp.asarray(points, dtype=float)
    if x.ndim != 2 or x.size == 0 or not bool(jnp.isfinite(x).all()):
        raise InputError(f"points must be finite of shape (n, d), got {x.shape}.")
    if not 0 < h < float("inf") or steps < 1:
        raise InputError(f"h must be positive and steps >= 1, got {h} and {steps}.")
    return _walk(potential, x, jnp.asarray(h), steps, key)
