"""Contracts of every space."""

import contract_examples as examples
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf

ALL = examples.examples(examples.SPACES)
WITH_IDS = pytest.mark.parametrize(
    "space", [item[1] for item in ALL], ids=[item[2] for item in ALL]
)
# The bundle projects places first: onto it, but not to what is nearest; along it
# lengths agree with distances to first order alone.
NEAREST = pytest.mark.parametrize(
    "space",
    [s for name, s, _ in ALL if name != "TangentBundle"],
    ids=[i for name, _, i in ALL if name != "TangentBundle"],
)
CURVED = pytest.mark.parametrize(
    "space",
    [s for _, s, _ in ALL if hasattr(s, "exp")],
    ids=[i for _, s, i in ALL if hasattr(s, "exp")],
)


def draw(space, seed, n=5):
    return jax.random.normal(jax.random.key(seed), (n, space.d))


@WITH_IDS
def test_projection_lands_on_the_space_and_is_idempotent(space):
    x = space.project(draw(space, 0))
    assert np.max(space.residual(x)) <= 1e-15
    np.testing.assert_allclose(space.project(x), x, atol=1e-15)
    assert x.shape == (5, space.d)


@NEAREST
def test_projection_is_the_nearest_point(space):
    raw = draw(space, 1)
    x = space.project(raw)
    for seed in range(2, 22):
        other = space.project(draw(space, seed))
        closer = jnp.linalg.norm(raw - other, axis=1) < jnp.linalg.norm(raw - x, axis=1)
        assert not closer.any()


@WITH_IDS
def test_tangent_is_a_projection_that_keeps_points_on_the_space(space):
    x, v = space.project(draw(space, 0)), draw(space, 1)
    w = space.tangent(x, v)
    np.testing.assert_allclose(space.tangent(x, w), w, atol=1e-15)
    moved = jnp.max(space.residual(x + 1e-5 * w))
    assert moved <= 1e-9  # second order in the step


@NEAREST
def test_tangent_is_an_orthogonal_projection(space):
    """Self-adjoint: <u, P v> = <P u, v>."""
    x, u, v = space.project(draw(space, 0)), draw(space, 2), draw(space, 1)
    w = space.tangent(x, v)
    left, right = jnp.sum(u * w, axis=1), jnp.sum(space.tangent(x, u) * v, axis=1)
    np.testing.assert_allclose(left, right, atol=1e-13)


@WITH_IDS
def test_distance_is_a_metric(space):
    x, y, z = (space.project(draw(space, seed)) for seed in range(3))
    d = space.distance
    np.testing.assert_allclose(d(x, y), d(y, x), rtol=1e-15)
    assert np.max(np.abs(d(x, x))) == 0.0
    assert np.min(d(x, y)) > 0.0
    assert np.all(d(x, z) <= d(x, y) + d(y, z) + 1e-14)


@NEAREST
def test_distance_matches_the_length_of_small_steps(space):
    x = space.project(draw(space, 0))
    w = space.tangent(x, draw(space, 1))
    y = space.project(x + 1e-6 * w)
    length = 1e-6 * jnp.linalg.norm(w, axis=1)
    np.testing.assert_allclose(space.distance(x, y), length, rtol=1e-9)


@CURVED
def test_exp_and_log_are_inverse(space):
    x, y = space.project(draw(space, 0)), space.project(draw(space, 1))
    v = space.log(x, y)
    np.testing.assert_allclose(space.exp(x, v), y, atol=1e-13)
    np.testing.assert_allclose(jnp.linalg.norm(v, axis=1), space.distance(x, y))
    np.testing.assert_allclose(space.tangent(x, v), v, atol=1e-14)
    w = 0.3 * space.tangent(x, draw(space, 2))
    np.testing.assert_allclose(space.log(x, space.exp(x, w)), w, atol=1e-13)
    np.testing.assert_array_equal(space.log(x, x), 0.0)


@WITH_IDS
def test_one_point_and_a_cloud_are_treated_alike(space):
    x, v = space.project(draw(space, 0)), draw(space, 1)
    np.testing.assert_allclose(space.project(v)[0], space.project(v[0]), atol=1e-16)
    np.testing.assert_allclose(space.tangent(x, v)[0], space.tangent(x[0], v[0]))
    assert space.distance(x[0], x[1]).shape == ()


@WITH_IDS
def test_precision_is_kept(space):
    x, v = space.project(draw(space, 0)), draw(space, 1)
    x32, v32 = x.astype(jnp.float32), v.astype(jnp.float32)
    for value in (
        space.project(v32),
        space.tangent(x32, v32),
        space.distance(x32, v32),
        space.residual(x32),
    ):
        assert value.dtype == jnp.float32


def test_distance_is_accurate_at_both_ends():
    sphere = pf.Sphere(3)
    for gap in (1e-12, 1e-8):
        x = jnp.array([1.0, 0.0, 0.0])
        y = jnp.array([np.cos(gap), np.sin(gap), 0.0])
        assert float(sphere.distance(x, y)) == pytest.approx(gap, rel=1e-12)
        assert float(sphere.distance(x, -y)) == pytest.approx(np.pi - gap, abs=1e-15)


def test_log_has_no_value_at_the_antipode():
    x = jnp.array([1.0, 0.0, 0.0])
    assert np.isnan(pf.Sphere(3).log(x, -x)).all()


def test_circle_angles_and_points_are_inverse():
    theta = jnp.linspace(-3.1, 3.1, 7)
    circle = pf.Circle()
    np.testing.assert_allclose(circle.angles(circle.points(theta)), theta, atol=1e-15)


def test_repr_says_which_sphere():
    assert repr(pf.Sphere(3)) == "Sphere(3)  # S^2 in R^3"
