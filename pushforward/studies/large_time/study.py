"""Parameters and shared runs of the large-time study."""

import dataclasses
import functools
import math

import jax
import numpy as np

from pushforward.control.neural.families import (
    Bottleneck,
    Readout,
    WeightsOutside,
    relu,
)
from pushforward.control.neural.first_order import Adam, AdamThenLBFGS
from pushforward.control.neural.gauss_newton import ILQR
from pushforward.control.neural.losses import L1, L2, SquaredHinge
from pushforward.control.neural.problem import RungeKutta, TrainingProblem
from pushforward.control.neural.proximal import Fista
from pushforward.control.neural.sparse_training import SparseTrained, sparsify
from pushforward.control.neural.targets import chess, circles, lifted, target_problem
from pushforward.control.neural.trained import Trained
from pushforward.control.neural.training import optimize, sweep_horizons
from pushforward.studies import AbstractParameters

TITLE = "Large time: what deep networks do as depth grows"
NAME = "large_time"
PAPER = "esteveyague2020large"
NO_RUNS = "No runs: networks are trained by optimal control, field and all."
START = ((0.3, -0.2), (-0.4, 0.5), (0.6, 0.7))
GOAL = ((1.0, 0.2), (-0.5, 1.0), (0.8, 1.6))
KEY = jax.random.PRNGKey(0)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Layers of the tracking run, and the effort spent on data sets."""

    layers: int = 400
    chess_cell: int = 25
    chess_steps: int = 1500
    chess_fista: int = 400
    circle_steps: int = 1500
    width_steps: int = 250
    digits: int = 400
    digits_steps: int = 60

    @classmethod
    def full(cls) -> "Parameters":
        """Deeper networks, and all the digits."""
        return cls(800, 333, 12000, 400, 3000, 2000, 1257, 200)


@functools.lru_cache(maxsize=2)
def scalar_sweep() -> tuple[Trained, ...]:
    """One particle from 1/2 to e, squared final loss, horizons 1 to 1024."""
    problem = target_problem(
        WeightsOutside(1, relu),
        [[0.5]],
        [[math.e]],
        lam=1.0,
        horizon=1.0,
        layers=40,
        tracking=0.0,
        scheme=RungeKutta(),
    )
    horizons = [4.0**k for k in range(6)]
    return tuple(sweep_horizons(problem, horizons, solver=ILQR(), key=KEY))


@functools.lru_cache(maxsize=2)
def triple_sweep() -> tuple[Trained, ...]:
    """Three particles, tanh, final loss only, horizons 1 to 16384."""
    problem = target_problem(
        WeightsOutside(2),
        START,
        GOAL,
        lam=0.1,
        horizon=1.0,
        layers=40,
        tracking=0.0,
        scheme=RungeKutta(),
    )
    horizons = [4.0**k for k in range(8)]
    return tuple(sweep_horizons(problem, horizons, solver=ILQR(), key=KEY))


@functools.lru_cache(maxsize=8)
def tracked(horizon: float, layers: int) -> Trained:
    """Three particles tracked to fixed targets, lam = 1/2, no final cost."""
    problem = target_problem(
        WeightsOutside(2),
        START,
        GOAL,
        lam=0.5,
        horizon=horizon,
        layers=layers,
        final=0.0,
    )
    return optimize(problem, solver=ILQR(), key=KEY)


def rescaled_norm(run: Trained) -> float:
    """||v||^2 of v(s) = T u(sT)."""
    return float(run.problem.horizon) ** 2 * float(np.mean(run.norms() ** 2))


@functools.lru_cache(maxsize=2)
def circles_run(p: Parameters) -> Trained:
    """Sixty points of the circles: ReLU, squared hinge, tracked."""
    points, labels = circles(0)
    problem = TrainingProblem(
        WeightsOutside(3, relu),
        lifted(points),
        labels,
        loss=SquaredHinge(),
        penalty=L2(0.01),
        horizon=10.0,
        layers=40,
        tracking=1.0,
        final=0.0,
    )
    solver = AdamThenLBFGS(Adam(steps=p.circle_steps))
    return optimize(problem, solver=solver, start=problem.random(KEY), key=KEY)


@functools.lru_cache(maxsize=2)
def chess_run(p: Parameters) -> Trained:
    """3 x 3 chess board, bottleneck of 50 neurons, 16 layers, clipped output."""
    points, labels = chess(0, per_cell=p.chess_cell)
    problem = TrainingProblem(
        Bottleneck(3, 50),
        lifted(points),
        labels,
        readout=Readout([[0.0, 0.0, 1.0]], clip=1.0),
        penalty=L2(0.005),
        horizon=5.0,
        layers=16,
        tracking=1.75,
        final=0.0,
    )
    solver = Adam(1e-2, p.chess_steps, batch=150)
    return optimize(problem, solver=solver, key=KEY)


@functools.lru_cache(maxsize=2)
def chess_sparse(p: Parameters) -> SparseTrained:
    """The same network with the L1 penalty: small layers become exact identities."""
    fista = Fista(steps=p.chess_fista, block=25)
    return sparsify(chess_run(p), L1(0.02, 200.0), fista=fista)


def accuracy(run: Trained, points: np.ndarray, labels: np.ndarray) -> float:
    """Share of points whose output has the sign of the label."""
    return float(np.mean(np.sign(run.outputs(points)[:, 0]) == labels))
