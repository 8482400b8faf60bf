"""Bounds on both sides of an entropic problem, from its potentials and their sums.

A dual value is a lower bound. The coupling P of potentials (f, g), whose rows are
exact, becomes feasible by scaling its heavy columns down and adding what is then
missing as a product u v^T of mass s; the objective of

    P(f, g') + u v^T,   g' = min(g, best g for f),

is bounded by convexity of the entropy in (1 - s) Q + s R. All of it takes sums over
rows and columns, never the matrix. [altschuler2017nearlinear]
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward.transport.entropic._sinkhorn import Problem, log_of


class Certificate(NamedTuple):
    """A coupling P(f, g) + u v^T, and bounds of the minimum."""

    f: Float[Array, "n"]
    g: Float[Array, "m"]
    u: Float[Array, "n"]
    v: Float[Array, "m"]
    rows: Float[Array, "n"]  # the sums of P(f, g)
    columns: Float[Array, "m"]
    value: Float[Array, ""]  # at most this much is attained
    dual: Float[Array, ""]  # and nothing below this

    def reversed(self) -> "Certificate":
        """With rows and columns exchanged."""
        total = jnp.sum(self.u)
        share = self.u / jnp.where(total > 0, total, 1.0)
        return Certificate(
            self.g, self.f, total * self.v, share, self.columns, self.rows,
            self.value, self.dual,
        )  # fmt: skip


@jax.jit
def balanced(problem: Problem, f: Array, g: Array, best: Array) -> Certificate:
    """For exact marginals; f must be the best for g, and `best` for f."""
    a, b, eps = problem.a, problem.b, problem.eps
    lower = jnp.minimum(g, best)
    over = (f - problem.rows(lower, eps)) / eps
    rows, u = a * jnp.exp(over), -a * jnp.expm1(over)
    over = (lower - best) / eps
    columns, missing = b * jnp.exp(over), -b * jnp.expm1(over)
    u, missing = jnp.maximum(u, 0.0), jnp.maximum(missing, 0.0)
    s, lacking = jnp.sum(u), jnp.sum(missing)
    v = missing / jnp.where(lacking > 0, lacking, 1.0)
    scaled = rows @ f + columns @ lower - eps * (1 - s) * jnp.log1p(-s)
    share = u / jnp.where(s > 0, s, 1.0)
    spread = s * (_relative(share, a) + _relative(v, b))
    value = scaled + problem.pairing.product_cost(u, v) + eps * spread
    dual = jnp.minimum(a @ f + b @ best, value)  # which rounding may have exchanged
    return Certificate(f, lower, u, v, rows, columns, value, dual)


@jax.jit
def unbalanced(problem: Problem, f: Array, g: Array, best: Array) -> Certificate:
    """Where the marginals are free: any coupling will do."""
    a, b, eps, rho = problem.a, problem.b, problem.eps, problem.rho
    g, kappa = best, problem.kappa(eps)
    rows = a * jnp.exp((f - problem.rows(g, eps) / kappa) / eps)
    columns = b * jnp.exp((g - problem.columns(f, eps) / kappa) / eps)
    made = jnp.sum(rows) - jnp.sum(a) * jnp.sum(b)
    penalty = _relative(rows, a) - jnp.sum(rows) + jnp.sum(a)
    penalty = penalty + _relative(columns, b) - jnp.sum(columns) + jnp.sum(b)
    value = rows @ f + columns @ g - eps * made + rho * penalty
    dual = -eps * made - rho * (a @ jnp.expm1(-f / rho) + b @ jnp.expm1(-g / rho))
    nothing = (jnp.zeros_like(a), jnp.zeros_like(b))
    dual = jnp.minimum(dual, value)
    return Certificate(f, g, *nothing, rows, columns, value, dual)


@jax.jit
def cost(problem: Problem, c: Certificate) -> Float[Array, ""]:
    """<C, P>, which takes one more sum."""
    logs = log_of(problem.b) + c.g / problem.eps
    own = c.rows @ problem.pairing.costs(logs, problem.eps)
    return own + problem.pairing.product_cost(c.u, c.v)


def _relative(p: Array, q: Array) -> Float[Array, ""]:
    """sum p log(p / q), with 0 log 0 = 0."""
    some = (p > 0) & (q > 0)
    ratio = jnp.where(some, p, 1.0) / jnp.where(some, q, 1.0)
    return jnp.sum(jnp.where(some, p * jnp.log(ratio), 0.0))
