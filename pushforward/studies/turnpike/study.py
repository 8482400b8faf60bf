"""Parameters and shared problems of the turnpike study."""

import dataclasses
import functools

import numpy as np

from pushforward.control.linear_quadratic import LinearQuadratic
from pushforward.control.pde.evolution import Evolution, EvolutionPath, cubic
from pushforward.control.pde.heat import interior_heat

TITLE = "Turnpikes: long-horizon control stays near the static optimum"
PAPER = "geshkovski2022turnpike"


@dataclasses.dataclass(frozen=True)
class Parameters:
    """Sizes of grids and horizons; the mathematics is the same in both presets."""

    wave_nodes: int
    wave_share: tuple[float, float]
    heat_steps: int
    cells: int
    cubic_nodes: int

    @classmethod
    def quick(cls) -> "Parameters":
        """Seconds per claim."""
        return cls(102, (0.25, 0.75), 200, 80, 799)

    @classmethod
    def full(cls) -> "Parameters":
        """The sizes of the paper's figures."""
        return cls(250, (0.25, 0.75), 400, 80, 1599)


def example() -> LinearQuadratic:
    """The two-dimensional system of the notes: one control, both states tracked."""
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


def fitted_rate(times: np.ndarray, distance: np.ndarray, window) -> float:
    """Slope of -log distance against time inside the window."""
    inside = (times > window[0]) & (times < window[1])
    return float(-np.polyfit(times[inside], np.log(distance[inside]), 1)[0])
