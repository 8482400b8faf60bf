"""The Sinkhorn divergence, differentiable in points and weights.

S = OT_eps(mu, nu) - OT_eps(mu, mu) / 2 - OT_eps(nu, nu) / 2 with cost |x - y|^2:
non-negative, zero only at mu = nu, W_2^2 as eps -> 0 and |E X - E Y|^2 as eps -> inf.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import as_float_array, check_finite
from pushforward.errors import InputError
from pushforward.transport._atoms import FARTHEST
from pushforward.transport._sinkhorn import solve_potentials, solve_symmetric


def sinkhorn_divergence(
    x: Float[Array, "n d"],
    y: Float[Array, "m d"],
    eps: float | Float[Array, ""],
    *,
    a: Float[Array, "n"] | None = None,
    b: Float[Array, "m"] | None = None,
    tol: float = 1e-10,
    iterations: int = 5_000,
) -> Float[Array, ""]:
    """S_eps between sum_i a_i delta_{x_i} and sum_j b_j delta_{y_j}.

    Works under `jit`, `grad` and `vmap`. The gradient is exact at convergence: the
    dual is stationary in the potentials, so they are held fixed (envelope theorem).
    Second derivatives are not: they would need the derivative of the potentials.

    >>> import jax, jax.numpy as jnp
    >>> x = jnp.zeros((1, 2)); y = jnp.ones((1, 2))
    >>> float(sinkhorn_divergence(x, y, 0.5))
    2.0
    >>> jax.grad(sinkhorn_divergence)(x, y, 0.5).tolist()
    [[-2.0, -2.0]]

    [feydy2019interpolating]
    """
    x, y, a, b = _checked(x, y, a, b)
    eps = _checked_eps(eps)
    return _debiased(x, y, a, b, eps, jnp.asarray(tol), jnp.asarray(float(iterations)))


@jax.jit
def _debiased(
    x: Array, y: Array, a: Array, b: Array, eps: Array, tol: Array, most: Array
) -> Float[Array, ""]:
    across = _value(x, y, a, b, eps, tol, most)
    within = _self_value(x, a, eps, tol, most) + _self_value(y, b, eps, tol, most)
    return across - 0.5 * within


def _squared(x: Float[Array, "n d"], y: Float[Array, "m d"]) -> Float[Array, "n m"]:
    """|x_i - y_j|^2 from differences: no cancellation, and a gradient without NaN."""
    return jax.vmap(lambda u: jax.vmap(lambda v: jnp.sum((u - v) ** 2))(y))(x)


def _dual(
    table: Array, f: Array, g: Array, a: Array, b: Array, eps: Array
) -> Float[Array, ""]:
    product = a[:, None] * b[None, :]
    plan = product * jnp.exp((f[:, None] + g[None, :] - table) / eps)
    return a @ f + b @ g - eps * (jnp.sum(plan) - jnp.sum(product))


def _value(
    x: Array, y: Array, a: Array, b: Array, eps: Array, tol: Array, most: Array
) -> Float[Array, ""]:
    table = _squared(x, y)
    fixed = jax.lax.stop_gradient((table, jnp.log(a), jnp.log(b), eps))
    f, g, _, _ = solve_potentials(*fixed, jnp.asarray(jnp.inf), tol, most)
    return _dual(table, f, g, a, b, eps)


def _self_value(
    x: Array, a: Array, eps: Array, tol: Array, most: Array
) -> Float[Array, ""]:
    table = _squared(x, x)
    fixed = jax.lax.stop_gradient((table, jnp.log(a), eps))
    f, _ = solve_symmetric(*fixed, tol, most)
    return _dual(table, f, f, a, a, eps)


def _checked(
    x: Array, y: Array, a: Array | None, b: Array | None
) -> tuple[Array, Array, Array, Array]:
    out = []
    for name, points, weights in (("x", x, a), ("y", y, b)):
        points = as_float_array(name, points).astype(float)
        if points.ndim != 2 or points.size == 0:
            raise InputError(
                f"{name} must have shape (n, d) with n, d >= 1, got {points.shape}."
            )
        n = len(points)
        if weights is None:
            weights = jnp.full(n, 1 / n)
        weights = as_float_array(f"weights of {name}", weights)
        if weights.shape != (n,):
            raise InputError(
                f"weights of {name} must have shape ({n},), got {weights.shape}."
            )
        _check_values(name, points, weights)
        out.append((points, weights))
    (x, a), (y, b) = out
    if x.shape[1] != y.shape[1]:
        raise InputError(
            f"x and y must have points of one dimension, got {x.shape} and {y.shape}."
        )
    return x, y, a, b


def _check_values(name: str, points: Array, weights: Array) -> None:
    """Values can be checked only outside `jit` and `grad`, where they are known."""
    if isinstance(points, jax.core.Tracer) or isinstance(weights, jax.core.Tracer):
        return
    check_finite(name, points)
    if float(jnp.abs(points).max()) > FARTHEST:
        raise InputError(f"{name} is so large that squares overflow; rescale x and y.")
    if not (np.asarray(weights) > 0).all() or abs(float(weights.sum()) - 1) > 1e-6:
        raise InputError(
            f"weights of {name} must be positive and sum to one; drop atoms of no mass."
        )


def _checked_eps(eps: float | Array) -> Array:
    if not isinstance(eps, jax.core.Tracer) and not 0 < float(eps) < np.inf:
        raise InputError(f"eps must be positive and finite, got {eps}.")
    return jnp.asarray(eps, dtype=float)
