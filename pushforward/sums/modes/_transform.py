"""A transform that JAX can differentiate although it cannot look inside.

Y_i = sum_j e^{beta <q_i, k_j> - |beta|} U_j is linear in U, its transpose is itself
with q and k exchanged, and its derivatives in q, k and beta are transforms of products.
So one rule serves the circle, whose number of modes is known only at run time, and S^2,
which is summed on the host.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.custom_derivatives import linear_call
from jaxtyping import Array, Float


class AbstractTransform(eqx.Module):
    """A way to evaluate Y; frozen and hashable, so that it can be static.

    A series is cut where `tail` is left. Beyond `limit`, a bound of |beta|, it is zero
    at no cost: those rows are recomputed exactly.
    """

    tail: float = eqx.field(static=True)
    limit: float = eqx.field(static=True)

    @abc.abstractmethod
    def evaluate(
        self,
        q: Float[Array, "m d"],
        k: Float[Array, "n d"],
        u: Float[Array, "n c"],
        beta: Float[Array, ""],
    ) -> Float[Array, "m c"]:
        """sum_j e^{beta <q_i, k_j> - |beta|} u_j."""

    @abc.abstractmethod
    def error(
        self, beta: Float[Array, ""], largest: Float[Array, ""]
    ) -> Float[Array, ""]:
        """A bound of the error for weights that sum to one; `largest` total."""

    def of_points(
        self,
        q: Float[Array, "m d"],
        k: Float[Array, "n d"],
        w: Float[Array, "n 1"],
        beta: Float[Array, ""],
    ) -> Float[Array, "m e"]:
        """The same for u_j = w_j (1, k_j), where there may be a shorter way."""
        return self.evaluate(q, k, jnp.concatenate([w, w * k], axis=1), beta)


@jax.custom_jvp
def of_points(
    method: AbstractTransform,
    q: Float[Array, "m d"],
    k: Float[Array, "n d"],
    w: Float[Array, "n 1"],
    beta: Float[Array, ""],
) -> Float[Array, "m e"]:
    """sum_j e^{beta <q_i, k_j> - |beta|} w_j (1, k_j), differentiable."""
    return method.of_points(q, k, w, beta)


@of_points.defjvp
def _of_points_jvp(primals, tangents):
    method, q, k, w, beta = primals
    _, dq, dk, dw, dbeta = tangents
    u = jnp.concatenate([w, w * k], axis=1)
    du = jnp.concatenate([dw, dw * k + w * dk], axis=1)
    y = of_points(method, q, k, w, beta)
    return y, _derivative(method, (q, k, u, beta), (dq, dk, du, dbeta), y)


@jax.custom_jvp
def of_values(
    method: AbstractTransform,
    q: Float[Array, "m d"],
    k: Float[Array, "n d"],
    u: Float[Array, "n c"],
    beta: Float[Array, ""],
) -> Float[Array, "m c"]:
    """sum_j e^{beta <q_i, k_j> - |beta|} u_j, differentiable."""
    return method.evaluate(q, k, u, beta)


@of_values.defjvp
def _of_values_jvp(primals, tangents):
    method, *arguments = primals
    y = of_values(method, *arguments)
    return y, _derivative(method, arguments, tangents[1:], y)


def _derivative(method: AbstractTransform, primals, tangents, y) -> Array:
    """The transform of dU, and of U times the derivative of beta <q, k> - |beta|."""
    q, k, u, beta = primals
    dq, dk, du, dbeta = tangents
    m, c = y.shape
    seen = of_values(method, q, k, _outer(u, k), beta).reshape(m, c, -1)
    weights = jnp.concatenate([du, _outer(u, dk)], axis=1)
    linear = _linear(method, q, k, beta, weights)
    by_u, by_k = linear[:, :c], linear[:, c:].reshape(m, c, -1)
    move = beta * dq + dbeta * q
    dy = by_u + beta * jnp.einsum("md,mcd->mc", q, by_k)
    return dy + jnp.einsum("md,mcd->mc", move, seen) - dbeta * jnp.sign(beta) * y


def _linear(method: AbstractTransform, q, k, beta, u) -> Array:
    """The transform as a linear map of u, with its transpose."""
    forward = lambda at, u: method.evaluate(at[0], at[1], u, at[2])  # noqa: E731
    backward = lambda at, y: method.evaluate(at[1], at[0], y, at[2])  # noqa: E731
    return linear_call(forward, backward, (q, k, beta), u)


def _outer(u: Float[Array, "n c"], x: Float[Array, "n d"]) -> Float[Array, "n cd"]:
    return (u[:, :, None] * x[:, None, :]).reshape(u.shape[0], -1)
