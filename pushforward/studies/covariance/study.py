"""Parameters of the covariance alignment study, and the experiments it repeats."""

from dataclasses import dataclass

import numpy as np

from pushforward.errors import InputError
from pushforward.statistics.alignment.baselines import (
    ConditionalGradient,
    FastApproximate,
    StartOnly,
    ThenSwaps,
)
from pushforward.statistics.alignment.covariances import (
    AbstractSearch,
    Exhaustive,
    Objective,
    SwapDescent,
    align_covariances,
)
from pushforward.statistics.alignment.search import RowProfiles, Spectral
from pushforward.studies import AbstractParameters
from pushforward.studies.covariance.recovery import (
    alignment_loss,
    covariance_pair,
    factor_covariance,
    predicted_signal,
    sample_pair,
)

NAME = "covariance"
TITLE = "Covariance alignment: how many samples link two studies"
PAPER = "han2025covariance"
NO_RUNS = "No runs: covariance alignment is statistics, no flow of a field."


@dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes and numbers of draws."""

    d: int = 30
    sizes: tuple[int, ...] = (100, 200, 300, 500, 1000)
    trials: int = 5
    shuffles: int = 30
    small_dimensions: tuple[int, ...] = (6, 7)
    signals: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    draws: tuple[int, ...] = (80, 40)
    exact_draws: int = 60
    splits: int = 20
    seed: int = 0

    @classmethod
    def full(cls) -> "Parameters":
        """Many more draws."""
        return cls(
            sizes=(100, 200, 300, 500, 1000, 3000),
            trials=10,
            shuffles=100,
            small_dimensions=(6, 7, 8),
            signals=(0.25, 0.5, 1.0, 2.0, 4.0),
            draws=(120, 60, 24),
        )


def searches(parameters: Parameters) -> dict[str, AbstractSearch]:
    """The searches that the recovery curves compare."""
    return {
        "conditional gradient (POT)": ConditionalGradient(),
        "FAQ + exchanges": ThenSwaps(FastApproximate()),
        "row profiles": StartOnly(),
        "profiles + exchanges": SwapDescent(),
        "spectral starts and shuffles too": thorough(parameters),
    }


def thorough(parameters: Parameters) -> SwapDescent:
    """Exchanges from row profiles and two spectral starts, then shuffles."""
    starts = (RowProfiles(), Spectral(0.2), Spectral(0.5))
    return SwapDescent(starts, shuffles=parameters.shuffles)


def near_identity_losses(
    d: int, signal: float, draws: int, seed: int
) -> tuple[float, float]:
    """Exact-recovery rate and mean loss over the predicted unit, Sigma near I.

    Sigma = I + a GOE matrix of squared norm `signal` times the unit, n = 20,000,
    best permutation by exhaustion.
    """
    n = 20_000
    unit = predicted_signal(d, n)
    losses, exact = [], []
    for draw in range(draws):
        rng = np.random.default_rng([seed, d, int(100 * signal), draw])
        G = rng.normal(size=(d, d))
        G = G + G.T
        sigma = np.eye(d) + G * np.sqrt(signal * unit) / np.linalg.norm(G)
        A, B, truth = covariance_pair(sigma, n, rng)
        found = align_covariances(A, B, search=Exhaustive())
        losses.append(alignment_loss(sigma, found.labels, truth) / unit)
        exact.append(found.recovered(truth) == 1.0)
    return float(np.mean(exact)), float(np.mean(losses))


def factor_losses(objective: Objective, n: int, draws: int, seed: int) -> np.ndarray:
    """Losses and exactness (draws, 2) for d = 7, Sigma = W W^T/7 + I/2, exhaustive."""
    rows = []
    for draw in range(draws):
        rng = np.random.default_rng([seed, n, draw])
        sigma = factor_covariance(7, rng)
        X, Y, truth = sample_pair(sigma, n, rng)
        A, B = X.T @ X / n, Y.T @ Y / n
        found = align_covariances(A, B, objective=objective, search=Exhaustive())
        loss = alignment_loss(sigma, found.labels, truth)
        rows.append([loss, found.recovered(truth) == 1.0])
    return np.array(rows)


def split_table(
    name: str, search: AbstractSearch, splits: int, seed: int
) -> np.ndarray:
    """Fractions recovered when a scikit-learn table is split in two and relabelled."""
    try:
        from sklearn import datasets
    except ImportError:
        raise InputError(
            "The real tables need scikit-learn. Run `pip install scikit-learn`."
        ) from None
    data = getattr(datasets, f"load_{name}")().data
    fractions = []
    for split in range(splits):
        rng = np.random.default_rng([seed, split])
        rows, truth = rng.permutation(len(data)), rng.permutation(data.shape[1])
        half = len(data) // 2
        A = np.corrcoef(data[rows[:half]].T)
        B = np.empty_like(A)
        B[np.ix_(truth, truth)] = np.corrcoef(data[rows[half:]].T)
        found = align_covariances(A, B, search=search, seed=split)
        fractions.append(found.recovered(truth))
    return np.array(fractions)
