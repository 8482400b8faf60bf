"""Oracles of "The emergence of clusters in self-attention dynamics" (P2)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg as sl
from scipy.spatial import ConvexHull

import pushforward as pf
from pushforward.observables import attention_matrix, attention_rank, leaders
from pushforward.theory import leaders as leader_theory
from pushforward.theory import limit_shapes, polytope

TIGHT = pf.Adaptive(rtol=1e-11, atol=1e-12)
V3 = np.array(
    [
        [0.18608476, 0.34391026, 0.13905949],
        [0.35244288, 0.6694859, 0.39992145],
        [0.46685606, 0.17094454, 0.42092308],
    ]
)


def line(*x):
    return pf.Particles(pf.Euclidean(1), np.array(x)[:, None])


def test_p2_o1_rescaled_tokens_are_the_tokens_rescaled():
    mu = pf.Particles.uniform(pf.Euclidean(3), 8, key=jax.random.key(0))
    x = pf.flow(pf.Attention(1.0, V=V3), mu, 2.0, save=2, solver=TIGHT).final.points
    z = pf.flow(pf.RescaledAttention(V=V3), mu, 2.0, save=2, solver=TIGHT).final.points
    np.testing.assert_allclose(x @ sl.expm(-2 * V3).T, z, atol=1e-8)


def test_p2_o2_leaders_on_the_line():
    mu = line(-0.9, -0.3, 0.2, 0.55, 0.8)
    run = pf.flow(pf.Attention(1.0), mu, 4.5, save=[1.0, 2.0, 4.5], solver=TIGHT)
    x1, x2, end = (np.asarray(run[k].points[:, 0]) for k in (1, 2, 3))
    np.testing.assert_allclose(
        x1, [-1.4715, -0.3861, 0.5333, 1.0745, 1.4197], atol=1e-4
    )
    np.testing.assert_allclose(
        x2, [-3.8101, -2.0755, 2.4112, 3.1003, 3.4951], atol=1e-4
    )
    expected = [-0.515602, -0.496267, 0.456242, 0.464103, 0.468578]
    np.testing.assert_allclose(end * np.exp(-4.5), expected, atol=1e-6)
    P = attention_matrix(run.final, 1.0)
    np.testing.assert_allclose(P, np.eye(5)[[0, 0, 4, 4, 4]], atol=1e-6)
    assert attention_rank(P) == 2
    assert leaders(P).tolist() == [0, 4]
    limit = leader_theory.attention_limit(run.final.points[:, 0])
    np.testing.assert_array_equal(P.argmax(axis=1), limit)


def test_p2_o2_all_positive_tokens_follow_the_largest():
    mu = line(0.1, 0.3, 0.2, 0.55, 0.8)
    P = attention_matrix(pf.flow(pf.Attention(1.0), mu, 6.0, save=2).final, 1.0)
    np.testing.assert_allclose(P, np.eye(5)[[4] * 5], atol=1e-6)
    assert attention_rank(P) == 1


def test_p2_o3_a_symmetric_pair_obeys_its_scalar_law():
    run = pf.flow(
        pf.Attention(1.0), line(-0.5, 0.5), 2.0, save=[1.0, 2.0], solver=TIGHT
    )
    w = np.asarray(run.points[1:, 1, 0]) ** 2
    np.testing.assert_allclose(w, [0.48158131, 1.93421825], atol=1e-8)
    theory = leader_theory.pair_square(np.array([1.0, 2.0]), 0.25)
    np.testing.assert_allclose(w, theory, atol=1e-8)


def test_p2_o4_the_middle_token_shares_its_attention():
    """P2-O4: by symmetry the middle row is (1/3, 1/3, 1/3); on a short window."""
    run = pf.flow(pf.Attention(1.0), line(-0.7, 0.0, 0.7), 1.0, save=2)
    P = attention_matrix(run.final, 1.0)
    np.testing.assert_allclose(P[1], 1 / 3, atol=1e-12)
    assert abs(float(run.final.points[1, 0])) < 1e-14


def test_p2_o5_the_hull_shrinks_to_a_polytope():
    key = jax.random.key(2)
    start = jax.random.uniform(key, (20, 2), minval=-5.0, maxval=5.0)
    mu = pf.Particles(pf.Euclidean(2), start)
    run = pf.flow(pf.RescaledAttention(), mu, 6.0, save=13)
    areas = [ConvexHull(np.asarray(run[k].points)).volume for k in range(13)]
    assert (np.diff(areas) < 1e-9).all()
    z = np.asarray(run.final.points)
    v = polytope.hull_vertices(z)
    v = z[v] if v.dtype.kind == "i" else v
    gap = np.abs((z**2).sum(1) - (z @ v.T).max(1))
    assert gap.max() < 0.3  # O(e^{-t}) times the squared size of the data, 25 to 50


def test_p2_o6_left_eigenvector_coordinates_take_at_most_three_values():
    mu = pf.Particles.uniform(pf.Euclidean(3), 20, key=jax.random.key(1))
    shape = limit_shapes.predict_limit(V3)
    assert shape.regime is limit_shapes.Regime.HYPERPLANES
    run = pf.flow(pf.RescaledAttention(V=V3), mu, 12.0, save=2)
    coordinate = np.sort(np.asarray(run.final.points) @ shape.forms[0])
    jumps = np.diff(coordinate)
    assert (jumps > 1e-3).sum() + 1 == 2
    assert jumps[jumps <= 1e-3].sum() < 1e-4 * np.ptp(coordinate) * 20


def test_p2_o7_a_repelled_pair_collapses_algebraically():
    times = [10.0, 100.0, 1000.0, 1e4]
    V = -np.eye(1)
    run = pf.flow(pf.Attention(1.0, V=V), line(-0.5, 0.5), 1e4, save=times)
    measured = np.asarray(run.points[1:, 1, 0]) ** 2 * np.array(times)
    np.testing.assert_allclose(
        measured, [0.417873, 0.490392, 0.499023, 0.499902], atol=2e-6
    )


def test_p2_o7_the_covariance_tends_to_identity_over_2t():
    mu = pf.Particles.gaussian(pf.Euclidean(3), 30, key=jax.random.key(4))
    end = pf.flow(pf.Attention(1.0, V=-np.eye(3)), mu, 2000.0, save=2).final.points
    values = np.linalg.eigvalsh(2 * 2000.0 * np.cov(end.T, bias=True))
    assert 0.998 < values.min() and values.max() < 1.001
    assert np.linalg.norm(end.mean(axis=0)) < 1e-6


def test_p2_o8_large_beta_tends_to_hardmax():
    corners = 2 * np.pi * np.arange(5) / 5
    vertices = np.stack([np.cos(corners), np.sin(corners)], axis=1)
    turned = corners + 0.5  # away from the bisectors, where two vertices tie
    inside = 0.5 * np.stack([np.cos(turned), np.sin(turned)], axis=1)
    mu = pf.Particles(pf.Euclidean(2), jnp.vstack([vertices, inside]))
    exact = polytope.hardmax_tokens(1.0, mu.points)
    hard = pf.flow(pf.HardRelaxation(), mu, 1.0, save=2).final.points
    np.testing.assert_allclose(hard, exact, atol=1e-7)
    errors = []
    for beta in (50.0, 200.0, 800.0):
        # dz_i/dt = sum_j P_ij (z_j - z_i): attention minus the token itself.
        field = pf.Attention(beta) + pf.Perceptron(-jnp.eye(2), jnp.eye(2), None, _same)
        end = pf.flow(field, mu, 1.0, save=2, solver=TIGHT).final.points
        errors.append(float(np.abs(end - exact).max()))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-6


def _same(x):
    return x


def test_logits_beyond_overflow_are_followed_and_said():
    """At t = 400 the logits are e^{800}: finite positions, and the outcome warns."""
    start = np.random.default_rng(0).uniform(-1, 1, (6, 2))
    mu = pf.Particles(pf.Euclidean(2), start)
    run = pf.flow(pf.RescaledAttention(), mu, 400.0, save=2)
    assert np.isfinite(run.final.points).all()
    assert "double precision" in run.outcome.message


@pytest.mark.parametrize("V", [None, V3, np.array([[1.0, 1.0], [0.0, 1.0]])])
def test_expansion_is_the_scaled_matrix_exponential(V):
    """Also for the last matrix, which cannot be diagonalized."""
    field = pf.RescaledAttention(V=V)
    if V is None:
        assert field.expansion(0.7) is None
        return
    expected = sl.expm(0.7 * (V - field.growth_rate * np.eye(len(V))))
    np.testing.assert_allclose(field.expansion(0.7), expected, atol=1e-12)
