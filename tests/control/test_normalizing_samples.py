"""Random neurons, Knothe-Rosenblatt maps from samples, conditional sampling."""

import jax
import numpy as np
import pytest

import pushforward as pf
from pushforward.control import normalizing
from pushforward.errors import InputError
from pushforward.studies.normalizing_flows._runs import (
    SWITCHES,
    maurey_errors,
    turn_error,
)


@pytest.mark.parametrize("d", [2, 10, 50])
def test_maurey_slope_M2_O6(d):
    errors = maurey_errors(d, 12)
    slope = np.polyfit(np.log(SWITCHES), np.log(errors), 1)[0]
    assert -0.62 < slope < -0.43


def test_neurons_in_turn_have_second_order():
    assert 3.4 < turn_error(10, 8) / turn_error(10, 16) < 4.6


def test_maurey_draws_follow_the_weights():
    """Neurons are drawn by |w_k| and scaled so that the mean velocity is exact."""
    W = np.array([[3.0, 0.0], [0.0, 1.0]])
    field = pf.Perceptron(W, np.eye(2), np.zeros(2))
    flow = normalizing.maurey(field, 1.0, 4000, key=jax.random.key(0))
    first = np.asarray(flow.w)[:, 0] > 0
    assert abs(first.mean() - 0.75) < 0.03
    np.testing.assert_allclose(np.linalg.norm(flow.w, axis=1), 4.0)
    x = np.array([[1.0, 1.0]])
    np.testing.assert_allclose(np.log(flow.forward(x)), [[3.0, 1.0]], atol=0.2)


def bent(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    return np.column_stack([x, x**2 + np.exp(0.4 * x) * rng.standard_normal(n)])


def test_knothe_rosenblatt_learns_a_bent_law():
    learn, test = bent(500, 0), bent(2000, 1)
    flow = normalizing.knothe_rosenblatt(learn, key=jax.random.key(0))
    z = test.copy()
    z[:, 1] = (test[:, 1] - test[:, 0] ** 2) * np.exp(-0.4 * test[:, 0])
    truth = np.asarray(pf.StandardNormal().log_density(z)) - 0.4 * test[:, 0]
    gap = truth.mean() - np.asarray(flow.log_density(test)).mean()
    assert 0 < gap < 0.2
    np.testing.assert_allclose(flow.forward(flow.inverse(test)), test, atol=1e-9)
    # triangular: the first coordinate of the image does not see the second
    moved = flow.forward(test + [0.0, 1.0])
    np.testing.assert_array_equal(moved[:, 0], flow.forward(test)[:, 0])
    pytest.importorskip("ot")
    fresh = bent(200, 2)

    def mean_distance(f):
        keys = jax.random.split(jax.random.key(1), 3)
        return np.mean([normalizing.sample_distance(f, fresh, key=k) for k in keys])

    # two true samples of this size are 0.5 apart, the Gaussian is 1.5 away
    assert mean_distance(flow) < 0.7 * mean_distance(normalizing.identity(2))


def test_conditional_flows_leave_their_condition_alone():
    flow = normalizing.knothe_rosenblatt(bent(500, 0), key=jax.random.key(0), given=1)
    assert flow.given == (0,) and (np.asarray(flow.w)[:, 0] == 0).all()
    given = np.linspace(-1, 1.5, 2000)[:, None]
    drawn = np.asarray(flow.sample(jax.random.key(1), 2000, given=given))
    np.testing.assert_array_equal(drawn[:, :1], given)
    gap = (drawn[:, 1] - given[:, 0] ** 2) * np.exp(-0.4 * given[:, 0])
    assert abs(gap.mean()) < 0.15 and 0.8 < gap.std() < 1.2
    # the conditional density integrates to one over the other coordinate
    line = np.linspace(-25, 35, 100_001)
    grid = np.column_stack([np.full_like(line, 0.7), line])
    mass = np.exp(np.asarray(flow.log_density(grid))).sum() * (line[1] - line[0])
    assert abs(mass - 1) < 1e-5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"samples": np.full((20, 2), np.nan)}, "NaN"),
        ({"samples": np.ones((20, 2))}, "constant"),
        ({"samples": np.eye(3)}, "at least 10"),
        ({"given": 2}, "less than the 2"),
        ({"neurons": 0}, "neurons"),
        ({"bandwidth": -1.0}, "bandwidth"),
    ],
)
def test_bad_samples_are_refused(change, words):
    arguments = {"samples": bent(20, 0), "key": jax.random.key(0)} | change
    with pytest.raises(InputError, match=words):
        normalizing.knothe_rosenblatt(**arguments)


def test_conditions_are_checked():
    flow = normalizing.knothe_rosenblatt(bent(50, 0), key=jax.random.key(0), given=1)
    with pytest.raises(InputError, match="needs `given`"):
        flow.sample(jax.random.key(0), 3)
    with pytest.raises(InputError, match="shape"):
        flow.sample(jax.random.key(0), 3, given=[1.0, 2.0])
    with pytest.raises(InputError, match="ReLU"):
        field = pf.Perceptron(np.eye(2), np.eye(2), None, jax.numpy.tanh)
        normalizing.maurey(field, 1.0, 4, key=jax.random.key(0))
    with pytest.raises(InputError, match="does not move"):
        still = pf.Perceptron(np.zeros((2, 2)), np.eye(2))
        normalizing.maurey(still, 1.0, 4, key=jax.random.key(0))
    with pytest.raises(InputError, match="finite"):
        normalizing.distance_to_map(
            normalizing.identity(2), lambda x: x, np.zeros((3, 2)), p=np.inf
        )
