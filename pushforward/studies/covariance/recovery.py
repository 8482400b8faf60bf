"""How many samples an alignment needs: recovery curves and the predicted threshold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import wishart

from pushforward.errors import InputError
from pushforward.statistics import GromovWasserstein
from pushforward.statistics.alignment.covariances import (
    AbstractSearch,
    Objective,
    align_covariances,
)


@dataclass(frozen=True)
class RecoveryCurve:
    """Mean fraction of features recovered, one row per search, one column per n."""

    sizes: Int[np.ndarray, "t"]
    names: tuple[str, ...]
    fractions: Float[np.ndarray, "m t"]
    spreads: Float[np.ndarray, "m t"]

    def of(self, name: str) -> Float[np.ndarray, "t"]:
        """The curve of one search."""
        if name not in self.names:
            raise InputError(f"`name` = {name!r} is not one of {self.names}.")
        return self.fractions[self.names.index(name)]


def factor_covariance(d: int, rng: np.random.Generator) -> Float[np.ndarray, "d d"]:
    """W W^T / d + I/2 with Gaussian W: generic eigenvectors, condition number O(1)."""
    W = rng.normal(size=(d, d))
    return W @ W.T / d + np.eye(d) / 2.0


def sample_pair(
    sigma: Float[np.ndarray, "d d"], n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two studies X, Y (n, d) of one covariance, Y relabelled, and the true labels."""
    root = np.linalg.cholesky(sigma)
    d = len(sigma)
    labels = rng.permutation(d)
    X, Y = (rng.normal(size=(n, d)) @ root.T for _ in range(2))
    shuffled = np.empty_like(Y)
    shuffled[:, labels] = Y
    return X, shuffled, labels


def covariance_pair(
    sigma: Float[np.ndarray, "d d"], n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The covariances X^T X/n, Y^T Y/n of `sample_pair` in law, without the samples.

    Drawn as Wishart matrices, which costs O(d^3) instead of O(n d).
    """
    labels = rng.permutation(len(sigma))
    draws = np.asarray(wishart.rvs(n, sigma, size=2, random_state=rng)) / n
    A, B = draws.reshape(2, *sigma.shape)
    shuffled = np.empty_like(B)
    shuffled[np.ix_(labels, labels)] = B
    return A, shuffled, labels


def alignment_loss(
    sigma: Float[np.ndarray, "d d"], labels: object, truth: object
) -> float:
    """||Sigma - P^T P* Sigma P*^T P||_F^2: zero on every symmetry of Sigma."""
    inverse = np.argsort(np.asarray(truth))
    composed = inverse[np.asarray(labels)]
    return float(np.square(sigma - sigma[np.ix_(composed, composed)]).sum())


def predicted_signal(d: int, n: int) -> float:
    """The squared distance ||Sigma - I||_F^2 where recovery starts, near the identity.

    2 d^{3/2} sqrt(log d) / n, from the threshold of correlated Wigner matrices; a
    heuristic whose size (not exponent) is checked for d <= 8.
    """
    if d < 2 or n < 1:
        raise InputError(f"`d` >= 2 and `n` >= 1 are needed, got {d} and {n}.")
    return 2.0 * d**1.5 * np.sqrt(np.log(d)) / n


def recovery_curve(
    d: int,
    sizes: Sequence[int],
    searches: Mapping[str, AbstractSearch],
    *,
    objective: Objective = GromovWasserstein(),
    trials: int = 10,
    seed: int,
) -> RecoveryCurve:
    """Fraction of features recovered from two correlation matrices, against n.

    Every search sees the same draws: Sigma by `factor_covariance`, n samples a study.
    """
    if d < 2 or min(sizes, default=0) < 2 or trials < 1 or not searches:
        raise InputError(
            f"`d` >= 2, every size >= 2, `trials` >= 1 and one search at least are "
            f"needed, got d = {d}, sizes = {list(sizes)}, trials = {trials}, "
            f"{len(searches)} searches."
        )
    found = np.zeros((len(searches), len(sizes), trials))
    for t, n in enumerate(sizes):
        for trial in range(trials):
            rng = np.random.default_rng([seed, n, trial])
            X, Y, truth = sample_pair(factor_covariance(d, rng), n, rng)
            A, B = np.corrcoef(X.T), np.corrcoef(Y.T)
            for m, search in enumerate(searches.values()):
                result = align_covariances(
                    A, B, objective=objective, search=search, seed=trial
                )
                found[m, t, trial] = result.recovered(truth)
    return RecoveryCurve(
        np.asarray(sizes), tuple(searches), found.mean(-1), found.std(-1)
    )
