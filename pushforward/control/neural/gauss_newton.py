"""Riccati Gauss-Newton for squared losses: one backward sweep per iteration."""

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from pushforward._checks import not_negative
from pushforward.control._checks import count
from pushforward.control.neural.first_order import Minimized
from pushforward.control.neural.losses import L2, AbstractSquaredLoss
from pushforward.control.neural.problem import Parameters, TrainingProblem
from pushforward.errors import InputError, NumericalError

_STEPS = (1.0, 0.5, 0.25, 0.1, 0.03, 0.01)


class ILQR(eqx.Module):
    """Riccati Gauss-Newton: a linear-quadratic problem per iteration.

    Linearize every layer, run a Riccati recursion backward on the least-squares
    model, roll the feedback forward with a line search; a Levenberg shift on
    Q_uu grows when no step helps. Converges in 10-20 iterations for any number of
    layers when N d is small; cost per iteration O(layers (N d)^2 (d + p)).
    """

    steps: int = eqx.field(static=True, default=150)
    tolerance: float = 1e-9

    def __check_init__(self):
        count("steps", self.steps)
        not_negative("tolerance", self.tolerance)

    def minimize(
        self, problem: TrainingProblem, start: Parameters, key: Array
    ) -> Minimized:
        """Iterate until the L2 gradient falls below the tolerance."""
        require_least_squares(problem)
        begin = time.perf_counter()
        controls, shift, history = start.controls, 0.0, []
        value = float(_objective(problem, controls))
        for iteration in range(self.steps):
            history.append(value)
            trial, best, slope = _iteration(problem, controls, jnp.asarray(shift))
            if float(slope) < self.tolerance * (1.0 + abs(value)):
                break
            best = float(best)
            if np.isfinite(best) and best < value:
                settled = value - best <= 1e-14 * abs(value)
                controls, value, shift = trial, best, shift / 10
                shift = 0.0 if shift < 1e-9 else shift
                if settled and iteration > 3:
                    break
            elif shift > 1e8 or float(slope) < 1e-6 * (1.0 + abs(value)):
                break  # rounding, not curvature, stops the descent
            else:
                shift = max(10 * shift, 1e-6 * float(problem.penalty.lam))  # type: ignore
        history.append(value)
        if not np.isfinite(value):
            raise NumericalError("iLQR started from a state that is not finite.", None)
        seconds = time.perf_counter() - begin
        return Minimized(
            Parameters(controls, None), np.array(history), seconds, len(history)
        )


@eqx.filter_jit
def _objective(problem: TrainingProblem, controls: Array) -> Array:
    return problem.objective(Parameters(controls, None))


@eqx.filter_jit
def _iteration(problem: TrainingProblem, controls: Array, shift: Array):
    """Best rollout of one Riccati sweep, its objective, and the size of the slope."""
    states = problem.flow(controls, problem.inputs)
    gains, moves, slope = _backward(problem, controls, states, shift)

    def roll(step):
        def layer(x, data):
            u, K, k, old = data
            u = u + step * k + K @ (x - old).ravel()
            x = problem.scheme.step(
                lambda s: problem.family.velocity(s, u), x, problem.dt
            )
            return x, u

        data = (controls, gains, moves, states[:-1])
        _, chosen = jax.lax.scan(layer, problem.inputs, data)
        return chosen, problem.objective(Parameters(chosen, None))

    chosen, values = jax.vmap(roll)(jnp.array(_STEPS))
    values = jnp.where(jnp.isfinite(values), values, jnp.inf)
    best = jnp.argmin(values)
    return chosen[best], values[best], slope


