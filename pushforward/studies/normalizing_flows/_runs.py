"""What claims and figures share: flows, each made once, and the maps they follow."""

import dataclasses
import functools
from typing import NamedTuple

import jax
import numpy as np

import pushforward as pf
from pushforward.control import normalizing
from pushforward.control.normalizing import NormalizingFlow
from pushforward.control.normalizing.rearrangements import Distance
from pushforward.studies.normalizing_flows.study import Parameters

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


DIMENSIONS = (2, 10, 50)
SWITCHES = (64, 256, 1024, 4096)
NEURONS = 40
PUBLISHED = {  # (m, refinement) -> pieces and L^2 error of an earlier prototype
    (6, 4): (9719, 0.0332),
    (8, 4): (17207, 0.0239),
    (12, 4): (39068, 0.0170),
    (8, 8): (66377, 0.0140),
}
HELD_OUT = 3  # every third patient


def uniform_points(p: Parameters) -> np.ndarray:
    """Random points of the square: a grid would meet the faces of cells."""
    return np.random.default_rng(p.seed).uniform(size=(p.points, 2))


@functools.cache
def swirled(m: int) -> NormalizingFlow:
    """The swirl to time 0.8 on m x m cells."""
    return normalizing.volume_preserving(Swirl(0.8), m)


@functools.cache
def swirl_errors(p: Parameters) -> list[Distance]:
    """Errors of the swirl, grid by grid."""
    x = uniform_points(p)
    return [normalizing.distance_to_map(swirled(m), Swirl(0.8), x) for m in p.grids]


@functools.cache
def bulge(m: int, refinement: int) -> NormalizingFlow:
    """The general diffeomorphism on a grid."""
    return normalizing.diffeomorphism(SwirledBulge(), m, refinement)


@functools.cache
def bulge_errors(p: Parameters) -> list[Distance]:
    """Errors of the general diffeomorphism, case by case."""
    x, phi = uniform_points(p), SwirledBulge()
    return [
        normalizing.distance_to_map(bulge(*case), phi, x, log_density=phi.log_density)
        for case in p.cases
    ]


class Wide(NamedTuple):
    """A sum of neurons, points, and where the exact flow carries them."""

    field: pf.Perceptron
    points: np.ndarray
    images: np.ndarray


@functools.cache
def wide(d: int) -> Wide:
    """Forty random neurons on R^d, flowed to time one."""
    rng = np.random.default_rng(d)
    A = rng.standard_normal((NEURONS, d))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    W = rng.standard_normal((d, NEURONS)) / np.sqrt(d * NEURONS)
    b, x = 0.5 * rng.standard_normal(NEURONS), rng.standard_normal((200, d))
    y, h = x.copy(), 1 / 400
    velocity = lambda z: np.maximum(z @ A.T + b, 0) @ W.T  # noqa: E731
    for _ in range(400):
        k1 = velocity(y)
        k2 = velocity(y + h / 2 * k1)
        k3 = velocity(y + h / 2 * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + velocity(y + h * k3))
    return Wide(pf.Perceptron(W, A, b), x, y)


@functools.cache
def maurey_errors(d: int, repetitions: int) -> np.ndarray:
    """Root mean square errors for every number of switches."""
    field, x, y = wide(d)
    errors = []
    for n in SWITCHES:
        squares = []
        for r in range(repetitions):
            key = jax.random.key(1000 * d + r)
            flow = normalizing.maurey(field, 1.0, n, key=key)
            squares.append(((np.asarray(flow.forward(x)) - y) ** 2).sum(1).mean())
        errors.append(np.sqrt(np.mean(squares)))
    return np.array(errors)


def turn_error(d: int, rounds: int) -> float:
    """The same flow by all neurons in turn."""
    field, x, y = wide(d)
    z = np.asarray(normalizing.in_turn(field, 1.0, rounds).forward(x))
    return float(np.sqrt(((z - y) ** 2).sum(1).mean()))


class Patients(NamedTuple):
    """Rows (body mass, log triglycerides, progression of diabetes), split in two."""

    learn: np.ndarray
    test: np.ndarray


@functools.cache
def patients() -> Patients:
    """442 patients, from the data that scikit-learn carries with it."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes(scaled=False)
    names = list(data.feature_names)
    columns = [names.index("bmi"), names.index("s5")]
    x = np.column_stack([data.data[:, columns], data.target])
    test = np.arange(len(x)) % HELD_OUT == 0
    return Patients(x[~test], x[test])


@functools.cache
def conditional_flow(seed: int) -> NormalizingFlow:
    """Progression given body mass and triglycerides, learned from two thirds."""
    key = pf.key_for(seed, "patients")
    return normalizing.knothe_rosenblatt(patients().learn, key=key, given=2)


@functools.cache
def density_errors(p: Parameters) -> list[Distance]:
    """Errors when the grid and its refinement grow together."""
    x, phi = uniform_points(p), SwirledBulge()
    return [
        normalizing.distance_to_map(bulge(*case), phi, x, log_density=phi.log_density)
        for case in ((4, 3), (6, 4), (8, 6))
    ]
