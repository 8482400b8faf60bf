"""The verb of this folder: train a neural ODE, from several starts if asked."""

from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from pushforward._checks import prng_key, shown
from pushforward.control._checks import count
from pushforward.control.neural.families import AbstractFamily, Readout
from pushforward.control.neural.first_order import AdamThenLBFGS, Minimized
from pushforward.control.neural.losses import AbstractLoss, AbstractPenalty, Squared
from pushforward.control.neural.problem import (
    AbstractScheme,
    Midpoint,
    Parameters,
    TrainingProblem,
    require_smooth,
)
from pushforward.control.neural.targets import require_reachable
from pushforward.control.neural.trained import Trained
from pushforward.errors import InputError


@runtime_checkable
class Solver(Protocol):
    """Anything with `minimize(problem, start, key)`: LBFGS, ILQR, your own."""

    def minimize(
        self, problem: TrainingProblem, start: Parameters, key: Array
    ) -> Minimized:
        """Return where it stopped."""


def optimize(
    problem: TrainingProblem,
    *,
    solver: Solver = AdamThenLBFGS(),
    start: Parameters | None = None,
    starts: int = 1,
    scale: float = 0.1,
    key: Array,
) -> Trained:
    """Minimize a training problem; keep the best of `starts` random starts.

    `start` gives the first one (a warm start); the others are Gaussian of
    standard deviation `scale`.
    """
    require_smooth(problem)
    prng_key("key", key)
    _require_solver(solver)
    runs: list[Minimized] = []
    for draw in jax.random.split(key, count("starts", starts)):
        first = problem.random(draw, scale) if start is None or runs else start
        if first.controls.shape != (problem.layers, problem.family.size):
            raise InputError(
                f"`start` must have controls of shape "
                f"({problem.layers}, {problem.family.size}), got "
                f"{first.controls.shape}; `Trained.refined` repeats layers."
            )
        runs.append(solver.minimize(problem, first, draw))
    objectives = np.array([run.history[-1] for run in runs])
    best = runs[int(np.argmin(objectives))]
    seconds = sum(run.seconds for run in runs)
    return Trained(problem, best.parameters, best.history, objectives, seconds)


def train(
    family: AbstractFamily,
    data: tuple[object, object],
    *,
    readout: Readout | None = None,
    loss: AbstractLoss = Squared(),
    penalty: AbstractPenalty | None = None,
    horizon: float = 1.0,
    layers: int = 16,
    final: float = 1.0,
    tracking: float = 0.0,
    scheme: AbstractScheme = Midpoint(),
    chunk: int | None = None,
    solver: Solver = AdamThenLBFGS(),
    starts: int = 1,
    key: Array,
) -> Trained:
    """Fit a neural ODE of the given form to (inputs, labels).

    The objective and the meaning of every argument are those of
    `TrainingProblem`; `solver` and `starts` are those of `optimize`.

    >>> import jax, jax.numpy as jnp, numpy as np
    >>> from pushforward.control.neural.families import WeightsOutside
    >>> from pushforward.control.neural.gauss_newton import ILQR
    >>> data = np.array([[0.3, 0.0], [-0.4, 0.0]]), np.array([1.0, -1.0])
    >>> fit = train(WeightsOutside(2), data, tracking=1.0, horizon=4.0, solver=ILQR(),
    ...             key=jax.random.key(0))
    >>> bool(fit.risk()[-1] < 0.01)
    True

    [esteveyague2020large]
    """
    inputs, labels = pair(data)
    problem = TrainingProblem(
        family,
        inputs,
        labels,
        readout=readout,
        loss=loss,
        penalty=penalty,
        horizon=horizon,
        layers=layers,
        final=final,
        tracking=tracking,
        scheme=scheme,
        chunk=chunk,
    )
    require_reachable(problem)
    return optimize(problem, solver=solver, starts=starts, key=key)


def pair(data: object) -> tuple[object, object]:
    """(inputs, labels), or an error that says so."""
    if not isinstance(data, tuple | list) or len(data) != 2:
        raise InputError(
            f"`data` must be a pair (inputs, labels), got {type(data).__name__}; "
            "write train(family, (X, y), ...)."
        )
    return data[0], data[1]


def _require_solver(solver: object) -> None:
    if isinstance(solver, type) or not hasattr(solver, "minimize"):
        named = isinstance(solver, type)
        given = f"the class {solver.__name__}" if named else shown(solver)  # type: ignore
        raise InputError(
            f"`solver` must be an object with `minimize`, such as AdamThenLBFGS() or "
            f"ILQR(), got {given}."
        )


def sweep_horizons(
    problem: TrainingProblem,
    horizons: list[float],
    *,
    solver: Solver = AdamThenLBFGS(),
    start: Parameters | None = None,
    key: Array,
) -> list[Trained]:
    """Train at each horizon in turn, warm-started from the one before.

    A homogeneous form follows the same path at the speed T_old/T_new, so that
    only lam/T changes: this is continuation in the weight of the penalty.
    """
    if not len(horizons):
        raise InputError("`horizons` is empty; pass at least one, as in [1.0, 4.0].")
    found: list[Trained] = []
    for horizon in horizons:
        now = problem.with_horizon(horizon)
        if found:
            old = found[-1]
            speed = old.problem.horizon / now.horizon
            start = old.parameters._replace(controls=speed * old.parameters.controls)
        found.append(optimize(now, solver=solver, start=start, key=key))
    return found


def minimal_norm_interpolator(
    problem: TrainingProblem, *, start: Parameters, steps: int = 500
) -> Trained:
    """argmin int |v|^2 over controls with zero residual at the end (squared losses).

    Fixed points of v <- J^+ (J v - r), J the derivative of the final residual r,
    are the stationary points of the constrained problem.
    """
    controls = start.controls
    history = []
    for _ in range(count("steps", steps)):
        new, miss = _interpolation_step(problem, controls)
        history.append(float(problem.dt * jnp.sum(new**2)))
        moved = float(jnp.max(jnp.abs(new - controls)))
        controls = new
        if moved < 1e-12 and float(miss) < 1e-12:
            break
    norm = np.array(history)
    return Trained(problem, Parameters(controls, None), norm, norm[-1:], 0.0)


@eqx.filter_jit
def _interpolation_step(problem: TrainingProblem, controls: Array):
    def residual(u):
        x = problem.flow(u, problem.inputs)[-1]
        r = jax.vmap(lambda a, y: problem.loss.residual(problem.readout(a), y))  # type: ignore
        return r(x, problem.labels).ravel()

    r = residual(controls)
    J = jax.jacrev(residual)(controls).reshape(len(r), -1)
    new = J.T @ jnp.linalg.solve(J @ J.T, J @ controls.ravel() - r)
    return new.reshape(controls.shape), jnp.max(jnp.abs(r))
