"""One call with all there is to know: bounds, gradients, arcs, single precision."""

import jax
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import pushforward as pf
from pushforward.errors import InputError, NumericalError
from pushforward.transport import (
    CostTable,
    SphereDistance,
    circle_distance,
    entropic_divergence,
    entropic_map,
    entropic_plan,
    free_barycenter,
    optimal_plan,
    sinkhorn_divergence,
    sinkhorn_divergences,
    sliced_distance,
    sphere_sliced_distance,
    unbalanced_plan,
    wasserstein_distance,
)

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((12, 2)), RNG.standard_normal((15, 2)) + 0.5
A, B = RNG.dirichlet(np.ones(12)), RNG.dirichlet(np.ones(15))


@pytest.fixture(scope="module")
def found():
    return entropic_divergence((X, A), (Y, B), 0.3)


def test_the_divergence_and_its_gradients_agree_with_the_differentiable_one(found):
    S = lambda x, a: sinkhorn_divergence(x, Y, 0.3, a=a, b=B)  # noqa: E731
    value, (slope, tilt) = jax.value_and_grad(S, (0, 1))(X, A)
    assert found.lower <= float(value) + 1e-12
    assert found.value == pytest.approx(float(value), abs=1e-10)
    assert 0 <= found.gap < 1e-9
    assert max(found.marginal_errors) < 1e-13
    np.testing.assert_allclose(found.gradient(), slope, atol=1e-6)
    f = found.variations[0]
    np.testing.assert_allclose(f - f[0], tilt - tilt[0], atol=1e-6)


def test_the_bounds_hold_where_it_stopped_early(found):
    early = entropic_divergence((X, A), (Y, B), 0.3, tol=3e-3)
    assert early.gap > 1e3 * found.gap
    assert early.lower < found.value < early.upper


def test_a_measure_and_itself_have_none():
    assert 0 <= entropic_divergence((X, A), (X, A), 0.01).value < 1e-9
    heavier = entropic_divergence((X, 2 * A), (X, A), 0.3, rho=1.0)
    assert heavier.value > 0.01


def test_unbalanced_points_have_a_closed_form():
    """Two atoms: one number, the mass that moves, is optimal."""
    eps, rho, c, p, q = 0.5, 1.5, 4.0, 2.0, 0.7

    def kl(t, w):
        return t * np.log(t / w) - t + w

    def least(c, p, q):
        what = lambda t: c * t + eps * kl(t, p * q) + rho * (kl(t, p) + kl(t, q))  # noqa: E731
        return minimize_scalar(what, bounds=(1e-9, 9), options={"xatol": 1e-12}).fun

    exact = least(c, p, q) - least(0, p, p) / 2 - least(0, q, q) / 2
    exact += eps * (p - q) ** 2 / 2
    mu, nu = ([[0.0]], [p]), ([[2.0]], [q])
    assert entropic_divergence(mu, nu, eps, rho=rho).value == pytest.approx(exact)


