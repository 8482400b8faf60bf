"""The divergence as a functional, and distances by great circles."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.transport import (
    SinkhornDivergence,
    circle_distance,
    sinkhorn_divergence,
    sinkhorn_divergences,
    sphere_sliced_distance,
)

SPACE = pf.Euclidean(2)
RNG = np.random.default_rng(0)
MU = pf.Particles(SPACE, RNG.standard_normal((7, 2)), RNG.dirichlet(np.ones(7)))
NU = pf.Particles(SPACE, RNG.standard_normal((9, 2)) + [4.0, 0.0])
F = SinkhornDivergence(NU, 0.6, tol=1e-11)


def test_the_variation_is_the_derivative_of_the_divergence():
    assert float(F(MU)) == pytest.approx(float(sinkhorn_divergence(MU, NU, 0.6)))
    by_points, by_weights = jax.grad(
        lambda x, a: sinkhorn_divergence(x, NU.points, 0.6, a=a), (0, 1)
    )(MU.points, MU.weights)
    variation = F.variation(MU.points, MU)
    np.testing.assert_allclose(  # known up to a constant
        variation - variation[0], by_weights - by_weights[0], atol=1e-8
    )
    gradient = F.gradient(MU.points, MU)
    np.testing.assert_allclose(MU.weights[:, None] * gradient, by_points, atol=1e-9)
    plain = jax.grad(lambda x: F.variation(x, MU).sum())(MU.points)
    np.testing.assert_allclose(gradient, plain, atol=1e-9)


def test_batches_of_all_sizes_are_the_single_problems():
    pairs = [(MU, NU), (NU, MU), (NU.points[:5], MU.points)]
    eps = [0.6, 0.6, 2.0]
    found = sinkhorn_divergences(*zip(*pairs, strict=True), np.array(eps))
    single = [
        float(sinkhorn_divergence(*p, e)) for p, e in zip(pairs, eps, strict=True)
    ]
    np.testing.assert_allclose(found, single, atol=1e-9)
    with pytest.raises(InputError, match="as many"):
        sinkhorn_divergences([MU], [], 1.0)


@pytest.fixture(scope="module")
def run():
    both = 0.25 * SinkhornDivergence(NU, 2.0) + 0.75 * SinkhornDivergence(MU, 2.0)
    return both, pf.flow(pf.GradientFlow(both), MU, 4.0, solver=pf.Heun(0.1))


def test_its_gradient_flow_descends_to_the_barycenter(run):
    """d/dt of the mean is -2 (mean - weighted mean of means): so is its limit."""
    both, way = run
    goal = 0.25 * NU.mean() + 0.75 * MU.mean()
    end = way[-1]
    decayed = goal + np.exp(-2 * 4.0) * (MU.mean() - goal)
    np.testing.assert_allclose(end.mean(), decayed, atol=1e-4)
    assert float(both(end)) < float(both(MU))


def test_functional_refuses_bad_input():
    with pytest.raises(InputError, match="Particles"):
        SinkhornDivergence(np.eye(2), 1.0)
    with pytest.raises(InputError, match="eps"):
        SinkhornDivergence(NU, -1.0)
    with pytest.raises(InputError, match="dimension"):
        F.variation(jnp.zeros((1, 3)), pf.Particles(pf.Euclidean(3), np.zeros((1, 3))))


def sphere(n, d, seed):
    x = np.random.default_rng(seed).standard_normal((n, d)) + np.eye(d)[0] * (seed % 2)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def test_slices_of_the_circle_are_the_circle():
    x, y = sphere(9, 2, 0), sphere(8, 2, 1)
    found = sphere_sliced_distance(x, y, projections=3, seed=0)
    assert found.distance == pytest.approx(circle_distance(x, y), abs=1e-9)
    assert found.standard_error < 1e-12


def test_slices_of_the_sphere_between_poles():
    """A point's projection and its antipode's are antipodes: every slice is pi."""
    up = np.array([[0.0, 0.0, 1.0]])
    found = sphere_sliced_distance(up, -up, p=1, projections=20, seed=1)
    assert found.distance == pytest.approx(np.pi)
    assert found.standard_error < 1e-12
    x, y = sphere(30, 3, 2), sphere(40, 3, 3)
    one = sphere_sliced_distance(x, y, projections=100, seed=0)
    other = sphere_sliced_distance(x, y, projections=100, seed=1)
    noise = np.hypot(one.standard_error, other.standard_error)
    assert 0 < abs(one.power - other.power) < 5 * noise
    turned = sphere_sliced_distance(x, x[::-1], projections=5, seed=0)
    assert turned.distance < 1e-6


def test_slices_refuse_points_off_the_sphere():
    with pytest.raises(InputError, match="unit sphere"):
        sphere_sliced_distance(np.ones((3, 3)), sphere(3, 3, 0), seed=0)
    with pytest.raises(InputError, match="projections"):
        sphere_sliced_distance(sphere(3, 3, 0), sphere(3, 3, 1), projections=0, seed=0)
