"""Align the features of two studies of unequal sizes, and say how sure the labels are.

The studies have n and m samples of d and e features. With d < e every feature of the
smaller one gets a label in the larger one, by exchanges of two labels and of one label
for an unused one. Confidence is stability: samples are drawn anew, with replacement, in
both studies, and each feature's label is looked at again. Redrawing adds noise to that
which is there, so that the shares are careful rather than bold.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.optimize import linear_sum_assignment

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.statistics._matrices import finite_matrix
from pushforward.statistics.alignment.search import (
    GromovWasserstein,
    QuasiLikelihood,
    descend,
)

SURE = 0.9  # the share of redraws of what counts as sure, in words
FEWEST = 3  # samples that have a correlation


@dataclass(frozen=True)
class StudyAlignment:
    """Feature i of X is feature `labels[i]` of Y, -1 where Y has fewer features.

    `confidence[i]` is the share of redraws of the samples in which it got that label
    again; `value` is the objective of the labels, `samples` the sizes n and m.
    """

    labels: Int[np.ndarray, "d"]
    confidence: Float[np.ndarray, "d"]
    value: float
    samples: tuple[int, int]
    features: tuple[int, int]
    draws: int

    def sure(self, level: float = SURE) -> Bool[np.ndarray, "d"]:
        """Which labels came again in at least this share of the redraws."""
        return (self.labels >= 0) & (self.confidence >= level)

    def recovered(self, truth: object) -> float:
        """Fraction of features that got their true label; -1 is that of strangers."""
        return float(np.mean(self.labels == np.asarray(truth)))

    def __str__(self) -> str:
        (n, m), (d, e) = self.samples, self.features
        sure = self.sure()
        lines = [
            f"{d} features of {n} samples against {e} features of {m} samples",
            f"{int(sure.sum())} labels came again in at least {SURE:.0%} of "
            f"{self.draws} redraws of the samples",
        ]
        doubtful = np.flatnonzero(~sure & (self.labels >= 0))
        if doubtful.size:
            worst = doubtful[np.argsort(self.confidence[doubtful], kind="stable")]
            shown = ", ".join(f"{i} ({self.confidence[i]:.0%})" for i in worst[:8])
            lines.append(
                f"doubtful features: {shown}{', ...' if worst[8:].size else ''}"
            )
        return "\n".join(lines)


def align_studies(
    X: object,
    Y: object,
    *,
    objective: GromovWasserstein | QuasiLikelihood = GromovWasserstein(),
    starts: int = 100,
    draws: int = 100,
    seed: int = 0,
) -> StudyAlignment:
    """Labels under which the correlations of X (n, d) and Y (m, e) agree.

    Sizes may differ. The quasi-likelihood weighs both studies by their samples, and
    needs as many features in both. `draws` redraws give the confidence, 0 none; the
    search descends from rows that look alike and from so many random `starts`,
    which studies of unequal numbers of features need.

    >>> rng = np.random.default_rng(0)
    >>> mixing = rng.normal(size=(9, 9))
    >>> X, Y = (rng.normal(size=(n, 9)) @ mixing for n in (400, 900))
    >>> found = align_studies(X[:, :7], Y[:, ::-1], draws=20)
    >>> found.labels.tolist(), bool(found.sure().all())
    ([8, 7, 6, 5, 4, 3, 2], True)

    [han2025covariance]
    """
    X, Y = _samples("X", X), _samples("Y", Y)
    (n, d), (m, e) = X.shape, Y.shape
    if d > e:
        other = align_studies(
            Y, X, objective=objective, starts=starts, draws=draws, seed=seed
        )
        return _inverted(other, d)
    if isinstance(objective, QuasiLikelihood):
        if d != e:
            raise InputError(
                f"`objective` must be GromovWasserstein() where studies have {d} and "
                f"{e} features: the likelihood pools matrices of one size."
            )
        objective = replace(objective, share=n / (n + m))
    rng = np.random.default_rng(whole("seed", seed, 0))
    A, B = _correlations(X), _correlations(Y)
    tried = [_profiles(A, B)]
    tried += [rng.permutation(e)[:d] for _ in range(whole("starts", starts, 0))]
    labels = _best(objective, A, B, tried)
    again = np.zeros(d)
    for _ in range(whole("draws", draws, 0)):
        A_new = _correlations(X[rng.integers(0, n, n)])
        B_new = _correlations(Y[rng.integers(0, m, m)])
        tried = [labels, _profiles(A_new, B_new)]
        again += _best(objective, A_new, B_new, tried) == labels
    value = objective.value(A, B[np.ix_(labels, labels)])
    share = again / draws if draws else np.full(d, np.nan)
    return StudyAlignment(labels, share, value, (n, m), (d, e), draws)


def _samples(name: str, value: object) -> Float[np.ndarray, "n d"]:
    X = finite_matrix(name, value, "(n, d), samples first")
    if len(X) < FEWEST or X.shape[1] < 2:
        raise InputError(
            f"`{name}` must have {FEWEST} samples and 2 features at least, got shape "
            f"{X.shape}. Rows are samples."
        )
    if not (np.ptp(X, axis=0) > 0).all():
        column = int(np.argmin(np.ptp(X, axis=0)))
        raise InputError(
            f"`{name}` has a constant column, {column}, which correlates with nothing. "
            "Leave it out."
        )
    return X


def _correlations(X: np.ndarray) -> np.ndarray:
    """Correlation matrix; a column that a redraw made constant correlates with none."""
    X = X - X.mean(axis=0)
    norm = np.linalg.norm(X, axis=0)
    X = X / np.where(norm > 0, norm, 1.0)
    C = X.T @ X
    np.fill_diagonal(C, 1.0)
    return C


def _inverted(found: StudyAlignment, d: int) -> StudyAlignment:
    """The same alignment seen from the study with more features."""
    labels, confidence = np.full(d, -1), np.zeros(d)
    labels[found.labels] = np.arange(len(found.labels))
    confidence[found.labels] = found.confidence
    return replace(
        found,
        labels=labels,
        confidence=confidence,
        samples=found.samples[::-1],
        features=found.features[::-1],
    )


def _profiles(A: np.ndarray, B: np.ndarray) -> Int[np.ndarray, "d"]:
    """Features whose sorted correlations look alike, at as many quantiles of each."""
    d, e = len(A), len(B)
    places = (np.arange(d - 1) + 0.5) / (d - 1)
    rows = [np.sort(M[~np.eye(len(M), dtype=bool)].reshape(len(M), -1)) for M in (A, B)]
    if d < e:
        rows[1] = np.quantile(rows[1], places, axis=1).T
    cost = np.square(rows[0][:, None] - rows[1][None]).sum(axis=2)
    return linear_sum_assignment(cost)[1]


def _best(
    objective: GromovWasserstein | QuasiLikelihood,
    A: np.ndarray,
    B: np.ndarray,
    starts: list[np.ndarray],
) -> Int[np.ndarray, "d"]:
    """The best of descents from the starts."""

    def settled(labels: np.ndarray) -> tuple[float, np.ndarray]:
        if isinstance(objective, GromovWasserstein):
            labels = _descended(A, B, labels)
        else:
            labels = descend(objective, A, B, labels)[0]
        return objective.value(A, B[np.ix_(labels, labels)]), labels

    return min((settled(c) for c in starts), key=lambda pair: pair[0])[1]


def _descended(
    A: np.ndarray, B: np.ndarray, labels: np.ndarray
) -> Int[np.ndarray, "d"]:
    """The best exchange of two labels, or for an unused one, until none helps."""
    labels = labels.copy()
    unused = np.setdiff1d(np.arange(len(B)), labels)
    objective, scale = GromovWasserstein(), 1e-12 * len(A)
    while True:
        table = objective.changes(A, B[np.ix_(labels, labels)])
        np.fill_diagonal(table, 0.0)
        i, j = np.unravel_index(np.argmin(table), table.shape)
        if len(unused):
            fresh = replacements(A, B, labels, unused)
            k, u = np.unravel_index(np.argmin(fresh), fresh.shape)
            if fresh[k, u] < min(table[i, j], -scale):
                labels[k], unused[u] = unused[u], labels[k]
                continue
        if not table[i, j] < -scale:
            return labels
        labels[[i, j]] = labels[[j, i]]


def replacements(
    A: np.ndarray, B: np.ndarray, labels: np.ndarray, unused: np.ndarray
) -> Float[np.ndarray, "d q"]:
    """Change of ||A - B||_F^2 if the label of i were the unused u.

    Twice the change of row i off the diagonal, and that of its diagonal entry.
    """

    def distances(rows: np.ndarray) -> np.ndarray:
        """sum over k != i of (A_ik - rows_uk)^2, twice, for all i and u."""
        whole_ = np.square(A).sum(1)[:, None] + np.square(rows).sum(1)[None, :]
        whole_ = whole_ - 2.0 * A @ rows.T
        return 2.0 * (whole_ - np.square(np.diag(A)[:, None] - rows.T))

    now, then = B[np.ix_(labels, labels)], B[np.ix_(unused, labels)]
    own = (
        np.diag(distances(now))[:, None] + np.square(np.diag(A) - np.diag(now))[:, None]
    )
    ends = np.square(np.diag(A)[:, None] - np.diag(B)[unused][None, :])
    return distances(then) + ends - own
