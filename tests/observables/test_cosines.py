import jax
import numpy as np
import pytest

import pushforward as pf
from pushforward.observables import (
    ClosePairs,
    cosine_histogram,
    effective_rank,
    mean_cosine,
    order_parameter,
    pair_cosines,
)


@pytest.fixture
def cloud():
    return pf.Particles.uniform(pf.Sphere(4), 30, key=jax.random.key(0))


def test_mean_cosine_is_the_mean_of_the_pairs(cloud):
    expected = float(pair_cosines(cloud).mean())
    assert mean_cosine(cloud) == pytest.approx(expected, abs=1e-14)


def test_mean_cosine_weights_a_token_like_copies_of_it():
    x = np.eye(3)[[0, 0, 1, 2]]
    twice = pf.Particles(pf.Sphere(3), x)
    once = pf.Particles(pf.Sphere(3), np.eye(3), [0.5, 0.25, 0.25])
    # With copies the pair inside the atom counts; with weights it does not.
    assert mean_cosine(twice) == pytest.approx(1 / 6)
    assert mean_cosine(once) == pytest.approx(0.0, abs=1e-15)


def test_histogram_counts_every_pair_once(cloud):
    share, edges = cosine_histogram(cloud, bins=7)
    expected = np.histogram(pair_cosines(cloud), edges)[0] / (30 * 29 / 2)
    np.testing.assert_allclose(share, expected)


def test_close_pairs_counts_ordered_pairs():
    theta = np.array([0.0, 0.01, 2.0])
    mu = pf.Particles(pf.Circle(), pf.Circle().points(theta))
    assert ClosePairs(0.999)(mu) == pytest.approx(1 / 3)


def test_effective_rank_of_an_orthonormal_frame_is_its_size():
    mu = pf.Particles.orthonormal(pf.Sphere(5), 4)
    assert effective_rank(mu) == pytest.approx(4.0)


def test_order_parameter_is_zero_for_equispaced_points():
    mu = pf.Particles.equispaced(pf.Circle(), 5)
    assert order_parameter(mu) < 1e-15


def test_too_many_pairs_are_refused_with_the_alternative():
    mu = pf.Particles.equispaced(pf.Circle(), 20_001)
    with pytest.raises(pf.errors.InputError, match="cosine_histogram"):
        pair_cosines(mu)
