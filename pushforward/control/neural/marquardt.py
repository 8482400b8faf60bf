"""Dense Levenberg-Marquardt in control space, for squared losses."""

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from pushforward._checks import above_zero, listed, not_negative
from pushforward.control._checks import count
from pushforward.control.neural.first_order import Minimized
from pushforward.control.neural.gauss_newton import linearized, require_least_squares
from pushforward.control.neural.problem import Parameters, TrainingProblem
from pushforward.errors import InputError, NumericalError


class LevenbergMarquardt(eqx.Module):
    """(J'J + shift) step = -J'r with a shift that follows the quality of the model.

    The first shift is in units of the penalty's own curvature. It falls by
    1 - (2q - 1)^3, at most to a third, after a step that keeps the share q > 0 of
    the decrease the model promised, and grows twofold, fourfold, ... after steps
    that do not help. Where a descent ends depends on its first shift, and no shift is
    best everywhere: one descent from each of `shifts`, and the lowest end is kept.
    Fine on small smooth problems (layers times p up to ~1500), poor on hinges.
    """

    steps: int = eqx.field(static=True, default=150)
    tolerance: float = 1e-10
    shifts: tuple[float, ...] = (0.01, 1.0, 1000.0)

    def __check_init__(self):
        count("steps", self.steps)
        not_negative("tolerance", self.tolerance)
        for shift in listed("shifts", self.shifts, "positive numbers"):
            above_zero("shifts", shift, "Each is the first shift of one descent.")
        if not self.shifts:
            raise InputError("`shifts` must have at least one number, got none.")

    def minimize(
        self, problem: TrainingProblem, start: Parameters, key: Array
    ) -> Minimized:
        """Each descent runs until gradient or steps are small, or to the limit."""
        require_least_squares(problem)
        begin = time.perf_counter()
        ends = [self._descend(problem, start.controls, shift) for shift in self.shifts]
        controls, history = min(ends, key=lambda end: end[1][-1])
        steps = sum(len(history) for _, history in ends)
        seconds = time.perf_counter() - begin
        return Minimized(Parameters(controls, None), np.array(history), seconds, steps)

    def _descend(
        self, problem: TrainingProblem, controls: Array, shift: float
    ) -> tuple[Array, list[float]]:
        """The last controls and the objective after every step that helped."""
        growth = 2.0
        value, slope, model = _model(problem, controls)
        history = [float(value)]
        for _ in range(self.steps):
            if float(jnp.max(jnp.abs(slope)) / problem.dt) < self.tolerance:
                break
            extra = jnp.asarray(shift)  # an array: a number would recompile
            trial, new, promised = _attempt(problem, controls, slope, model, extra)
            gain = (history[-1] - float(new)) / float(promised)
            if np.isfinite(gain) and gain > 0:
                controls, growth = trial, 2.0
                shift *= max(1 / 3, 1 - (2 * min(gain, 1.0) - 1) ** 3)
                value, slope, model = _model(problem, controls)
                settled = history[-1] - float(value) < 1e-14 * history[-1]
                history.append(float(value))
                if settled:
                    break
            elif shift > 1e12:
                break  # rounding, not curvature, stops the descent
            else:
                shift, growth = shift * growth, 2 * growth
        if not np.isfinite(history[-1]):
            raise NumericalError(
                "Levenberg-Marquardt started from a state that is not finite. Lower "
                "the scale of the start or the horizon.",
                None,
            )
        return controls, history


@eqx.filter_jit
def _model(problem: TrainingProblem, controls: Array):
    """Objective, gradient and Gauss-Newton Hessian at the given controls."""
    states = problem.flow(controls, problem.inputs)

    def residual(x, label):
        return problem.loss.residual(problem.readout(x), label)  # type: ignore

    def every(f):
        return jax.vmap(lambda x: jax.vmap(f)(x, problem.labels))(states)

    root = jnp.sqrt(problem.quadrature()[:, None] * problem.weights[None, :])
    r = root[..., None] * every(residual)
    slopes = root[..., None, None] * every(jax.jacfwd(residual))
    J = jnp.einsum("knma,knaq->knmq", slopes, _sensitivities(problem, controls, states))
    r, J = r.ravel(), J.reshape(r.size, -1)
    weight = problem.penalty.lam * problem.dt  # type: ignore
    value = r @ r + weight * jnp.sum(controls**2)
    slope = 2.0 * (r @ J + weight * controls.ravel())
    model = 2.0 * (J.T @ J + weight * jnp.eye(controls.size))
    return value, slope, model


def _sensitivities(problem: TrainingProblem, controls: Array, states: Array) -> Array:
    """Derivatives of all states in all controls, (k + 1, n, d, k p), layer by layer."""
    n, d = problem.inputs.shape
    layers, p = controls.shape
    A, B = linearized(problem, controls, states)

    def layer(S, data):
        k, A, B = data
        S = jnp.einsum("nab,nbq->naq", A, S)
        S = jax.lax.dynamic_update_slice(S, B, (0, 0, k * p))
        return S, S

    rest = jnp.zeros((n, d, layers * p))
    _, S = jax.lax.scan(layer, rest, (jnp.arange(layers), A, B))
    return jnp.concatenate([rest[None], S])


@eqx.filter_jit
def _attempt(problem, controls, slope, model, shift):
    """Trial controls, their objective, and the decrease that the model promises."""
    extra = 2.0 * problem.penalty.lam * problem.dt * shift
    shifted = model + extra * jnp.eye(len(slope))
    step = -jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(shifted), slope)
    promised = -(slope @ step + 0.5 * step @ (model @ step))
    trial = controls + step.reshape(controls.shape)
    return trial, problem.objective(Parameters(trial, None)), promised
