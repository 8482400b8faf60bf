"""The iterations of Sinkhorn: one softmax sum for each of two potentials in turn.

The potentials of  min <C, P> + eps KL(P | a b^T) + rho KL(P 1 | a) + rho KL(P^T 1 | b)
(rho infinite: exact marginals) are the fixed point of

    f_i = -eps kappa log sum_j b_j e^{(g_j - C_ij) / eps},   kappa = rho / (rho + eps),

and of the same equation for g. P_ij = a_i b_j e^{(f_i + g_j - C_ij) / eps}. eps falls
from the spread of the costs to its end; there the two steps are one map of g, and where
it comes to rest is sought among combinations of the last few steps, by least squares.
Its derivative is symmetric and smoothing, so that few directions are slow and a short
memory sees them; where single atoms hold their mass fast they are moved further, by
what the diagonal of the derivative says. [walker2011anderson]
"""

from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from pushforward.transport.entropic._pairing import AbstractPairing

ANNEAL = 0.5  # eps falls by this factor per step while annealing
MEMORY = 12  # steps that are combined
ROUGH = 0.5  # from this marginal error on a combination of steps is a better step
NEAR = 0.1  # from this one on gains are looked at, and again
FAR = 0.01  # whenever it has fallen by that much
FURTHEST = 100.0  # a gain at most
USEFUL = 1.5  # gains that are all smaller change little
BLUR = 1e3  # roundings: how well the least squares are told apart
STEEPEST = 50.0  # exponents of marginal errors, cut to stay finite


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
        return 4 * unit * (1 + self.pairing.size() / self.eps)


class State(NamedTuple):
    """Potentials, and where the iteration stands."""

    f: Float[Array, "n"]
    g: Float[Array, "m"]
    eps: Float[Array, ""]  # falls while annealing
    places: Float[Array, "k m"]  # where the last steps began, in turn
    moves: Float[Array, "k m"]  # from there, by plain steps
    gain: Float[Array, "m"]  # how much further than that to go
    known: Int[Array, ""]  # how many of the steps count
    steps: Int[Array, ""]
    error: Float[Array, ""]  # of the marginals, relative to the mass; inf in annealing
    before: Float[Array, ""]  # the error MEMORY steps ago, or longer
    trust: Float[Array, ""]  # the error at which gains are looked at

    def last(self) -> tuple[Array, Array, Array]:
        """Of the last step: f, the g that it is the best for, and the best for f."""
        slot = (self.steps - 1) % MEMORY
        g = self.places[slot]
        return self.f, g, g + self.moves[slot]


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


@jax.jit
def started(problem: Problem, start: tuple[Array, Array] | None = None) -> State:
    """From nothing at a large eps, or from potentials at the eps asked for."""
    a, b, eps = problem.a, problem.b, problem.eps
    f, g = (jnp.zeros_like(a), jnp.zeros_like(b)) if start is None else start
    first = jnp.maximum(eps, problem.pairing.spread()) if start is None else eps
    none, far = jnp.zeros((), int), jnp.full_like(eps, jnp.inf)
    past, near = jnp.zeros((MEMORY, b.shape[0]), b.dtype), jnp.full_like(eps, NEAR)
    gain = jnp.ones_like(b)
    return State(f, g, first, past, past, gain, none, none, far, far, near)


def swept(problem: Problem, state: State) -> State:
    """One step of f and one of g."""
    g, eps = state.g, state.eps
    f = problem.rows(g, eps)
    best = problem.columns(f, eps)
    level = _level(problem, f, best)
    move = best - level - g
    there = eps <= problem.eps
    error = jnp.where(there, _missing(problem.b, move, eps), jnp.inf)
    steps, slot = state.steps + 1, state.steps % MEMORY
    places, moves = state.places.at[slot].set(g), state.moves.at[slot].set(move)
    ends = steps % MEMORY == 0
    lost = (error > ROUGH) | (ends & (error > state.before))  # it led nowhere
    known = jnp.where(lost, 0, jnp.minimum(state.known + 1, MEMORY))
    gain = jnp.where(lost, 1.0, state.gain)
    before = jnp.where(ends, error, state.before)
    counts = (slot - jnp.arange(MEMORY)) % MEMORY < known
    g = _combined(gain, problem.b, places, moves, slot, counts)
    lower = jnp.maximum(problem.eps, ANNEAL * eps)
    last = (known, steps, error, before, state.trust)
    return State(f + level, g, lower, places, moves, gain, *last)


