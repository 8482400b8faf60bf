"""Alignment of studies of unequal sizes, its search, and how sure it says it is."""

from itertools import permutations

import numpy as np
import pytest

from pushforward.errors import InputError
from pushforward.statistics import QuasiLikelihood, align_studies
from pushforward.statistics.alignment.study_alignment import _descended, replacements
from pushforward.studies.covariance.recovery import factor_covariance


def studies(n, m, d, D, seed):
    """n samples of d features, m of all D, relabelled; the true labels."""
    rng = np.random.default_rng([seed, n])
    root = np.linalg.cholesky(factor_covariance(D, rng))
    X, Y = (rng.normal(size=(k, D)) @ root.T for k in (n, m))
    labels = rng.permutation(D)
    shuffled = np.empty_like(Y)
    shuffled[:, labels] = Y
    return X[:, :d], shuffled, labels[:d]


def value(A, B, labels):
    return float(np.square(A - B[np.ix_(labels, labels)]).sum())


def test_changes_by_unused_labels_equal_recomputation():
    X, Y, _ = studies(40, 60, 4, 7, 0)
    A, B = np.cov(X.T), np.cov(Y.T)
    labels, unused = np.array([5, 0, 3, 2]), np.array([1, 4, 6])
    table = replacements(A, B, labels, unused)
    for i in range(4):
        for k, u in enumerate(unused):
            other = labels.copy()
            other[i] = u
            change = value(A, B, other) - value(A, B, labels)
            assert table[i, k] == pytest.approx(change, abs=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_the_search_finds_the_best_of_all_injections(seed):
    """Four features among seven: 840 injections."""
    X, Y, _ = studies(60, 90, 4, 7, seed)
    A, B = np.corrcoef(X.T), np.corrcoef(Y.T)
    best = min(value(A, B, np.array(c)) for c in permutations(range(7), 4))
    found = align_studies(X, Y, draws=0)
    assert found.value == pytest.approx(best)
    settled = _descended(A, B, found.labels)
    np.testing.assert_array_equal(settled, found.labels)


def test_features_are_found_in_a_larger_study():
    X, Y, truth = studies(800, 1200, 7, 9, 1)
    found = align_studies(X, Y, starts=20, draws=10)
    assert found.recovered(truth) == 1.0 and found.sure().all()
    # the other way round, features that X does not have get none
    back = align_studies(Y, X, starts=20, draws=10)
    assert (back.labels >= 0).sum() == 7
    np.testing.assert_array_equal(back.labels[found.labels], np.arange(7))
    assert back.samples == (1200, 800) and not back.sure()[back.labels < 0].any()
    assert "7 labels came again" in str(back)


def test_labels_that_are_sure_are_right():
    """Few samples: of labels above 90 % at least 90 % are right, and some are not."""
    sure, right, every = 0, 0, []
    for seed in range(6):
        X, Y, truth = studies(120, 300, 6, 8, seed)
        found = align_studies(X, Y, starts=10, draws=20, seed=seed)
        sure += found.sure().sum()
        right += (found.labels == truth)[found.sure()].sum()
        every.append(found.recovered(truth))
    assert np.mean(every) < 1.0  # else nothing is tested
    assert sure > 4 and right >= 0.9 * sure


def test_weights_of_unequal_samples_are_the_likelihood():
    """The pooled log det is minus twice the profiled Gaussian likelihood per sample."""
    X, Y, _ = studies(30, 90, 5, 5, 3)
    A, B = X.T @ X / 30, Y.T @ Y / 90
    objective = QuasiLikelihood(share=30 / 120)
    pooled = (30 * A + 90 * B) / 120
    precision = np.linalg.inv(pooled)
    fit = 30 * np.trace(precision @ A) + 90 * np.trace(precision @ B)
    minus_two = 120 * np.linalg.slogdet(pooled)[1] + fit
    assert minus_two / 120 == pytest.approx(objective.value(A, B) + 5)
    table = objective.changes(A, B)
    c = np.array([0, 3, 2, 1, 4])
    change = objective.value(A, B[np.ix_(c, c)]) - objective.value(A, B)
    assert table[1, 3] == pytest.approx(change, abs=1e-10)


def test_weighing_samples_beats_equal_shares():
    """A study of 60 and one of 1200 samples, 8 features: fewer labels are lost."""
    lost = {}
    for share in (0.5, 60 / 1260):
        wrong = 0
        for seed in range(8):
            X, Y, truth = studies(60, 1200, 8, 8, seed)
            A, B = X.T @ X / 60, Y.T @ Y / 1200
            objective = QuasiLikelihood(share=share)
            values = [
                (objective.value(A, B[np.ix_(c, c)]), tuple(c)) for c in _near(truth)
            ]
            wrong += np.mean(np.array(min(values)[1]) != truth)
        lost[share] = wrong
    assert lost[60 / 1260] <= lost[0.5]


def _near(truth):
    """The truth and all exchanges of two of its labels."""
    yield truth
    for i in range(len(truth)):
        for j in range(i):
            other = truth.copy()
            other[[i, j]] = other[[j, i]]
            yield other


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: align_studies(X[:2], X), "3 samples and 2 features"),
        (lambda X: align_studies(X, X * 0), "constant column, 0"),
        (lambda X: align_studies(X * np.nan, X), "NaN or infinite"),
        (lambda X: align_studies(X, X[:, 1:], objective=QuasiLikelihood()),
         "pools matrices of one size"),
        (lambda X: QuasiLikelihood(share=1.0), "lie in"),
    ],
)  # fmt: skip
def test_bad_studies_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call(np.random.default_rng(0).normal(size=(20, 4)))
