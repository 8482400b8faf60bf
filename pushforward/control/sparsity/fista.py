"""Accelerated proximal gradient on a uniform grid of layers: zeros are bitwise.

Proximal maps of the l1 norm, with and without a bound on it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._shapes import Number
from pushforward.control._checks import count
from pushforward.control.neural.problem import Parameters, TrainingProblem


def soft_threshold(v: Float[Array, "p"], tau: Number) -> Float[Array, "p"]:
    """Move every entry toward zero by tau; entries below tau become exactly zero."""
    return jnp.where(jnp.abs(v) > tau, v - jnp.sign(v) * tau, 0.0)


def project_l1_ball(v: Float[Array, "p"], radius: Number) -> Float[Array, "p"]:
    """Nearest point of {||x||_1 <= radius}, by sorting.

    Not a rescaling: entries move toward zero by the same amount, and the small
    ones vanish.
    """
    size = jnp.abs(v)
    ordered = jnp.sort(size)[::-1]
    count = jnp.arange(1.0, len(v) + 1.0)
    level = (jnp.cumsum(ordered) - radius) / count
    last = jnp.sum(ordered > level) - 1
    inside = jnp.sum(size) <= radius
    # of an inside point the level is not positive: nothing to remove
    return jnp.where(inside, v, soft_threshold(v, jnp.maximum(level[last], 0.0)))


def bounded_l1_prox(
    v: Float[Array, "p"], weight: Number, radius: Number
) -> Float[Array, "p"]:
    """argmin_x 1/2 |x - v|^2 + weight ||x||_1 over ||x||_1 <= radius.

    Soft threshold, then projection: the composition is the exact minimizer.

    >>> bounded_l1_prox(jnp.array([3.0, -0.5]), jnp.array(1.0), jnp.array(1.5))
    Array([1.5, 0. ], dtype=float64)
    """
    return project_l1_ball(soft_threshold(v, weight), radius)


def rows_prox(
    v: Float[Array, "k p"], weight: Number, radius: Number
) -> Float[Array, "k p"]:
    """`bounded_l1_prox` of every row: one layer at a time."""
    return jax.vmap(lambda row: bounded_l1_prox(row, weight, radius))(v)


class _State(NamedTuple):
    now: Array
    before: Array
    momentum: Array
    lipschitz: Array
    value: Array


class Fista(eqx.Module):
    """FISTA with backtracking and restart for misfit + lam ||.||_1, rows in a ball.

    Works in L2(0, T): the gradient of a layer is divided by dt. Stops when a
    block of `block` iterations lowers the objective by less than `tolerance`.
    """

    steps: int = eqx.field(static=True, default=20000)
    block: int = eqx.field(static=True, default=500)
    tolerance: float = 1e-12

    def __check_init__(self):
        count("steps", self.steps)
        count("block", self.block)

    def minimize(
        self, problem: TrainingProblem, controls: Array
    ) -> tuple[Array, np.ndarray]:
        """Controls with exact zeros, and the objective after every block."""
        penalty = problem.penalty
        controls = rows_prox(controls, jnp.asarray(0.0), penalty.bound)  # type: ignore
        value = _total(problem, controls)
        state = _State(controls, controls, jnp.asarray(1.0), jnp.asarray(1.0), value)
        return descended(lambda s: _run(problem, s, self.block), state, self)


def descended(
    run: Callable[[Any], Any], state: Any, settings: Any
) -> tuple[Array, np.ndarray]:
    """Blocks of steps until one gains too little; the end, and the values on the way.

    A state has `now` and `value`; settings have `steps`, `block` and `tolerance`.
    """
    history = [float(state.value)]
    for _ in range(max(1, settings.steps // settings.block)):
        state = run(state)
        history.append(float(state.value))
        if history[-2] - history[-1] <= settings.tolerance * abs(history[-1]):
            break
    return state.now, np.array(history)


@eqx.filter_jit
def _total(problem: TrainingProblem, controls: Array) -> Array:
    return problem.objective(Parameters(controls, None))


@eqx.filter_jit
def _run(problem: TrainingProblem, state: _State, block: int) -> _State:
    dt, lam = problem.dt, problem.penalty.lam  # type: ignore

    def iteration(state: _State, _):
        pull = (state.momentum - 1.0) / _next_momentum(state.momentum)
        y = state.now + pull * (state.now - state.before)
        lipschitz, new, misfit = _backtrack(problem, y, state.lipschitz)
        value = misfit + lam * dt * jnp.sum(jnp.abs(new))
        better = value <= state.value
        momentum = jnp.where(better, _next_momentum(state.momentum), 1.0)
        kept = jnp.where(better, new, state.now)
        # a rise restarts without momentum; the step may slowly grow again
        before = jnp.where(better, state.now, kept)
        plain = state.momentum == 1.0
        lipschitz = jnp.where(better | ~plain, 0.9 * lipschitz, 2.0 * lipschitz)
        best = jnp.where(better, value, state.value)
        return _State(kept, before, momentum, lipschitz, best), None

    return jax.lax.scan(iteration, state, None, length=block)[0]


def _backtrack(problem: TrainingProblem, y: Array, lipschitz: Array):
    """A proximal step from y whose quadratic model bounds the misfit from above."""
    dt = problem.dt
    lam, bound = problem.penalty.lam, problem.penalty.bound  # type: ignore

    def smooth(u: Array) -> Array:
        return problem.misfit(Parameters(u, None))

    f, g = jax.value_and_grad(smooth)(y)

    def attempt(lipschitz):
        new = rows_prox(y - g / (dt * lipschitz), lam / lipschitz, bound)
        return lipschitz, new, smooth(new)

    def too_long(carry):
        (lipschitz, new, f_new), tries = carry
        move = new - y
        model = f + jnp.sum(g * move) + 0.5 * lipschitz * dt * jnp.sum(move**2)
        rounding = 1e-14 * jnp.abs(f)
        return (f_new > model + rounding) & (tries < 60)

    def halve(carry):
        (lipschitz, _, _), tries = carry
        return attempt(2.0 * lipschitz), tries + 1

    found, _ = jax.lax.while_loop(too_long, halve, (attempt(lipschitz), 0))
    return found


def _next_momentum(t: Array) -> Array:
    return 0.5 * (1.0 + jnp.sqrt(1.0 + 4.0 * t * t))