def _backward(problem: TrainingProblem, controls, states, shift):
    """Feedback gains, open-loop moves and the largest |dJ/du|/dt."""
    n, d = problem.inputs.shape
    dt, lam = problem.dt, problem.penalty.lam  # type: ignore
    slopes, curvatures = _state_costs(problem, states)

    A, B = linearized(problem, controls, states)

    def layer(carry, data):
        v, V, p = carry
        A, B, u, l_x, l_xx = data
        flat = B.reshape(n * d, -1)
        VA = jnp.einsum("aie,ief->aif", V.reshape(n * d, n, d), A).reshape(n * d, -1)
        AVA = jnp.einsum("iea,ief->iaf", A, VA.reshape(n, d, n * d))
        Q_xx = AVA.reshape(n * d, n * d) + _block_diagonal(l_xx)
        Q_u = 2.0 * lam * dt * u + flat.T @ v
        weight = 2.0 * lam * dt + shift * dt
        Q_uu = flat.T @ (V @ flat) + weight * jnp.eye(flat.shape[1])
        Q_ux = flat.T @ VA
        factor = jax.scipy.linalg.cho_factor(Q_uu)
        k = -jax.scipy.linalg.cho_solve(factor, Q_u)
        K = -jax.scipy.linalg.cho_solve(factor, Q_ux)
        pulled = jnp.einsum("iea,ie->ia", A, v.reshape(n, d)).ravel()
        v = l_x.ravel() + pulled + Q_ux.T @ k
        adjoint = jnp.einsum("iea,ie->ia", A, p.reshape(n, d)).ravel() + l_x.ravel()
        gradient = 2.0 * lam * u + (flat.T @ p) / dt
        V = Q_xx + Q_ux.T @ K
        return (v, 0.5 * (V + V.T), adjoint), (K, k, jnp.max(jnp.abs(gradient)))

    last = slopes[-1].ravel()
    carry = (last, _block_diagonal(curvatures[-1]), last)
    data = (A, B, controls, slopes[:-1], curvatures[:-1])
    _, (gains, moves, gradient) = jax.lax.scan(layer, carry, data, reverse=True)
    return gains, moves, jnp.max(gradient)


def linearized(problem: TrainingProblem, controls: Array, states: Array):
    """Derivatives of every layer in state, (k, n, d, d), and control, (k, n, d, p)."""

    def one_step(x, u):  # a single particle
        f = lambda s: problem.family.velocity(s[None], u)[0]  # noqa: E731
        return problem.scheme.step(f, x, problem.dt)

    jac = jax.vmap(jax.jacfwd(one_step, argnums=(0, 1)), in_axes=(0, None))
    return jax.vmap(jac)(states[:-1], controls)


def _state_costs(problem: TrainingProblem, states):
    """First derivative (k1, n, d) and Gauss-Newton Hessian (k1, n, d, d) of E terms."""

    def residual(x, label):
        return problem.loss.residual(problem.readout(x), label)  # type: ignore

    def both(x, label):
        r, J = residual(x, label), jax.jacfwd(residual)(x, label)
        return 2.0 * J.T @ r, 2.0 * J.T @ J

    per_sample = jax.vmap(both)
    g, H = jax.vmap(lambda x: per_sample(x, problem.labels))(states)
    weight = problem.quadrature()[:, None] * problem.weights[None, :]
    return weight[..., None] * g, weight[..., None, None] * H


def _block_diagonal(blocks: Array) -> Array:
    """(n, d, d) blocks as one (n d, n d) matrix."""
    n, d, _ = blocks.shape
    placed = jnp.einsum("iab,ij->iajb", blocks, jnp.eye(n))
    return placed.reshape(n * d, n * d)


def require_least_squares(problem: TrainingProblem) -> None:
    """Refuse losses and penalties that are not sums of squares of fixed outputs."""
    if not isinstance(problem.loss, AbstractSquaredLoss):
        raise InputError(
            f"Gauss-Newton needs a squared loss, got {type(problem.loss).__name__}: "
            "use Squared(), SquaredHinge(), or the solver AdamThenLBFGS()."
        )
    if not isinstance(problem.penalty, L2) or problem.readout.trained:
        raise InputError(
            "Gauss-Newton solvers need the L2 penalty and a fixed readout; "
            "use AdamThenLBFGS() otherwise."
        )
