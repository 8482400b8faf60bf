"""Parameters and shared runs of the sparsity study."""

import dataclasses
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from pushforward.control.neural.families import WeightsOutside
from pushforward.control.neural.first_order import LBFGS, Adam, AdamThenLBFGS
from pushforward.control.neural.losses import (
    L1,
    L2,
    AbstractLoss,
    Squared,
    SquaredHinge,
)
from pushforward.control.neural.problem import Parameters as Weights
from pushforward.control.neural.problem import TrainingProblem
from pushforward.control.neural.proximal import Fista, Lumped
from pushforward.control.neural.sparse_training import (
    SparseTrained,
    finish_sparse,
    minimize_active,
)
from pushforward.control.neural.targets import circles, lifted
from pushforward.control.neural.trained import Trained
from pushforward.control.neural.training import optimize
from pushforward.studies import AbstractParameters

TITLE = "Sparsity: the L1 penalty switches layers off after a finite depth"
PAPER = "esteveyague2023sparsity"
NO_RUNS = "No runs: controls of one network are found by optimization."
LAM, BOUND = 0.1, 2.0  # of the scalar problem, from 1/2 to e


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Layer length of the scalar problem; size and effort of the circles."""

    dt: float = 0.025
    horizons: tuple[float, ...] = (5.0, 10.0, 20.0)
    samples: int = 24
    pieces: int = 20
    adam: int = 800
    lumped: int = 3000
    fista: int = 4000
    circle_horizons: tuple[float, ...] = (20.0, 40.0)

    @classmethod
    def full(cls) -> "Parameters":
        """Sixty samples and horizons up to 320."""
        return cls(
            0.00625,
            (5.0, 10.0, 20.0),
            60,
            40,
            3000,
            12000,
            8000,
            (20.0, 40.0, 80.0, 160.0, 320.0),
        )


def scalar_problem(
    t1: float, layers: int, loss: AbstractLoss = Squared()
) -> TrainingProblem:
    """x' = w relu(x) + b from 1/2, tracking e."""
    return TrainingProblem(
        WeightsOutside(1, jax.nn.relu),
        [[0.5]],
        [math.e],
        loss=loss,
        penalty=L1(LAM, BOUND),
        horizon=t1,
        layers=layers,
        tracking=1.0,
        final=0.0,
    )


@functools.lru_cache(maxsize=16)
def scalar_run(t1: float, dt: float) -> SparseTrained:
    """FISTA on the scalar problem from a small constant control."""
    problem = scalar_problem(t1, round(t1 / dt))
    start = np.zeros((problem.layers, 2))
    start[: round(0.6 / dt)] = 0.1
    controls, history = minimize_active(problem, start, Fista(steps=3000))
    trained = Trained(problem, Weights(controls, None), history, history[-1:], 0.0)
    return SparseTrained(trained, None)


@functools.lru_cache(maxsize=4)
def circles_warm(p: Parameters) -> Trained:
    """The smooth start: L2 penalty and tracking."""
    points, labels = circles(0, p.samples)
    problem = TrainingProblem(
        WeightsOutside(3, jax.nn.relu),
        lifted(points),
        labels,
        loss=SquaredHinge(),
        penalty=L2(0.01),
        horizon=10.0,
        layers=p.pieces,
        tracking=1.0,
        final=0.0,
    )
    key = jax.random.PRNGKey(0)
    solver = AdamThenLBFGS(Adam(steps=p.adam), LBFGS(steps=p.adam // 3))
    return optimize(problem, solver=solver, start=problem.random(key), key=key)


@functools.lru_cache(maxsize=4)
def circles_runs(p: Parameters) -> tuple[SparseTrained, ...]:
    """Exact-zero networks for each horizon, each from the pieces of the one before."""
    points, labels = circles(0, p.samples)
    warm = circles_warm(p)
    g = np.asarray(warm.parameters.controls * warm.problem.dt)
    found: list[SparseTrained] = []
    for t1 in p.circle_horizons:
        problem = TrainingProblem(
            WeightsOutside(3, jax.nn.relu),
            lifted(points),
            labels,
            loss=SquaredHinge(),
            penalty=L1(0.05, 8.0),
            horizon=t1,
            layers=round(t1 / 0.04),
            tracking=1.0,
            final=0.0,
        )
        run = finish_sparse(
            problem, g, lumped=Lumped(steps=p.lumped), fista=Fista(steps=p.fista)
        )
        g = np.asarray(run.pieces)
        found.append(run)
    return tuple(found)


def largest_move(problem: TrainingProblem, controls: np.ndarray) -> float:
    """Largest velocity of a particle in the given layers: zero for identities."""
    x = problem.inputs
    moves = [
        float(jnp.max(jnp.abs(problem.family.velocity(x, jnp.asarray(u)))))
        for u in controls
    ]
    return max(moves, default=0.0)
