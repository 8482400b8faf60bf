"""Stationary control of -y'' + y^3 = 0 from the boundary: two optima may coexist."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_banded
from scipy.optimize import brentq, minimize_scalar

from pushforward._checks import above_zero
from pushforward.control._checks import count, finite
from pushforward.errors import NumericalError


@dataclass(frozen=True)
class CubicBoundary:
    """-y'' + y^3 = 0 on (0, 1), y(0) = y(1) = v, on n interior nodes.

    Cost J(v) = v^2 + (beta/2) int (y - z)^2, z = outer on the outer quarters and
    `middle` on the middle half. Costs are returned minus the constant
    (beta/2) int z^2, which for large targets hides everything else.
    [geshkovski2022turnpike]
    """

    n: int
    beta: float = 1.0
    outer: float = 86.5534
    middle: float = -100.0

    def __post_init__(self):
        count("n", self.n, 3)
        above_zero("beta", self.beta, "It weighs the tracking term.")
        finite("outer", self.outer)
        finite("middle", self.middle)

    @property
    def nodes(self) -> np.ndarray:
        """The n + 2 nodes, ends included."""
        return np.linspace(0.0, 1.0, self.n + 2)

    def state(self, v: float, guess: np.ndarray | None = None) -> np.ndarray:
        """y on all nodes for the boundary value v, by Newton with damping."""
        h = 1.0 / (self.n + 1)
        y = _profile(self.nodes, v)[1:-1] if guess is None else guess[1:-1].copy()
        ends = np.zeros(self.n)
        ends[[0, -1]] = v / h**2
        band = np.full((3, self.n), -1.0 / h**2)
        for _ in range(200):
            curved = 2 * y / h**2 + y**3 - ends
            curved[1:] -= y[:-1] / h**2
            curved[:-1] -= y[1:] / h**2
            band[1] = 2 / h**2 + 3 * y**2
            step = solve_banded((1, 1), band, curved)
            y = y - step
            if np.max(np.abs(step)) < 1e-11 * (1 + abs(v)):
                return np.concatenate([[v], y, [v]])
        raise NumericalError(f"the cubic equation at v = {v} did not converge.", y)

    def cost(self, v: float) -> float:
        """J(v) - (beta/2) int z^2, trapezoid rule split at the jumps of z."""
        x, y = self.nodes, self.state(v)
        whole = np.trapezoid(y * y, x)
        centre = _integral(x, y, 0.25, 0.75)
        rest = np.trapezoid(y, x) - centre
        cross = self.outer * rest + self.middle * centre
        return float(v * v + self.beta * (0.5 * whole - cross))

    def minimum(self, low: float, high: float) -> tuple[float, float]:
        """Boundary value and cost of the best v in [low, high]."""
        best = minimize_scalar(
            self.cost, bounds=(low, high), method="bounded", options={"xatol": 1e-9}
        )
        return float(best.x), float(best.fun)


def tie(
    n: int,
    *,
    beta: float = 1.0,
    middle: float = -100.0,
    bracket: tuple[float, float] = (80.0, 95.0),
) -> tuple[float, float, float, float]:
    """Outer target for which a positive and a negative v cost the same.

    Returns (outer, v_plus, v_minus, cost): at this target the stationary optimum
    is not unique. `bracket` encloses the outer target.
    """

    def gap(outer: float) -> float:
        problem = CubicBoundary(n, beta, outer, middle)
        return problem.minimum(0.5, 60.0)[1] - problem.minimum(-20.0, 0.0)[1]

    outer = float(brentq(gap, bracket[0], bracket[1], xtol=1e-10))
    problem = CubicBoundary(n, beta, outer, middle)
    plus, cost = problem.minimum(0.5, 60.0)
    minus, _ = problem.minimum(-20.0, 0.0)
    return outer, plus, minus, cost


def _profile(x: np.ndarray, v: float) -> np.ndarray:
    """A starting guess: the decaying solution sqrt(2)/(s + s0) from either end."""
    if v == 0:
        return np.zeros_like(x)
    offset = np.sqrt(2) / abs(v)
    distance = np.minimum(x, 1 - x)
    return np.sign(v) * np.sqrt(2) / (distance + offset)


def _integral(x: np.ndarray, y: np.ndarray, low: float, high: float) -> float:
    """Trapezoid integral of the piecewise linear y over [low, high]."""
    inner = (x > low) & (x < high)
    xs = np.concatenate([[low], x[inner], [high]])
    return float(np.trapezoid(np.interp(xs, x, y), xs))
