"""The iterations of Sinkhorn: one softmax sum for each of two potentials in turn.

The potentials of  min <C, P> + eps KL(P | a b^T) + rho KL(P 1 | a) + rho KL(P^T 1 | b)
(rho infinite: exact marginals) are the fixed point of

    f_i = -eps kappa log sum_j b_j e^{(g_j - C_ij) / eps},   kappa = rho / (rho + eps),

and of the same equation for g. P_ij = a_i b_j e^{(f_i + g_j - C_ij) / eps}. eps falls
from the largest cost to its end; there steps are overrelaxed, f <- f + omega (T - f),
with the best omega for the rate that is seen. [thibault2021overrelaxed]
"""

from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pushforward.transport._pairing import AbstractPairing

ANNEAL = 0.7  # eps falls by this factor per step while annealing
WINDOW = 8  # steps over which a rate is measured
STEEPEST = 50.0  # exponents of marginal errors, cut to stay finite
MOST_OMEGA = 1.98
SAME_OMEGA = 0.01  # a change that leaves no trace in the rate
EXPLODED = 10.0  # growth of the error over a window


class Problem(eqx.Module):
    """Two weighted clouds with a cost, eps, and rho, infinite for exact marginals."""

    pairing: AbstractPairing
    a: Float[Array, "n"]
    b: Float[Array, "m"]
    eps: Float[Array, ""]
    rho: Float[Array, ""]

    def kappa(self, eps: Float[Array, ""]) -> Float[Array, ""]:
        """How much a potential shrinks where mass may be made: 1 when it may not."""
        return jnp.where(jnp.isinf(self.rho), 1.0, self.rho / (self.rho + eps))

    def rows(self, g: Float[Array, "m"], eps: Float[Array, ""]) -> Float[Array, "n"]:
        """The best f for this g."""
        return self.kappa(eps) * soft_min(self.pairing, g, log_of(self.b), eps)

    def columns(self, f: Float[Array, "n"], eps: Float[Array, ""]) -> Float[Array, "m"]:
        """The best g for this f."""
        flipped = self.pairing.flipped()
        return self.kappa(eps) * soft_min(flipped, f, log_of(self.a), eps)

    def floor(self) -> Float[Array, ""]:
        """The marginal error that the rounding of exponents leaves."""
        unit = jnp.finfo(self.a.dtype).eps
        return 4 * unit * (1 + self.pairing.largest() / self.eps)


class State(NamedTuple):
    """Potentials, and where the iteration stands."""

    f: Float[Array, "n"]
    g: Float[Array, "m"]
    eps: Float[Array, ""]  # falls while annealing
    omega: Float[Array, ""]
    steps: Int[Array, ""]
    error: Float[Array, ""]  # of the marginals, relative to the mass; inf in annealing
    before: Float[Array, ""]  # the error when the window began


def log_of(weights: Float[Array, "n"]) -> Float[Array, "n"]:
    """Logarithms; minus infinity for no mass, with derivative zero."""
    some = weights > 0
    return jnp.where(some, jnp.log(jnp.where(some, weights, 1.0)), -jnp.inf)


def soft_min(
    pairing: AbstractPairing,
    g: Float[Array, "m"],
    log_b: Float[Array, "m"],
    eps: Float[Array, ""],
) -> Float[Array, "n"]:
    """-eps log sum_j b_j e^{(g_j - C_ij) / eps}."""
    return -eps * pairing.log_sums(log_b + g / eps, eps)


def started(problem: Problem, start: tuple[Array, Array] | None = None) -> State:
    """From nothing at the largest eps, or from potentials at the eps asked for."""
    a, b, eps = problem.a, problem.b, problem.eps
    f, g = (jnp.zeros_like(a), jnp.zeros_like(b)) if start is None else start
    first = jnp.maximum(eps, problem.pairing.largest()) if start is None else eps
    one, far = jnp.ones_like(eps), jnp.full_like(eps, jnp.inf)
    return State(f, g, first, one, jnp.zeros((), int), far, far)