def _combined(
    gain: Array, b: Array, places: Array, moves: Array, slot: Array, counts: Array
) -> Float[Array, "m"]:
    """Where a linear map would rest, given how it moves a few points.

    Of the combinations of the last steps with weights that sum to one, the one that
    moves least, in L^2(gain b); the last step where no other counts.
    """
    scale = jnp.sqrt(gain * b / jnp.sum(b))
    change = scale[None] * (moves - moves[slot][None])
    change = jnp.where(counts[:, None], change, 0.0)
    squares = jnp.matmul(change, change.T, precision="highest")
    size = jnp.sqrt(jnp.diagonal(squares))
    size = jnp.where(size > 0, size, 1.0)
    blur = BLUR * jnp.finfo(b.dtype).eps * jnp.eye(MEMORY, dtype=b.dtype)
    right = change @ (scale * moves[slot]) / size
    shares = -jnp.linalg.solve(squares / jnp.outer(size, size) + blur, right) / size
    shares = shares.at[slot].add(1 - jnp.sum(shares))
    found = shares @ places + gain * (shares @ moves)
    plain = places[slot] + gain * moves[slot]
    return jnp.where(jnp.isfinite(found).all(), found, plain)


def gained(problem: Problem, state: State) -> State:
    """With gains 1 / (1 - s_j), s_j the diagonal of the derivative of a step in g.

    Jacobi's method beside Sinkhorn's: s_j = sum_i P_ij^2 / (a_i b_j) is near one where
    an atom is alone with its partner, and from there plain steps hardly move it.
    """
    eps = problem.eps
    kappa, (f, _, g) = problem.kappa(eps), state.last()
    logs = log_of(problem.a) + (1 + 1 / kappa) * f / eps
    squares = problem.pairing.flipped().log_sums(logs, eps / 2)
    diagonal = jnp.exp(squares + log_of(problem.b) + (1 + 1 / kappa) * g / eps)
    gain = 1 / jnp.maximum(1 - kappa**2 * diagonal, 1 / FURTHEST)
    useful = jnp.max(gain) > USEFUL
    trust = jnp.where(useful, FAR * state.error, 0.0)
    return state._replace(gain=jnp.where(useful, gain, 1.0), trust=trust)


def _missing(w: Array, over: Array, eps: Array) -> Float[Array, ""]:
    """sum_i w_i |e^{over_i / eps} - 1| / sum_i w_i: how far off a marginal is."""
    exponent = jnp.clip(over / eps, -STEEPEST, STEEPEST)
    return jnp.sum(w * jnp.abs(jnp.expm1(exponent))) / jnp.sum(w)


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
    going = lambda s: unfinished(s, tol, most)  # noqa: E731
    step = partial(swept, problem)
    if problem.pairing.near_linear:  # so many points that none is alone
        return jax.lax.while_loop(going, step, state)

    def stretch(state: State) -> State:
        far = lambda s: going(s) & (s.error >= s.trust)  # noqa: E731
        state = jax.lax.while_loop(far, step, state)
        keep = lambda state: state  # noqa: E731
        return jax.lax.cond(going(state), partial(gained, problem), keep, state)

    return jax.lax.while_loop(going, stretch, state)


@jax.jit
def one_step(problem: Problem, state: State) -> State:
    """At the eps asked for, from wherever it stands."""
    return swept(problem, state._replace(eps=problem.eps))


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
