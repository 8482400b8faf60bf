"""Critical temperatures of long contexts: equiangular tokens and random keys (N3)."""

import numpy as np
import pytest

from pushforward.errors import InputError, NumericalError
from pushforward.theory import long_context, random_keys


@pytest.mark.parametrize(
    ("rho", "s", "limit", "finite"),
    [
        (0.3, 1.0, 0.4450294757, 0.4450611914),
        (0.3, -1.0, 0.8556012063, 0.8556770423),
        (0.5, 2.0, 0.5631253707, 0.5631316800),
    ],
)
def test_overlap_inside_the_transition(rho, s, limit, finite):
    """N3-O1."""
    assert abs(long_context.transition_overlap(s, rho) - limit) < 1e-9
    gamma = (1 + s / np.log(1e4)) / (1 - rho)
    assert abs(long_context.output_overlap(gamma, rho, 10_000) - finite) < 1e-9


@pytest.mark.parametrize(
    ("n", "layers"),
    [(100, [2, 2, 3, 5]), (1000, [2, 2, 3, 8]), (10_000, [2, 2, 4, 15])],
)
def test_layers_until_collapse(n, layers):
    """N3-O2."""
    gammas = np.array([0.8, 1.0, 1.2, 1.5]) / 0.7
    assert [long_context.layers_to_collapse(g, 0.3, n) for g in gammas] == layers


def test_a_context_that_does_not_collapse_in_time_is_named():
    with pytest.raises(NumericalError, match="lower it"):
        long_context.layers_to_collapse(50.0, 0.3, 10_000)


@pytest.mark.parametrize(
    ("d", "lam", "largest", "squares"),
    [
        (3, 0.1, 0.1794657484, 0.1026712580),
        (3, 0.5, 0.5614594836, 0.4385405164),
        (3, 1.0, 0.7294882147, 0.6352558927),
        (3, 5.0, 0.9342651086, 0.9065734891),
        (2, 0.1, 0.6533873339, 0.5716218620),
        (2, 1.0, 0.9098445067, 0.8800661842),
        (2, 5.0, 0.9721511021, 0.9619904131),
        (5, 1.0, 0.2759863789, 0.1464792715),
        (5, 5.0, 0.7898142134, 0.7060637575),
    ],
)
def test_weights_of_random_keys(d, lam, largest, squares):
    """N3-O3 and O4."""
    assert abs(random_keys.largest_weight(lam, d) - largest) < 1e-9
    assert abs(random_keys.concentration(lam, d) - squares) < 1e-9


def test_two_ways_agree_in_three_dimensions():
    """Dickman's integral, and the mean given the nearest key."""
    first, second = random_keys._conditioned(0.7, 3)
    assert abs(first - random_keys.largest_weight(0.7, 3)) < 1e-12
    assert abs(second - random_keys.concentration(0.7, 3)) < 1e-12


def test_weights_are_those_of_keys_that_are_drawn():
    """Keys near the query are as in the limit when there are many."""
    rng, n, draws = np.random.default_rng(0), 4000, 2000
    u = rng.uniform(-1, 1, (draws, n))  # <q, x> is uniform on S^2
    s = random_keys.critical_beta(n, 3, 0.5) * u
    w = np.exp(s - s.max(axis=1, keepdims=True))
    w /= w.sum(axis=1, keepdims=True)
    top = w.max(axis=1)
    expected = random_keys.largest_weight(0.5, 3)
    assert abs(top.mean() - expected) < 4 * top.std() / np.sqrt(draws)
    squares = (w**2).sum(axis=1)
    error = 4 * squares.std() / np.sqrt(draws)
    assert abs(squares.mean() - random_keys.concentration(0.5, 3)) < error


def test_far_below_the_critical_scale():
    """N3-O5."""
    assert abs(random_keys.output_mean(20.0, 3) - 0.95) < 1e-12
    assert abs(random_keys.effective_keys(20.0, 20_000, 3) - 1000) < 1e-6
    assert abs(random_keys.output_variance(20.0, 20_000, 3) - 2.4375e-5) < 1e-12
    constants = [random_keys.cap_constant(d) for d in (2, 3, 4, 5)]
    known = [np.sqrt(2) / np.pi, 0.5, 0.6002108774, 0.75]
    np.testing.assert_allclose(constants, known, atol=1e-10)


def test_even_weights_are_refused_with_the_other_call():
    with pytest.raises(InputError, match="effective_keys"):
        random_keys.largest_weight(0.01, 9)
