import jax
import numpy as np
import pytest

import pushforward as pf
from pushforward.observables import (
    attention_entropy,
    attention_matrix,
    attention_rank,
    hemisphere_margin,
    in_hemisphere,
    leaders,
)


def test_rows_average_to_the_field():
    """A X is the push of the field, so its tangent part is the velocity."""
    mu = pf.Particles.uniform(pf.Sphere(3), 12, key=jax.random.key(0))
    A = attention_matrix(mu, 4.0)
    np.testing.assert_allclose(A.sum(axis=1), 1.0)
    v = mu.space.tangent(mu.points, A @ mu.points)
    np.testing.assert_allclose(v, pf.Attention(4.0)(0.0, mu).v, atol=1e-14)


def test_causal_rows_see_only_the_past():
    mu = pf.Particles.uniform(pf.Sphere(3), 5, key=jax.random.key(0))
    A = attention_matrix(mu, 4.0, causal=True)
    assert np.triu(A, k=1).max() == 0.0
    assert A[0, 0] == 1.0


def test_entropy_and_rank_at_both_ends():
    mu = pf.Particles.orthonormal(pf.Sphere(6), 6)
    flat, sharp = attention_matrix(mu, 0.0), attention_matrix(mu, 1e3)
    np.testing.assert_allclose(attention_entropy(flat), np.log(6))
    np.testing.assert_allclose(attention_entropy(sharp), 0.0, atol=1e-12)
    assert attention_rank(flat) == 1
    assert attention_rank(sharp) == 6
    assert leaders(sharp).tolist() == list(range(6))
    assert leaders(flat).tolist() == []


def test_wendel_probability_p1_o19():
    """P1-O19: 5 uniform points of S^2 share a hemisphere with probability 0.6875."""
    keys = jax.random.split(jax.random.key(3), 400)
    hits = [in_hemisphere(pf.Particles.uniform(pf.Sphere(3), 5, key=k)) for k in keys]
    # Five standard deviations of the mean: fails by chance once in a million seeds.
    assert abs(np.mean(hits) - 0.6875) < 5 * np.sqrt(0.6875 * 0.3125 / 400)


def test_margin_is_the_distance_of_the_hull_from_the_origin():
    mu = pf.Particles.orthonormal(pf.Sphere(3), 3)
    assert hemisphere_margin(mu) == pytest.approx(1 / np.sqrt(3))
    square = pf.Particles.equispaced(pf.Circle(), 4)
    assert hemisphere_margin(square) == 0.0
    assert not in_hemisphere(square)
    assert in_hemisphere(mu)
