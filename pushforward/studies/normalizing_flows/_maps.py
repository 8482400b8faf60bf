"""The maps of the square that flows are asked to approximate."""

import dataclasses

import numpy as np

STEPS = 100  # of Runge-Kutta per unit of time: error below 1e-8


@dataclasses.dataclass(frozen=True)
class Swirl:
    """The flow to time T of the stream function sin^2(pi x) sin^2(pi y) / pi.

    It preserves area and keeps the boundary of the unit square in place.
    """

    time: float

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Images of the rows of x."""
        if self.time == 0:
            return np.array(x, dtype=float)
        steps = max(1, round(abs(self.time) * STEPS))
        h, x = self.time / steps, np.array(x, dtype=float)
        for _ in range(steps):
            k1 = _velocity(x)
            k2 = _velocity(x + h / 2 * k1)
            k3 = _velocity(x + h / 2 * k2)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + _velocity(x + h * k3))
        return x

    def inverse(self, y: np.ndarray) -> np.ndarray:
        """The same flow backward."""
        return Swirl(-self.time)(y)


def _velocity(x: np.ndarray) -> np.ndarray:
    s, c = np.sin(np.pi * x), np.cos(np.pi * x)
    return 2 * np.stack(
        [s[:, 0] ** 2 * s[:, 1] * c[:, 1], -(s[:, 1] ** 2) * s[:, 0] * c[:, 0]], axis=1
    )


@dataclasses.dataclass(frozen=True)
class SwirledBulge:
    """swirl(g(x)), g(x) = (x_1 + 0.1 sin(2 pi x_1) (1 + sin(2 pi x_2) / 2), x_2).

    A diffeomorphism of the unit square whose determinant runs from 0.06 to 1.94.
    """

    time: float = 0.4

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Images of the rows of x."""
        moved = x[:, 0] + _height(x[:, 1]) * np.sin(2 * np.pi * x[:, 0])
        return Swirl(self.time)(np.column_stack([moved, x[:, 1]]))

    def log_density(self, y: np.ndarray) -> np.ndarray:
        """Of the image of the uniform law; minus infinity outside the square."""
        z = Swirl(-self.time)(np.clip(y, 0, 1))
        low, high = np.zeros(len(z)), np.ones(len(z))
        for _ in range(52):  # x_1 by bisection: the map of each line increases
            middle = (low + high) / 2
            under = middle + _height(z[:, 1]) * np.sin(2 * np.pi * middle) < z[:, 0]
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        slope = 1 + 2 * np.pi * _height(z[:, 1]) * np.cos(2 * np.pi * low)
        inside = ((y >= 0) & (y <= 1)).all(axis=1)
        return np.where(inside, -np.log(slope), -np.inf)


def _height(x: np.ndarray) -> np.ndarray:
    return 0.1 * (1 + 0.5 * np.sin(2 * np.pi * x))
