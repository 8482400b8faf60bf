"""Gaussian tokens in R^d (N4)."""

import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.theory import gaussian_tokens

S_0, M_0 = np.array([[0.5, 0.1], [0.1, 0.3]]), np.array([0.3, -0.2])


@pytest.mark.parametrize(
    ("t", "mean", "variance"),
    [
        (0.5, 0.2260406309, 0.4444444444),
        (1.0, 0.1140745721, 0.3076923077),
        (3.0, 0.0103364775, 0.1379310345),
    ],
)
def test_one_coordinate_contracts(t, mean, variance):
    """N4-O1: moments, and the library's flow of weighted nodes of a Gaussian."""
    law = gaussian_tokens.moments(t, [[-1.0]], [[1.0]], [0.5], [[0.8]])
    assert abs(law.mean[0] - mean) < 1e-9
    assert abs(law.covariance[0, 0] - variance) < 1e-9
    node, weight = np.polynomial.hermite_e.hermegauss(30)
    points = jnp.asarray(0.5 + np.sqrt(0.8) * node)[:, None]
    mu = pf.Particles(pf.Euclidean(1), points, weight / weight.sum())
    field = pf.Attention(1.0, V=-jnp.eye(1))
    end = pf.flow(field, mu, t, save=2).final
    x, w = np.asarray(end.points[:, 0]), np.asarray(end.weights)
    assert abs(w @ x - mean) < 1e-7
    assert abs(w @ x**2 - (w @ x) ** 2 - variance) < 1e-7


def test_one_coordinate_blows_up():
    """N4-O2."""
    law = gaussian_tokens.moments(1.0, [[1.0]], [[1.0]], [0.5], [[0.2]])
    assert abs(law.mean[0] - 1.7546433753) < 1e-9
    assert abs(law.covariance[0, 0] - 1 / 3) < 1e-10
    assert gaussian_tokens.blow_up([[1.0]], [[0.2]]) == 2.5
    with pytest.raises(InputError, match="below the blow-up at 2.5"):
        gaussian_tokens.covariance_by_identity(3.0, [[1.0]], [[0.2]])


def test_two_coordinates():
    """N4-O3."""
    V, A = [[-1, 0.3], [0.2, -0.7]], [[0.8, 0.5], [-0.3, 0.6]]
    law = gaussian_tokens.moments(1.0, V, A, M_0, S_0)
    np.testing.assert_allclose(law.mean, [0.075622460178, -0.062294164678], atol=1e-10)
    known = [[0.269911786497, 0.052723509401], [0.052723509401, 0.256407415277]]
    np.testing.assert_allclose(law.covariance, known, atol=1e-10)


def test_values_are_the_tokens():
    """N4-O4 and O5: V = I has a closed form."""
    A = np.array([[0.3, 0.7], [-0.2, -0.5]])
    assert abs(gaussian_tokens.blow_up(A, S_0) - 2.5089790013) < 1e-9
    law = gaussian_tokens.moments(1.0, np.eye(2), A, M_0, S_0)
    np.testing.assert_allclose(law.mean, [0.742780055360, -0.533383677967], atol=1e-10)
    known = [[0.819462227913, 0.217669654289], [0.217669654289, 0.276568501921]]
    np.testing.assert_allclose(law.covariance, known, atol=1e-10)
    closed = gaussian_tokens.covariance_by_identity(1.0, A, S_0)
    np.testing.assert_allclose(closed, known, atol=1e-10)
    end = gaussian_tokens.covariance_by_identity(200.0, np.diag([-1.0, 0.0]), S_0)
    np.testing.assert_allclose(np.diag(end), [0.00248756, 0.28009950], atol=1e-7)


def test_with_a_linear_layer():
    """N4-O6."""
    found = [gaussian_tokens.with_linear_layer(t, 0.5, -1.0, 0.8) for t in (1.0, 4.0)]
    np.testing.assert_allclose(found, [0.5800159834, 0.5034579326], atol=1e-9)
    end = gaussian_tokens.linear_layer_blow_up(0.5, 1.0, 0.8)
    assert abs(end - 0.4855078158) < 1e-9
    with pytest.raises(InputError, match="blow-up"):
        gaussian_tokens.with_linear_layer(end + 1e-6, 0.5, 1.0, 0.8)


def test_other_attentions_do_not_blow_up():
    """N4-O7."""
    by_distance = gaussian_tokens.squared_distance_attention
    by_scaling = gaussian_tokens.sinkhorn_attention
    found = [f(1.0, V, 0.8) for f in (by_distance, by_scaling) for V in (1.0, -1.0)]
    known = [2.5189592146, 0.3935918816, 3.3624076175, 0.3461157510]
    np.testing.assert_allclose(found, known, atol=1e-9)
