"""Align two covariance matrices whose features carry unknown labels."""

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import permutations
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.statistics._matrices import square_matrices
from pushforward.statistics.alignment.search import (
    AsGiven,
    GromovWasserstein,
    QuasiLikelihood,
    RowProfiles,
    Spectral,
    descend,
)

Objective = GromovWasserstein | QuasiLikelihood
Start = RowProfiles | Spectral | AsGiven


@dataclass(frozen=True)
class Alignment:
    """A relabelling: feature i of A is feature `labels[i]` of B.

    `value` is the objective reached; `passes` counts the exchanges that led there
    (0 for searches that do not exchange); `search` and `objective` say how.
    """

    labels: Int[np.ndarray, "d"]
    value: float
    passes: int
    objective: Objective
    search: "AbstractSearch"

    def relabelled(self, B: object) -> Float[np.ndarray, "d d"]:
        """B in the order of A."""
        return np.asarray(B)[np.ix_(self.labels, self.labels)]

    def recovered(self, truth: object) -> float:
        """Fraction of features that got their true label."""
        return float(np.mean(self.labels == np.asarray(truth)))


@runtime_checkable
class AbstractSearch(Protocol):
    """A way to look for the best relabelling of `B` against `A`."""

    def search(
        self,
        objective: Objective,
        A: np.ndarray,
        B: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, int]:
        """Labels found and the number of exchanges made."""


@dataclass(frozen=True)
class SwapDescent:
    """Best-improvement exchanges of two labels, from several starts, then shuffles.

    Each of `shuffles` rounds relabels a fifth of the features at random around the
    best alignment so far, descends again and keeps the better: iterated local search.
    """

    starts: tuple[Start, ...] = field(default=(RowProfiles(),))
    shuffles: int = 0

    def __post_init__(self) -> None:
        if not self.starts or self.shuffles < 0:
            raise InputError(
                f"`starts` must not be empty and `shuffles` >= 0, got {self.starts} "
                f"and {self.shuffles}. Try `starts=(RowProfiles(),), shuffles=30`."
            )

    def search(
        self,
        objective: Objective,
        A: np.ndarray,
        B: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, int]:
        """Labels found and the number of exchanges made."""
        found = [descend(objective, A, B, start.labels(A, B)) for start in self.starts]
        passes = sum(taken for _, taken in found)
        scored = [(_value(objective, A, B, c), c) for c, _ in found]
        value, best = min(scored, key=lambda pair: pair[0])
        for _ in range(self.shuffles):
            trial = best.copy()
            chosen = rng.choice(len(A), size=max(2, len(A) // 5), replace=False)
            trial[chosen] = trial[rng.permutation(chosen)]
            trial, taken = descend(objective, A, B, trial)
            passes += taken
            trial_value = _value(objective, A, B, trial)
            if trial_value < value:
                value, best = trial_value, trial
        return best, passes


@dataclass(frozen=True)
class Exhaustive:
    """Every permutation: the global optimum, for d <= 9 only."""

    def search(
        self,
        objective: Objective,
        A: np.ndarray,
        B: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, int]:
        """Labels found and the number of exchanges made."""
        d = len(A)
        if d > 9:
            raise InputError(
                f"`Exhaustive` would try {d}! permutations. Use `SwapDescent` past 9."
            )
        every = _permutations(d)
        relabelled = B[every[:, :, None], every[:, None, :]]
        if isinstance(objective, GromovWasserstein):
            values = np.square(A - relabelled).sum((1, 2))
        else:
            values = np.linalg.slogdet(objective.pooled(A, relabelled))[1]
        return every[np.argmin(values)], 0


def align_covariances(
    A: object,
    B: object,
    *,
    objective: Objective = GromovWasserstein(),
    search: AbstractSearch = SwapDescent(),
    seed: int = 0,
) -> Alignment:
    """The labels that make the covariances A and B (d, d) of two studies agree.

    min over permutations of ||A - P^T B P||_F^2 (`GromovWasserstein()`) or of
    log det((A + P^T B P)/2) (`QuasiLikelihood()`; `share=n / (n + m)` for unequal
    samples), by exchanges from the row-profile start. For unequal numbers of features
    and a statement of confidence see `align_studies`. Correlation matrices align better
    than covariances when units differ.
    `seed` feeds the shuffles only.

    >>> import numpy as np
    >>> A = np.cov(np.random.default_rng(0).normal(size=(9, 6)) * [1, 2, 3, 4, 5, 6.0],
    ...            rowvar=False)
    >>> truth = np.array([3, 1, 0, 5, 2, 4])
    >>> B = np.empty_like(A); B[np.ix_(truth, truth)] = A
    >>> align_covariances(A, B).recovered(truth)
    1.0

    [han2025covariance]
    """
    A, B = square_matrices(A, B)
    rng = np.random.default_rng(whole("seed", seed, 0))
    labels, passes = search.search(objective, A, B, rng)
    value = _value(objective, A, B, labels)
    return Alignment(labels, value, passes, objective, search)


@lru_cache(maxsize=2)
def _permutations(d: int) -> np.ndarray:
    return np.array(list(permutations(range(d))))


def _value(objective: Objective, A: np.ndarray, B: np.ndarray, c: np.ndarray) -> float:
    return objective.value(A, B[np.ix_(c, c)])
