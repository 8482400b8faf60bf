"""Adam and L-BFGS for training problems, apart and one after the other."""

import time
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array
from scipy.optimize import minimize

from pushforward._checks import above_zero, not_negative
from pushforward.control._checks import count
from pushforward.control.neural.problem import Parameters, TrainingProblem
from pushforward.errors import InputError, NumericalError


class Minimized(NamedTuple):
    """Where an optimizer stopped: parameters, objective per iteration, seconds."""

    parameters: Parameters
    history: np.ndarray
    seconds: float
    evaluations: int


@eqx.filter_jit
def _value_and_grad(problem: TrainingProblem, parameters: Parameters):
    return jax.value_and_grad(problem.objective)(parameters)


@eqx.filter_jit
def _adam(problem, parameters, key, rate, steps: int, batch: int | None):
    import optax

    schedule = optax.cosine_decay_schedule(1.0, steps)
    method = optax.scale_by_adam()

    def step(carry, t):
        now, state, key = carry
        key, draw = jax.random.split(key)
        part = problem
        if batch is not None:
            n = len(problem.inputs)
            part = problem.sampled(jax.random.randint(draw, (batch,), 0, n))
        value, slope = jax.value_and_grad(part.objective)(now)
        with jax.numpy_dtype_promotion("standard"):  # optax mixes integers and floats
            move, state = method.update(slope, state)
            scale = -rate * schedule(t)
        now = jax.tree.map(lambda a, m: a + scale * m, now, move)
        return (now, state, key), value

    carry = (parameters, method.init(parameters), key)
    (last, _, _), values = jax.lax.scan(step, carry, jnp.arange(steps))
    return last, values


class Adam(eqx.Module):
    """Adam with a cosine schedule from `rate` to zero; `batch` draws minibatches.

    Alone it never converges tightly on ReLU and hinge problems; it is the warm
    start of `AdamThenLBFGS`. Needs optax.
    """

    rate: float = 2e-2
    steps: int = eqx.field(static=True, default=3000)
    batch: int | None = eqx.field(static=True, default=None)

    def __check_init__(self):
        above_zero("rate", self.rate, "It is the first learning rate.")
        count("steps", self.steps)
        if self.batch is not None:
            count("batch", self.batch)

    def minimize(
        self, problem: TrainingProblem, start: Parameters, key: Array
    ) -> Minimized:
        """Run all steps; the last iterate is returned."""
        _require_optax()
        begin = time.perf_counter()
        batch = self.batch
        if batch is not None and batch >= len(problem.inputs):
            batch = None
        rate = jnp.asarray(self.rate)
        last, values = _adam(problem, start, key, rate, self.steps, batch)
        history = np.asarray(values)
        if not np.isfinite(history[-1]):
            raise NumericalError(
                "Adam diverged: the objective is not finite. Lower `rate` or the "
                "horizon.",
                history,
            )
        return Minimized(last, history, time.perf_counter() - begin, self.steps)


class LBFGS(eqx.Module):
    """Limited-memory BFGS (scipy), `memory` pairs, at most `steps` iterations."""

    steps: int = eqx.field(static=True, default=1000)
    memory: int = eqx.field(static=True, default=30)
    tolerance: float = 1e-10

    def __check_init__(self):
        count("steps", self.steps)
        count("memory", self.memory)
        not_negative("tolerance", self.tolerance)

    def minimize(
        self, problem: TrainingProblem, start: Parameters, key: Array
    ) -> Minimized:
        """Run to the gradient tolerance or the iteration limit."""
        begin = time.perf_counter()
        flat, unravel = ravel_pytree(start)
        history: list[float] = []
        run = minimize(
            _scipy_function(problem, unravel),
            np.asarray(flat),
            jac=True,
            method="L-BFGS-B",
            callback=lambda intermediate_result: history.append(
                float(intermediate_result.fun)
            ),
            options={
                "maxcor": self.memory,
                "maxiter": self.steps,
                "maxfun": 3 * self.steps,
                "gtol": self.tolerance,
                "ftol": 0.0,
            },
        )
        if not np.isfinite(run.fun):
            raise NumericalError("L-BFGS diverged: the objective is not finite.", run.x)
        last = unravel(jnp.asarray(run.x))
        seconds = time.perf_counter() - begin
        return Minimized(last, np.array([*history, run.fun]), seconds, int(run.nfev))


class AdamThenLBFGS(eqx.Module):
    """Adam finds the basin, L-BFGS its bottom: the most reliable pair on data."""

    warm: Adam = Adam()
    polish: LBFGS = LBFGS()

    def minimize(
        self, problem: TrainingProblem, start: Parameters, key: Array
    ) -> Minimized:
        """Both, in turn; histories are joined."""
        first = self.warm.minimize(problem, start, key)
        second = self.polish.minimize(problem, first.parameters, key)
        return Minimized(
            second.parameters,
            np.concatenate([first.history, second.history]),
            first.seconds + second.seconds,
            first.evaluations + second.evaluations,
        )


def _scipy_function(problem: TrainingProblem, unravel: Callable) -> Callable:
    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = _value_and_grad(problem, unravel(jnp.asarray(x)))
        return float(value), np.asarray(ravel_pytree(slope)[0], dtype=np.float64)

    return function


def _require_optax() -> None:
    try:
        import optax  # noqa: F401
    except ImportError as error:
        raise InputError(
            'Adam needs optax: pip install "pushforward[control]".'
        ) from error
