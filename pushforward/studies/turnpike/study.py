"""Parameters and shared problems of the turnpike study."""

import dataclasses
import functools

import numpy as np

from pushforward.control.classical.evolution import Evolution, EvolutionPath, cubic
from pushforward.control.classical.heat import interior_heat, square_heat
from pushforward.control.classical.linear_quadratic import LinearQuadratic
from pushforward.studies import AbstractParameters, statements

TITLE = "Turnpikes: long-horizon control stays near the static optimum"
PAPER = "geshkovski2022turnpike"
NO_RUNS = "No runs: linear-quadratic control, solved by Riccati equations."

within, at_least, at_most, open_claim, paper = statements("turnpike", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes of grids and horizons; the mathematics is the same in both presets."""

    wave_nodes: int = 102
    wave_share: tuple[float, float] = (0.25, 0.75)
    heat_steps: int = 200
    cells: int = 80
    cubic_nodes: int = 799
    square: int = 3

    @classmethod
    def full(cls) -> "Parameters":
        """The sizes of the paper's figures."""
        return cls(250, (0.25, 0.75), 400, 80, 1599, 4)


def example() -> LinearQuadratic:
    """A two-dimensional system: one control, both states tracked."""
    weight = np.sqrt(26.0)
    return LinearQuadratic(
        -np.array([[2.0, -1.0], [-1.0, 2.0]]),
        np.array([[1.0], [0.0]]),
        weight * np.eye(2),
        weight * np.ones(2),
        np.eye(1),
    )


def scalar_example() -> LinearQuadratic:
    """x' = x + u tracking 1: unstable, so that control has work to do."""
    one = np.eye(1)
    return LinearQuadratic(one, one, one, np.ones(1), one)


@functools.lru_cache(maxsize=4)
def semilinear(steps: int) -> tuple[Evolution, EvolutionPath]:
    """y_t = y_xx - y^3 + u 1_(0,1/2), beta = 1000, target 1, from rest, T = 2."""
    problem = interior_heat(49, omega=(0.0, 0.5), beta=1000.0, reaction=cubic())
    return problem, problem.optimize(np.zeros(49), 2.0, steps=steps)


SQUARE_CONTROL = (0.0, 0.5)


@functools.lru_cache(maxsize=2)
def square(refinements: int) -> tuple[Evolution, np.ndarray]:
    """Heat of diffusivity 0.02 on the unit square, controlled on its left half."""
    return square_heat(refinements, omega=SQUARE_CONTROL, beta=10.0, diffusivity=0.02)


@functools.lru_cache(maxsize=4)
def square_path(refinements: int, t1: float) -> EvolutionPath:
    """The optimal path from a tenth of the first mode, ten steps per unit of time."""
    problem, points = square(refinements)
    y0 = 0.1 * np.prod(np.sin(np.pi * points), axis=1)
    return problem.optimize(y0, t1, steps=round(10 * t1))


def square_distance(refinements: int, t1: float) -> tuple[np.ndarray, np.ndarray]:
    """Times, and distances to the static state in L2."""
    problem, _ = square(refinements)
    path = square_path(refinements, t1)
    miss = path.states - problem.static().state
    return path.times, np.sqrt(np.sum(miss * (problem.mass @ miss.T).T, axis=1))


def fitted_rate(times: np.ndarray, distance: np.ndarray, window) -> float:
    """Slope of -log distance against time inside the window."""
    inside = (times > window[0]) & (times < window[1])
    return float(-np.polyfit(times[inside], np.log(distance[inside]), 1)[0])
