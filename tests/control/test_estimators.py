"""The estimators keep the contract of scikit-learn, and learn."""

import numpy as np
import pytest
from shape_checks import suspended
from sklearn.datasets import load_digits, make_moons
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from pushforward.control.estimators import NeuralODEClassifier, NeuralODERegressor


@pytest.mark.slow  # minutes, all of it compilation: a hundred small fits
@parametrize_with_checks(
    [
        NeuralODEClassifier(layers=3, hidden=8, max_iter=40),
        NeuralODERegressor(layers=3, hidden=8, max_iter=40),
    ]
)
@pytest.mark.filterwarnings("default")
def test_scikit_learn_contract(estimator, check):
    with suspended():  # wrong parameters are part of the checks
        check(estimator)


def test_regressor_learns_a_product():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 2))
    y = X[:, 0] * X[:, 1]
    fit = NeuralODERegressor(max_iter=150).fit(X[:150], y[:150])
    assert fit.score(X[150:], y[150:]) > 0.95


def test_outer_form_and_probabilities():
    X, y = make_moons(100, noise=0.1, random_state=0)
    fit = NeuralODEClassifier(hidden=None, horizon=4.0, max_iter=200).fit(X, y)
    chances = fit.predict_proba(X)
    assert chances.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert fit.score(X, y) > 0.98


@pytest.mark.slow
def test_digits_with_tracking_match_a_perceptron():
    from sklearn.neural_network import MLPClassifier

    X, y = load_digits(return_X_y=True)
    X, held, y, truth = train_test_split(X / 16.0, y, test_size=0.3, random_state=0)
    ours = NeuralODEClassifier(hidden=32, max_iter=80, standardize=False).fit(X, y)
    peer = MLPClassifier((64,), max_iter=400, random_state=0).fit(X, y)
    assert ours.score(held, truth) > peer.score(held, truth) - 0.01
    assert ours.score(held, truth) > 0.96
