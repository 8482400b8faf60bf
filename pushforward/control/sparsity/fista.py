"""Accelerated proximal gradient on a uniform grid of layers: zeros are bitwise."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from pushforward.control._checks import count
from pushforward.control.neural.problem import Parameters, TrainingProblem
from pushforward.control.sparsity.proximal import rows_prox


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
        history = [float(value)]
        for _ in range(max(1, self.steps // self.block)):
            state = _run(problem, state, self.block)
            history.append(float(state.value))
            if history[-2] - history[-1] <= self.tolerance * abs(history[-1]):
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
