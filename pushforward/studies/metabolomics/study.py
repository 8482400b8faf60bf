"""Parameters of the metabolomics study and its simulated experiments."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pushforward.statistics.matching.matching import Matching, match
from pushforward.studies import AbstractParameters
from pushforward.studies.metabolomics.paired_tables import (
    HIGH,
    LOW,
    MEDIUM,
    Noise,
    PairedTables,
    simulate_cohort,
    split_cohort,
)

NAME = "metabolomics"
TITLE = "GromovMatcher: matching untargeted LC-MS tables by optimal transport"
PAPER = "breeur2024gromovmatcher"
NO_RUNS = "No runs: matching of two tables is statistics, no flow of a field."


@dataclass(frozen=True)
class Setting:
    """One cell of the validation: overlap, noise, and what another program gives.

    `matcher`, `thresholded` and `ablation` are (precision, recall) of an
    independent program on tables from another generator of the same description.
    """

    name: str
    overlap: float
    noise: Noise
    matcher: tuple[float, float]
    thresholded: tuple[float, float]
    ablation: tuple[float, float]


SETTINGS = (
    Setting("25 %, medium", 0.25, MEDIUM, (0.925, 0.99), (0.935, 0.99), (0.84, 0.90)),
    Setting("50 %, medium", 0.50, MEDIUM, (0.98, 1.00), (0.99, 1.00), (0.935, 0.905)),
    Setting("75 %, medium", 0.75, MEDIUM, (1.00, 1.00), (1.00, 1.00), (0.95, 0.89)),
    Setting("50 %, low", 0.50, LOW, (0.99, 1.00), (0.99, 1.00), (0.955, 0.94)),
    Setting("50 %, high", 0.50, HIGH, (0.965, 0.99), (0.97, 0.985), (0.89, 0.845)),
)


@dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Size of the cohort and number of simulated pairs per setting."""

    features: int = 4712
    samples: int = 499
    pairs: int = 1
    seed: int = 0

    @classmethod
    def full(cls) -> "Parameters":
        """Paper size, five pairs per setting."""
        return cls(pairs=5)


@lru_cache(maxsize=1)
def simulated(parameters: Parameters, setting: Setting, pair: int) -> PairedTables:
    """One simulated pair of tables; every pair has its own cohort."""
    cohort = simulate_cohort(
        parameters.features, parameters.samples, seed=parameters.seed + 1 + pair
    )
    seed = 1000 + parameters.seed + pair
    return split_cohort(cohort, setting.overlap, setting.noise, seed=seed)


@lru_cache(maxsize=32)
def accuracies(
    parameters: Parameters, setting: Setting
) -> tuple[tuple[float, ...], ...]:
    """Mean (precision, recall) with transport, thresholded at .3, and without."""
    rows = []
    for pair in range(parameters.pairs):
        tables = simulated(parameters, setting, pair)
        found = match(tables.A, tables.B)
        strict = found.thresholded(0.3)
        without = found.ablation
        assert without is not None
        measured = [m.accuracy(tables.truth) for m in (found, strict, without)]
        rows.append([[a.precision, a.recall] for a in measured])
    return tuple(tuple(map(float, row)) for row in np.mean(rows, axis=0))


def example(parameters: Parameters) -> tuple[Matching, np.ndarray]:
    """A pair small enough to look at: a third of the features, high noise."""
    cohort = simulate_cohort(
        parameters.features // 3, parameters.samples, seed=parameters.seed
    )
    tables = split_cohort(cohort, 0.5, HIGH, seed=parameters.seed)
    return match(tables.A, tables.B), tables.truth
