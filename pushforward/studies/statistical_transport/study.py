"""Parameters and simulations of the statistical transport study."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pushforward.studies import AbstractParameters
from pushforward.transport import (
    DistancePower,
    Gaussian,
    TorusDistance,
    entropic_gaussian_value,
    entropic_plan,
    line_distance,
    optimal_plan,
    sliced_distance,
)

TITLE = "Statistical optimal transport: identities, rates, barycenters"
PAPER = "chewi2024statistical"
NO_RUNS = "No runs: estimation of transport, no flow of a field."
NAME = "statistical_transport"
DIMENSIONS = (1, 2, 3, 5, 8)


@dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sample sizes, and how often each is repeated."""

    sizes: tuple[int, ...] = (50, 100, 200, 400)
    repeats: tuple[int, ...] = (120, 60, 30, 16)
    torus_sizes: tuple[int, ...] = (64, 128, 256, 512)
    torus_repeats: tuple[int, ...] = (200, 120, 60, 24)
    draws: int = 4000
    seed: int = 0

    @classmethod
    def full(cls) -> "Parameters":
        """The sizes of the reference table."""
        return cls(
            sizes=(100, 200, 400, 800, 1600),
            repeats=(400, 200, 100, 40, 16),
            torus_sizes=(64, 128, 256, 512, 1024, 2048),
            torus_repeats=(800, 400, 200, 100, 50, 12),
            draws=40_000,
        )


@lru_cache(maxsize=16)
def mean_distances(parameters: Parameters, d: int) -> np.ndarray:
    """E W_1 between two uniform samples of the unit cube, for each size."""
    rng = np.random.default_rng([parameters.seed, d])
    more = 20 if d == 1 else 4 if d == 2 else 1  # low dimensions vary most
    means = []
    for n, repeats in zip(parameters.sizes, parameters.repeats, strict=True):
        draws = [_w1(*rng.uniform(size=(2, n, d))) for _ in range(more * repeats)]
        means.append(np.mean(draws))
    return np.array(means)


def _w1(x: np.ndarray, y: np.ndarray) -> float:
    if x.shape[1] == 1:
        return line_distance(x, y, p=1)
    return optimal_plan(x, y, cost=DistancePower(1.0)).cost


@lru_cache(maxsize=4)
def torus_means(parameters: Parameters) -> tuple[np.ndarray, np.ndarray]:
    """n E W_2^2 between two uniform samples of the flat torus, and standard errors."""
    rng = np.random.default_rng([parameters.seed, 99])
    means, errors = [], []
    sizes = zip(parameters.torus_sizes, parameters.torus_repeats, strict=True)
    for n, repeats in sizes:
        draws = n * np.array(
            [
                optimal_plan(*rng.uniform(size=(2, n, 2)), cost=TorusDistance()).cost
                for _ in range(repeats)
            ]
        )
        means.append(draws.mean())
        errors.append(draws.std(ddof=1) / np.sqrt(repeats))
    return np.array(means), np.array(errors)


@lru_cache(maxsize=4)
def entropic_errors(parameters: Parameters) -> np.ndarray:
    """Root mean squared error of the entropic value in dimension 5, eps = 5."""
    d, eps = 5, 5.0
    mu, nu = Gaussian(np.zeros(d), np.eye(d)), Gaussian(np.ones(d), np.eye(d))
    truth = entropic_gaussian_value(mu, nu, eps)
    rng = np.random.default_rng([parameters.seed, 5])
    errors = []
    for n in parameters.sizes:
        draws = [
            entropic_plan(x, y + 1, eps, tol=1e-6).value - truth
            for x, y in rng.standard_normal((100, 2, n, d))
        ]
        errors.append(np.sqrt(np.mean(np.square(draws))))
    return np.array(errors)


@lru_cache(maxsize=4)
def sliced_means(parameters: Parameters) -> np.ndarray:
    """E SW_1 between two samples of N(0, I_8), for each size."""
    rng = np.random.default_rng([parameters.seed, 8])
    return np.array(
        [
            np.mean(
                [
                    sliced_distance(x, y, p=1, projections=50, seed=k).power
                    for k, (x, y) in enumerate(rng.standard_normal((24, 2, n, 8)))
                ]
            )
            for n in parameters.sizes
        ]
    )


def slope(sizes: tuple[int, ...], values: np.ndarray) -> float:
    """Least-squares slope of log values against log sizes."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def covariances(count: int = 5, d: int = 4, seed: int = 0) -> list[Gaussian]:
    """Centered Gaussians of random covariance, bounded away from singular."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((count, d, d))
    return [Gaussian(np.zeros(d), f @ f.T + 0.1 * np.eye(d)) for f in factors]
