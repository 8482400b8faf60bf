"""The L1 penalty: proximal gradient on layers, the lumped form on pieces of time."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import Number
from pushforward.control._checks import count
from pushforward.control.neural.problem import Parameters, TrainingProblem
from pushforward.errors import InputError


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


class _Pieces(NamedTuple):
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
        state = _Pieces(g, g, one, 1e-2 * one, value)
        return descended(lambda s: _pieces_after(problem, s, self.block), state, self)


@eqx.filter_jit
def _pieces_after(problem: TrainingProblem, state: _Pieces, block: int) -> _Pieces:
    # a path longer than M T does not fit in the horizon, and J would be meaningless
    longest = problem.penalty.bound * problem.horizon  # type: ignore

    def smooth(g: Array, norms: Array) -> Array:
        costs, end = piece_costs(problem, g)
        return costs @ norms + problem.horizon * end

    def iteration(state: _Pieces, _):
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
        return _Pieces(
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