def swept(problem: Problem, state: State) -> State:
    """One step of f and one of g."""
    f, g, eps, omega, steps, _, before = state
    best = problem.rows(g, eps)
    off = _missing(problem.a, f - best, eps)
    f = f + omega * (best - f)
    best = problem.columns(f, eps)
    off = jnp.maximum(off, _missing(problem.b, g - best, eps))
    g = g + omega * (best - g)
    level = _level(problem, f, g)
    there = eps <= problem.eps
    error = jnp.where(there, off, jnp.inf)
    lower = jnp.maximum(problem.eps, ANNEAL * eps)
    steps = steps + 1
    ends, known = steps % WINDOW == 0, jnp.isfinite(before)
    growth = error / jnp.where(known, before, jnp.inf)
    better = jnp.where(ends & known & there, _omega(omega, growth), omega)
    # after a change the next window shows the change, not the rate: it is passed over
    fresh = jnp.where(jnp.abs(better - omega) > SAME_OMEGA, jnp.inf, error)
    before, omega = jnp.where(ends, fresh, before), better
    return State(f + level, g - level, lower, omega, steps, error, before)


def _missing(w: Array, over: Array, eps: Array) -> Float[Array, ""]:
    """sum_i w_i |e^{over_i / eps} - 1| / sum_i w_i: how far off a marginal is."""
    exponent = jnp.clip(over / eps, -STEEPEST, STEEPEST)
    return jnp.sum(w * jnp.abs(jnp.expm1(exponent))) / jnp.sum(w)


def _omega(omega: Array, growth: Array) -> Float[Array, ""]:
    """The best overrelaxation, from what the error grew by over a window.

    At omega the error falls by lam a step, (lam + omega - 1)^2 = lam (omega mu)^2 with
    mu^2 the rate of plain steps; the best is 2 / (1 + sqrt(1 - mu^2)), and beyond
    it the rate is omega - 1. An error that explodes calls for smaller steps.
    """
    lam = jnp.clip(growth ** (1 / WINDOW), 1e-3, 1.0)
    plain = jnp.clip((lam + omega - 1) ** 2 / (lam * omega**2), 0.0, 1.0)
    best = jnp.minimum(2 / (1 + jnp.sqrt(1 - plain)), MOST_OMEGA)
    slow = lam > omega - 1 + 0.1 * (2 - omega)
    faster = jnp.where(slow, jnp.maximum(best, omega), omega)
    return jnp.where(growth < EXPLODED, faster, 1 + (omega - 1) / 2)


def _level(problem: Problem, f: Array, g: Array) -> Float[Array, ""]:
    """The constant to move from g to f that maximizes the unbalanced dual.

    Without it a mismatch of mass contracts only by (1 + eps/rho)^-2 per step: for ever,
    when rho is large. [sejourne2022faster]
    """
    rho = problem.rho
    free = jnp.isinf(rho)
    price = jnp.where(free, 1.0, rho)
    mass_f = jax.nn.logsumexp(log_of(problem.a) - f / price)
    mass_g = jax.nn.logsumexp(log_of(problem.b) - g / price)
    return jnp.where(free, 0.0, 0.5 * price * (mass_f - mass_g))


def unfinished(state: State, tol: Array, most: Array) -> Bool[Array, ""]:
    """Whether marginals are off by more than `tol` and steps are left."""
    return (state.error > tol) & (state.steps < most)


@jax.jit
def advance(
    problem: Problem, state: State, tol: Float[Array, ""], most: Int[Array, ""]
) -> State:
    """Steps until the marginals are right to `tol`, at most up to that count."""
    step = partial(swept, problem)
    tol = jnp.maximum(tol, problem.floor())
    return jax.lax.while_loop(lambda s: unfinished(s, tol, most), step, state)


@jax.jit
def finished(problem: Problem, state: State) -> State:
    """With f the best for g, so that the rows are exact."""
    return state._replace(f=problem.rows(state.g, problem.eps))


@jax.jit
def settle_alone(
    pairing: AbstractPairing,
    a: Float[Array, "n"],
    eps: Float[Array, ""],
    tol: Float[Array, ""],
    most: Int[Array, ""],
) -> tuple[Float[Array, "n"], Float[Array, ""]]:
    """The one potential of a measure with itself, and what its marginal lacks.

    Averaged steps f <- (f + T f) / 2 halve the error, or better, where e^{-c / eps} is
    a positive kernel.
    """
    problem = Problem(pairing, a, a, eps, jnp.full_like(eps, jnp.inf))
    tol = jnp.maximum(tol, problem.floor())

    def step(state: tuple) -> tuple:
        f, count, _ = state
        best = problem.rows(f, eps)
        return 0.5 * (f + best), count + 1, _missing(a, f - best, eps)

    def going(state: tuple) -> Array:
        return (state[2] > tol) & (state[1] < most)

    start = (jnp.zeros_like(a), jnp.zeros((), int), jnp.full_like(eps, jnp.inf))
    f, _, error = jax.lax.while_loop(going, step, start)
    return f, error
