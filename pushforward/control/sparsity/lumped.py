"""The lumped form: unknowns are time integrals of the control over pieces of a path."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward.control._checks import count
from pushforward.control.neural.problem import Parameters, TrainingProblem
from pushforward.control.sparsity.fista import descended, soft_threshold
from pushforward.errors import InputError


def piece_risks(problem: TrainingProblem, g: Float[Array, "k p"]) -> Array:
    """E before the first piece and after each; a piece is the time-one flow of g_k."""
    unit = problem.with_horizon(float(len(g)), len(g))  # pieces of length one
    return unit.risk(Parameters(g, None))


def piece_costs(problem: TrainingProblem, g: Array) -> tuple[Array, Array]:
    """(c_k, E_end): J = sum_k c_k ||g_k||_1 + T E_end.

    c_k = lam + (mean of E on piece k - E_end)/M, since piece k at full speed lasts
    ||g_k||_1/M and delays the end by as much.
    """
    risk = piece_risks(problem, g)
    mean = 0.5 * (risk[1:] + risk[:-1])
    penalty = problem.penalty
    costs = penalty.lam + (mean - risk[-1]) / penalty.bound  # type: ignore
    return costs, risk[-1]


def lumped_objective(problem: TrainingProblem, g: Array) -> Float[Array, ""]:
    """J of the path that spends ||g_k||_1/M on piece k and then rests until T."""
    costs, end = piece_costs(problem, g)
    return costs @ jnp.sum(jnp.abs(g), axis=1) + problem.horizon * end


class _State(NamedTuple):
    now: Array
    before: Array
    momentum: Array
    step: Array
    value: Array


class Lumped(eqx.Module):
    """Forward-backward on the pieces: gradient with frozen norms, prox with c_k.

    A step is accepted when J falls; momentum restarts when it does not. The
    horizon only enters through T E_end, so sweeps in T reuse the pieces.
    """

    steps: int = eqx.field(static=True, default=12000)
    block: int = eqx.field(static=True, default=500)
    tolerance: float = 1e-10

    def __check_init__(self):
        count("steps", self.steps)
        count("block", self.block)

    def minimize(self, problem: TrainingProblem, g: Array) -> tuple[Array, np.ndarray]:
        """Pieces, and the objective after every block of iterations."""
        require_lumpable(problem)
        one = jnp.asarray(1.0)
        value = lumped_objective(problem, g)
        state = _State(g, g, one, 1e-2 * one, value)
        return descended(lambda s: _run(problem, s, self.block), state, self)


@eqx.filter_jit
def _run(problem: TrainingProblem, state: _State, block: int) -> _State:
    # a path longer than M T does not fit in the horizon, and J would be meaningless
    longest = problem.penalty.bound * problem.horizon  # type: ignore

    def smooth(g: Array, norms: Array) -> Array:
        costs, end = piece_costs(problem, g)
        return costs @ norms + problem.horizon * end

    def iteration(state: _State, _):
        following = 0.5 * (1.0 + jnp.sqrt(1.0 + 4.0 * state.momentum**2))
        pull = (state.momentum - 1.0) / following
        y = state.now + pull * (state.now - state.before)
        slope = jax.grad(smooth)(y, jnp.sum(jnp.abs(y), axis=1))
        costs, _ = piece_costs(problem, y)
        shrink = state.step * jnp.maximum(costs, 0.0)
        new = jax.vmap(soft_threshold)(y - state.step * slope, shrink)
        value = lumped_objective(problem, new)
        better = (value <= state.value) & (jnp.sum(jnp.abs(new)) <= longest)
        plain = state.momentum == 1.0
        return _State(
            now=jnp.where(better, new, state.now),
            before=state.now,
            momentum=jnp.where(better, following, 1.0),
            step=jnp.where(
                better, 1.02 * state.step, jnp.where(plain, 0.5, 1.0) * state.step
            ),
            value=jnp.where(better, value, state.value),
        ), None

    return jax.lax.scan(iteration, state, None, length=block)[0]


def spread(
    g: np.ndarray, bound: float, horizon: float, layers: int
) -> Float[np.ndarray, "layers p"]:
    """Pieces as controls on a uniform grid, each at full speed ||u||_1 = bound.

    Layers that straddle two pieces get their time average, so every layer keeps
    int u dt exactly; what lies beyond the horizon is lost.
    """
    ends = np.concatenate([[0.0], np.cumsum(np.abs(g).sum(axis=1) / bound)])
    path = np.concatenate([np.zeros((1, g.shape[1])), np.cumsum(g, axis=0)])
    keep = np.concatenate([[True], np.diff(ends) > 0])
    grid = np.linspace(0.0, horizon, layers + 1)
    total = np.stack(
        [np.interp(grid, ends[keep], path[keep, j]) for j in range(g.shape[1])], axis=1
    )
    return np.diff(total, axis=0) / (horizon / layers)


def require_lumpable(problem: TrainingProblem) -> None:
    """Refuse forms whose speed the l1 norm would see, and final costs."""
    if not problem.family.homogeneous:
        raise InputError(
            f"{type(problem.family).__name__} is not homogeneous in its control, so "
            "pieces cannot be run at another speed. Use Out, or In with ReLU; or train "
            "it with an L2 penalty and call `control.sparsify` on the result."
        )
