"""Entropic transport against Gaussian closed forms, POT and OTT."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pushforward.errors import InputError, NumericalError
from pushforward.transport import (
    Gaussian,
    SquaredDistance,
    entropic_gaussian_map,
    entropic_gaussian_value,
    entropic_map,
    entropic_plan,
    gaussian_distance,
    gaussian_map,
    gaussian_sinkhorn_divergence,
    optimal_plan,
    sinkhorn_divergence,
    unbalanced_plan,
)

MU, NU = Gaussian([0.0], [[1.0]]), Gaussian([1.0], [[0.25]])
EPS = [0.5, 2.0, 10.0]
VALUES = [1.704377004122387, 2.024012844086503, 2.200246727800749]
SLOPES = [0.39038820320220757, 0.20710678118654757, 0.04950975679639225]
DIVERGENCES = [1.2426448532095624, 1.1817873576520836, 1.0545882599457892]


@pytest.fixture(scope="module")
def grid():
    x = np.linspace(-9, 9, 900)
    a, b = np.exp(-(x**2) / 2), np.exp(-((x - 1) ** 2) / 0.5)
    return x[:, None], a / a.sum(), b / b.sum()


@pytest.mark.parametrize(("eps", "value"), list(zip(EPS, VALUES, strict=True)))
def test_s5_o6_gaussian_value(eps, value, grid):
    x, a, b = grid
    assert entropic_gaussian_value(MU, NU, eps) == pytest.approx(value, abs=1e-12)
    plan = entropic_plan((x, a), (x, b), eps)
    assert plan.value == pytest.approx(value, abs=1e-10)
    assert 0 <= plan.gap + 1e-12 < 1e-10
    assert max(plan.marginal_errors) < 1e-14


@pytest.mark.parametrize(("eps", "slope"), list(zip(EPS, SLOPES, strict=True)))
def test_s5_o7_entropic_map_slope(eps, slope, grid):
    x, a, b = grid
    closed = entropic_gaussian_map(MU, NU, eps).slope[0, 0]
    assert closed == pytest.approx(slope, abs=1e-12)
    T = entropic_map((x, a), (x, b), eps, tol=1e-11)
    at = np.array([[-1.0], [0.37], [2.0]])  # off the grid: the map is defined there
    np.testing.assert_allclose(T(at), 1 + slope * at, atol=1e-10)


@pytest.mark.parametrize(("eps", "value"), list(zip(EPS, DIVERGENCES, strict=True)))
def test_s5_o8_sinkhorn_divergence(eps, value, grid):
    x, a, b = grid
    closed = gaussian_sinkhorn_divergence(MU, NU, eps)
    assert closed == pytest.approx(value, abs=1e-12)
    measured = float(sinkhorn_divergence(x, x, eps, a=a, b=b))
    assert measured == pytest.approx(value, abs=1e-10)


def test_divergence_tends_to_distance_and_to_means():
    exact = gaussian_distance(MU, NU) ** 2
    assert gaussian_sinkhorn_divergence(MU, NU, 1e-4) == pytest.approx(exact, abs=1e-6)
    assert gaussian_sinkhorn_divergence(MU, NU, 1e5) == pytest.approx(1.0, abs=1e-4)


def test_gaussian_forms_in_several_dimensions():
    """Small eps tends to W_2^2 and its map; the value bounds W_2^2 from above."""
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((2, 3, 3))
    mu, nu = (
        Gaussian(rng.standard_normal(3), f @ f.T + 0.3 * np.eye(3)) for f in factors
    )
    exact = gaussian_distance(mu, nu) ** 2
    assert entropic_gaussian_value(mu, nu, 1e-5) == pytest.approx(exact, abs=1e-3)
    for eps in (0.1, 1.0):
        assert entropic_gaussian_value(mu, nu, eps) > exact
    np.testing.assert_allclose(
        entropic_gaussian_map(mu, nu, 1e-8).slope, gaussian_map(mu, nu).slope, atol=1e-6
    )


def test_entropic_agrees_with_pot():
    ot = pytest.importorskip("ot")
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((40, 2)), rng.standard_normal((30, 2))
    a, b = rng.dirichlet(np.ones(40)), rng.dirichlet(np.ones(30))
    cost = SquaredDistance()(x, y)
    theirs = ot.sinkhorn(
        a, b, cost, 0.7, method="sinkhorn_log", stopThr=1e-13, numItermax=5000
    )
    plan = entropic_plan((x, a), (y, b), 0.7)
    np.testing.assert_allclose(plan.matrix, theirs, atol=1e-11)


def test_unbalanced_agrees_with_pot_and_closes_its_gap():
    ot = pytest.importorskip("ot")
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((30, 2)), rng.standard_normal((20, 2)) + 1
    a, b = 1.5 * rng.dirichlet(np.ones(30)), rng.dirichlet(np.ones(20))
    cost = SquaredDistance()(x, y)
    theirs = ot.unbalanced.sinkhorn_unbalanced(
        a, b, cost, 0.5, 2.0, method="sinkhorn", reg_type="kl",
        c=np.outer(a, b), stopThr=1e-14, numItermax=5000,
    )  # fmt: skip
    plan = unbalanced_plan((x, a), (y, b), 0.5, 2.0)
    np.testing.assert_allclose(plan.matrix, theirs, atol=1e-10)
    assert abs(plan.gap) < 1e-12
    assert plan.mass < 1.25


def test_unbalanced_tends_to_balanced():
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((2, 25, 2))
    strict = entropic_plan(x, y, 1.0).value
    assert unbalanced_plan(x, y, 1.0, 1e6).value == pytest.approx(strict, abs=1e-4)


def test_small_eps_tends_to_the_exact_cost():
    pytest.importorskip("ot")
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((2, 30, 2))
    exact = optimal_plan(x, y).cost
    plan = entropic_plan(x, y, 0.02, tol=1e-7)
    assert exact <= plan.cost <= exact + 0.02
    assert plan.gap < 1e-4


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(6)
    x, y = rng.standard_normal((12, 2)), rng.standard_normal((15, 2)) + 0.5
    return jnp.asarray(x), jnp.asarray(y)


def test_gradient_matches_finite_differences(samples):
    x, y = samples
    a = jnp.asarray(np.random.default_rng(7).dirichlet(np.ones(12)))
    by_points, by_weights = jax.grad(
        lambda x, a: sinkhorn_divergence(x, y, 0.8, a=a), argnums=(0, 1)
    )(x, a)
    h, bump = 1e-5, jnp.zeros_like(x).at[3, 1].set(1.0)
    up, down = (
        float(sinkhorn_divergence(x + s * h * bump, y, 0.8, a=a)) for s in (1, -1)
    )
    assert float(by_points[3, 1]) == pytest.approx((up - down) / (2 * h), abs=1e-7)
    tilt = jnp.zeros(12).at[0].set(1.0).at[1].set(-1.0)  # stays in the simplex
    h = 1e-6
    up, down = (
        float(sinkhorn_divergence(x, y, 0.8, a=a + s * h * tilt)) for s in (1, -1)
    )
    assert float(by_weights @ tilt) == pytest.approx((up - down) / (2 * h), abs=1e-6)


def test_divergence_is_zero_only_at_equality(samples):
    x, y = samples
    assert abs(float(sinkhorn_divergence(x, x, 0.5))) < 1e-12
    assert float(sinkhorn_divergence(x, y, 0.5)) > 0.05
    flipped = float(sinkhorn_divergence(y, x, 0.5))
    assert flipped == pytest.approx(float(sinkhorn_divergence(x, y, 0.5)), abs=1e-9)


@pytest.mark.slow  # compiling the other library takes ten seconds
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_divergence_agrees_with_ott(samples):
    """OTT promotes ranks, which our own code may not: allowed for its call only."""
    pytest.importorskip("ott")
    from ott.geometry import pointcloud
    from ott.solvers import linear

    x, y = samples
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        geometry = pointcloud.PointCloud(x, y, epsilon=0.8)
        out = linear.solve(geometry, threshold=1e-11, max_iterations=10_000)
        theirs = float(out.reg_ot_cost)
    ours = entropic_plan(np.asarray(x), np.asarray(y), 0.8).value
    assert ours == pytest.approx(theirs, abs=1e-8)


def test_divergence_refuses_bad_input(samples):
    x, y = samples
    with pytest.raises(InputError, match="NaN"):
        sinkhorn_divergence(x.at[0, 0].set(jnp.nan), y, 1.0)
    with pytest.raises(InputError, match="shape"):
        sinkhorn_divergence(x[:, 0], y, 1.0)
    with pytest.raises(InputError, match="one dimension"):
        sinkhorn_divergence(x, jnp.zeros((3, 5)), 1.0)
    with pytest.raises(InputError, match="not be negative and sum"):
        sinkhorn_divergence(x, y, 1.0, a=jnp.ones(12))
    with pytest.raises(InputError, match="eps"):
        sinkhorn_divergence(x, y, -1.0)


def test_too_few_iterations_is_an_error():
    rng = np.random.default_rng(8)
    with pytest.raises(NumericalError, match="raise iterations"):
        entropic_plan(*rng.standard_normal((2, 30, 2)), 0.05, iterations=3)
