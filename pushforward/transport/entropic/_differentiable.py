"""The value of entropic transport with all its derivatives, none through iterations.

The dual is stationary in the potentials, so the first derivative holds them fixed:

    d OT = <P, dC> + <f, da> + <g, db> + KL(P | a b^T) d eps.

Second derivatives need those of the potentials. With A and B the conditional means
along rows and columns of P, the equations f = T(g), g = S(f) give

    df + A dg = dT,   B df + dg = dS,   hence   (I - B A) dg = dS - B dT,

which is symmetric in L^2(b) and is solved by conjugate gradients, two sums a step.
"""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.sparse.linalg import cg
from jaxtyping import Array, Float, Int

from pushforward.transport.entropic._pairing import AbstractPairing, Coupling
from pushforward.transport.entropic._sinkhorn import (
    Problem,
    advance,
    finished,
    log_of,
    settle_alone,
    started,
)

CG_STEPS = 500  # at most; each takes two sums


class Limits(eqx.Module):
    """When an iteration stops: its marginals are right to `tol`, or it was too long."""

    tol: Float[Array, ""]
    most: Int[Array, ""]


@jax.custom_jvp
def potentials(problem: Problem, limits: Limits) -> tuple[Array, Array, Array]:
    """(f, g), differentiable, f the best for g, and what the marginals lack."""
    tol = jnp.maximum(limits.tol, problem.floor())
    state = advance(problem, started(problem), tol, limits.most)
    state = finished(problem, state)
    return state.f, state.g, state.error


@potentials.defjvp
def _potentials_jvp(primals, tangents):
    problem, limits = primals
    f, g, lacking = potentials(problem, limits)
    moved, eps = _own(tangents[0], problem), problem.eps
    _, dT = jax.jvp(lambda p: p.rows(g, p.eps), (problem,), (moved,))
    _, dS = jax.jvp(lambda p: p.columns(f, p.eps), (problem,), (moved,))
    back = partial(jax.jvp, lambda f: problem.columns(f, eps), (f,))
    right = dS + back((dT,))[1]  # a step of g turns that of f around: B = -dS/df
    mean_rows = _means(problem.pairing, problem.b, g, eps)
    mean_columns = _means(problem.pairing.flipped(), problem.a, f, eps)
    twice = lambda h: h - mean_columns(mean_rows(h))  # noqa: E731
    dg = _solved(twice, right, problem.b, constants=True)
    df = dT + jax.jvp(lambda g: problem.rows(g, eps), (g,), (dg,))[1]
    dg = dS + back((df,))[1]  # once more, for atoms without mass
    return (f, g, lacking), (df, dg, jnp.zeros_like(lacking))


@jax.custom_jvp
def potential_alone(problem: Problem, limits: Limits) -> tuple[Array, Array]:
    """The one potential of a measure with itself, f = T(f), and what is lacking."""
    pairing, a, eps = problem.pairing, problem.a, problem.eps
    return settle_alone(pairing, a, eps, limits.tol, limits.most)


@potential_alone.defjvp
def _potential_alone_jvp(primals, tangents):
    problem, limits = primals
    f, lacking = potential_alone(problem, limits)
    moved = _own(tangents[0], problem)
    _, dT = jax.jvp(lambda p: p.rows(f, p.eps), (problem,), (moved,))
    mean = _means(problem.pairing, problem.a, f, problem.eps)
    df = _solved(lambda h: h + mean(h), dT, problem.a, constants=False)
    again = jax.jvp(lambda f: problem.rows(f, problem.eps), (f,), (df,))[1]
    moved = dT + again  # for atoms without mass
    return (f, lacking), (moved, jnp.zeros_like(lacking))


@jax.custom_jvp
def value(problem: Problem, limits: Limits) -> tuple[Array, Array]:
    """min over couplings of <C, P> + eps KL(P | a b^T), and what marginals lack.

    By the dual: as far below the minimum as the marginals are off.
    """
    f, g, lacking = potentials(problem, limits)
    return problem.a @ f + problem.b @ g, lacking


@value.defjvp
def _value_jvp(primals, tangents):
    problem, limits = primals
    f, g, lacking = potentials(problem, limits)
    at, along = _moved(problem, f, g, _own(tangents[0], problem))
    return (at, lacking), (along, jnp.zeros_like(lacking))


@jax.custom_jvp
def value_alone(problem: Problem, limits: Limits) -> tuple[Array, Array]:
    """The same of a measure with itself, where b = a and one potential does."""
    f, lacking = potential_alone(problem, limits)
    return problem.a @ f + problem.b @ f, lacking


@value_alone.defjvp
def _value_alone_jvp(primals, tangents):
    problem, limits = primals
    f, lacking = potential_alone(problem, limits)
    at, along = _moved(problem, f, f, _own(tangents[0], problem))
    return (at, lacking), (along, jnp.zeros_like(lacking))


def _moved(problem: Problem, f: Array, g: Array, moved: Any):
    """The value, and its first derivative along a change of the problem."""
    a, b, eps = problem.a, problem.b, problem.eps
    coupling = Coupling(log_of(a) + f / eps, log_of(b) + g / eps, eps)
    pull, cost = problem.pairing.pull(coupling)
    at = a @ f + b @ g
    leaves = zip(*map(jax.tree_util.tree_leaves, (pull, moved.pairing)), strict=True)
    along = sum(jnp.sum(one * other) for one, other in leaves)
    along = along + f @ moved.a + g @ moved.b + (at - cost) / eps * moved.eps
    return at, along


def _own(tangent: Any, problem: Problem) -> Problem:
    """The tangent, with none for rho: it is infinite."""
    return eqx.tree_at(lambda p: p.rho, tangent, jnp.zeros_like(problem.rho))


def _means(pairing: AbstractPairing, b: Array, g: Array, eps: Array):
    """h -> sum_j p_{j|i} h_j, by the fast sums, which conjugate gradients apply."""
    logs = log_of(b) + g / eps

    def mean(h: Float[Array, "m"]) -> Float[Array, "n"]:
        return pairing.averages(logs, h[:, None], eps).mean[:, 0]

    return mean


def _solved(operator, right: Array, b: Array, *, constants: bool) -> Float[Array, "m"]:
    """h with operator(h) = right, for an operator that is symmetric in L^2(b).

    Written for sqrt(b) h it is symmetric. Atoms without mass have h = 0. With
    `constants`, these are in the null space, and h has none.
    """
    root, mass = jnp.sqrt(b), jnp.sum(b)
    some = b > 0
    inverse = jnp.where(some, 1 / jnp.where(some, root, 1.0), 0.0)

    def symmetric(z: Array) -> Array:
        h = root * operator(inverse * z)
        return h + root * (root @ z) / mass if constants else h

    level = (b @ right) / mass if constants else 0.0
    tol = 100 * float(jnp.finfo(b.dtype).eps)
    steps = lambda A, r: cg(A, r, tol=tol, maxiter=CG_STEPS)[0]  # noqa: E731
    right = root * (right - level)
    z = jax.lax.custom_linear_solve(symmetric, right, steps, symmetric=True)
    return inverse * z
