"""Parameters and data of the mixture study."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from pushforward.statistics.galaxies import galaxy_velocities
from pushforward.statistics.mixtures import (
    Births,
    ColumnGeneration,
    MixtureFit,
    ParticleDescent,
    RandomSubset,
    em,
    fisher_rao,
    npmle,
    wasserstein,
    wfr,
)
from pushforward.studies import AbstractParameters

TITLE = "Gaussian mixtures by Wasserstein-Fisher-Rao descent"
PAPER = "yan2024npmle"
NO_RUNS = "No runs: maximum likelihood by descent over mixtures, no flow of tokens."
NAME = "mixtures"
NAMES = ("WFR", "EM", "FR only", "W only")


@dataclass(frozen=True)
class Parameters(AbstractParameters):
    """How long the descents run, and how many particles the stalled one has."""

    galaxy_iterations: int = 1000
    plane_iterations: int = 40
    subset: int = 200
    rounds: int = 12
    seed: int = 0

    @classmethod
    def full(cls) -> "Parameters":
        """The reference runs at their own length."""
        return cls(galaxy_iterations=5000, plane_iterations=1000, subset=500, rounds=20)


def galaxies() -> Float[np.ndarray, "82 1"]:
    """Velocities in thousands of km/s, for a kernel of unit width."""
    return galaxy_velocities()[:, None] / 1000


def plane() -> Float[np.ndarray, "1500 2"]:
    """Reference run A: 1500 points around a hexagon of radius 3 and its center."""
    rng = np.random.default_rng(2023)
    angle = 2 * np.pi * np.arange(6) / 6
    corners = 3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    centers = np.concatenate([corners, np.zeros((1, 2))])
    return centers[rng.integers(0, 7, 1500)] + rng.standard_normal((1500, 2))


def methods(iterations: int) -> dict[str, ParticleDescent]:
    """The four descents from one particle per datum, with unit steps."""
    made = (wfr(iterations), em(iterations), fisher_rao(iterations))
    return dict(zip(NAMES, (*made, wasserstein(iterations)), strict=True))


@lru_cache(maxsize=2)
def optimum(name: str) -> MixtureFit:
    """The certified NPMLE of "galaxies" or "plane"."""
    data = galaxies() if name == "galaxies" else plane()
    return npmle(data, method=ColumnGeneration())


@lru_cache(maxsize=8)
def galaxy_fit(method: str, iterations: int) -> MixtureFit:
    """A descent on the galaxies, by name."""
    return npmle(galaxies(), method=methods(iterations)[method])


@lru_cache(maxsize=4)
def subset_fit(parameters: Parameters, births: bool) -> MixtureFit:
    """WFR in the plane from a random subset of the data, with or without births."""
    method = wfr(
        50 * parameters.rounds,
        start=RandomSubset(parameters.subset, seed=parameters.seed),
        births=Births() if births else None,
    )
    return npmle(plane(), method=method)