def on_sphere(n, seed):
    x = np.random.default_rng(seed).standard_normal((n, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def test_arcs_need_no_table(monkeypatch):
    x, y = on_sphere(90, 0), np.vstack([on_sphere(59, 1), -on_sphere(90, 0)[:1]])
    table = SphereDistance()(x, y)
    known = entropic_plan(x, y, 0.2, cost=CostTable(table))
    monkeypatch.setattr("pushforward.transport.entropic._tables.SMALL_TABLE", 1000)
    plan = entropic_plan(x, y, 0.2, cost=SphereDistance())
    assert plan.value == pytest.approx(known.value, abs=1e-10)
    assert plan.cost == pytest.approx(np.sum(table * plan.dense()), abs=1e-12)
    np.testing.assert_allclose(plan.dense(), known.dense(), atol=1e-8)
    np.testing.assert_allclose(plan.map, known.map, atol=1e-6)
    with pytest.raises(InputError, match="SquaredDistance"):
        plan.gradient()
    with pytest.raises(InputError, match="unit sphere"):
        entropic_plan(2 * x, y, 0.2, cost=SphereDistance())


def test_single_precision_is_proved_in_double():
    """Of the points that single precision holds, the bounds are those of double."""
    mu, nu = (pf.Particles(pf.Euclidean(2), z).astype("float32") for z in (X, Y))
    double = entropic_plan(*(np.asarray(m.points, float) for m in (mu, nu)), 0.3)
    single = entropic_plan(mu, nu, 0.3)
    assert single.dual < double.value + 1e-12
    assert double.dual < single.value
    assert 0 <= single.gap < 1e-4
    assert single.potentials[0].dtype == np.float64
    assert max(single.marginal_errors) < 1e-13


MU = pf.Particles(pf.Euclidean(2), X, A)
NU = pf.Particles(pf.Euclidean(2), Y, B)


def test_measures_of_the_library_go_everywhere():
    assert entropic_divergence(MU, NU, 0.3).value > 0
    assert unbalanced_plan(MU, NU, 0.3, 1.0).mass > 0
    assert entropic_map(MU, NU, 0.3)(X).shape == X.shape
    assert sliced_distance(MU, NU, seed=0).distance > 0
    assert optimal_plan(MU, NU).cost > 0
    assert free_barycenter([MU, NU], X[:3], iterations=2).points.shape == (3, 2)
    circle = [
        pf.Particles.uniform(pf.Circle(), 12, key=jax.random.key(k)) for k in (0, 1)
    ]
    assert circle_distance(*circle) == pytest.approx(wasserstein_distance(*circle))
    assert sphere_sliced_distance(*circle, projections=2, seed=0).distance > 0


def test_what_has_no_atoms_is_refused_or_seen_through_its_grid():
    """Sigma points of a Gaussian and the meridian of a zonal density are no samples."""
    from pushforward.measures import Gaussian, Zonal

    with pytest.raises(InputError, match="sample"):
        entropic_plan(Gaussian([0.0, 0.0], np.eye(2)), NU, 0.3)
    with pytest.raises(InputError, match="sample"):
        optimal_plan(NU, Gaussian([0.0, 0.0], np.eye(2)))
    zonal = pf.Density(Zonal(3, 8))
    with pytest.raises(InputError, match="quadrature"):
        wasserstein_distance(zonal, zonal)
    with pytest.raises(InputError, match="sample"):
        sinkhorn_divergence(Gaussian([0.0, 0.0], np.eye(2)), NU, 0.3)
    rho = pf.Density.uniform(pf.Circle(), 8)
    assert wasserstein_distance(rho, rho) == pytest.approx(0, abs=1e-7)


CALLS = {
    "plan": lambda mu, nu, eps: entropic_plan(mu, nu, eps),
    "unbalanced": lambda mu, nu, eps: unbalanced_plan(mu, nu, eps, 1.0),
    "divergence": lambda mu, nu, eps: entropic_divergence(mu, nu, eps),
}


@pytest.mark.parametrize("eps", [1e-6, 1e6])
@pytest.mark.parametrize("name", list(CALLS))
def test_extreme_eps_give_a_certificate_or_a_clear_error(name, eps):
    try:
        answer = CALLS[name]((X, A), (Y, B), eps)
    except NumericalError as error:
        assert "raise iterations (or eps" in str(error)
        assert np.isfinite(error.partial.gap)
        return
    scale = max(1.0, eps)
    assert abs(answer.gap) <= 1e-2 * scale
    assert np.isfinite(answer.marginal_errors).all()


@pytest.mark.parametrize("name", [*CALLS, "differentiable", "batch"])
def test_nan_and_nothing_are_refused(name):
    more = CALLS | {
        "differentiable": sinkhorn_divergence,
        "batch": lambda mu, nu, eps: sinkhorn_divergences([mu], [nu], eps),
    }
    for bad in (np.full((3, 2), np.nan), np.zeros((0, 2)), "text"):
        with pytest.raises(InputError):
            more[name](bad, Y, 1.0)
        with pytest.raises(InputError):
            more[name](Y, bad, 1.0)
    for eps in (0.0, -1.0, np.nan, np.inf, "small"):
        with pytest.raises(InputError, match="eps"):
            more[name](X, Y, eps)
