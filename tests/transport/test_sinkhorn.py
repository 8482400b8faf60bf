"""Sinkhorn by sums: tables, limits, finite differences, and its own bounds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError, NumericalError
from pushforward.transport import (
    CostTable,
    InnerProduct,
    SquaredDistance,
    entropic_plan,
    optimal_plan,
    sinkhorn_divergence,
    sinkhorn_divergences,
    unbalanced_plan,
    wasserstein_distance,
)

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((12, 2)), RNG.standard_normal((15, 2)) + 0.5
A, B = RNG.dirichlet(np.ones(12)), RNG.dirichlet(np.ones(15))
TABLE = CostTable(SquaredDistance()(X, Y))
EPS = 0.3


def objective(matrix, eps=EPS, a=A, b=B, table=TABLE.table):
    """<C, P> + eps KL(P | a b^T), from the whole matrix."""
    safe = np.where(matrix > 0, matrix, 1.0)
    entropy = np.sum(matrix * (np.log(safe) - np.log(np.outer(a, b))))
    return np.sum(matrix * table) + eps * entropy


@pytest.fixture(scope="module")
def plan():
    return entropic_plan((X, A), (Y, B), EPS)


def test_sums_and_tables_agree(plan):
    table = entropic_plan((X, A), (Y, B), EPS, cost=TABLE)
    np.testing.assert_allclose(plan.dense(), table.dense(), atol=1e-11)
    assert plan.cost == pytest.approx(table.cost, abs=1e-10)
    assert plan.value == pytest.approx(objective(table.dense()), abs=1e-10)
    assert -1e-13 < plan.gap < 1e-10 * EPS
    h = RNG.standard_normal((15, 3))
    np.testing.assert_allclose(plan.apply(h), (plan.dense() @ h) / A[:, None])
    back = plan.reversed()
    np.testing.assert_allclose(back.dense(), plan.dense().T, atol=1e-15)
    assert max(plan.marginal_errors) < 1e-14
    with pytest.raises(InputError, match="table"):
        table.gradient()


def test_compiled_sums_agree_with_the_table():
    """With 160,000 pairs the sums are those of the compiled rows."""
    x, y = RNG.standard_normal((2, 400, 3))
    table = SquaredDistance()(x, y)
    sums = entropic_plan(x, y, 0.5)
    other = entropic_plan(x, y, 0.5, cost=CostTable(table))
    assert sums.value == pytest.approx(other.value, abs=1e-10)
    np.testing.assert_allclose(sums.map, other.map, atol=1e-8)


def test_bounds_hold_wherever_the_iteration_stops(plan):
    """The true minimum lies between, and the plan attains no more than `value`."""
    for most in (3, 8):
        with pytest.raises(NumericalError) as caught:
            entropic_plan((X, A), (Y, B), EPS, iterations=most)
        early = caught.value.partial
        assert early.residual > 1e-4
        assert early.dual < plan.dual < objective(early.dense()) <= early.value
        assert max(early.marginal_errors) < 1e-14


def test_steps_are_few():
    """eps = 0.02 takes plain iterations thousands of steps to 1e-8."""
    plan = entropic_plan((X, A), (Y, B), 0.02, tol=1e-8)
    assert plan.gap < 1e-8 * 0.02
    assert plan.iterations < 400


def test_atoms_without_mass_change_nothing(plan):
    more = np.vstack([X, [[7.0, 7.0]]]), np.append(A, 0.0)
    padded = entropic_plan(more, (Y, B), EPS)
    assert padded.value == pytest.approx(plan.value, abs=1e-10)
    assert np.isfinite(padded.potentials[0]).all()
    assert np.isnan(padded.map[-1]).all()
    x, a = map(jnp.asarray, more)
    gradient = jax.grad(lambda x: sinkhorn_divergence(x, Y, EPS, a=a, b=B))(x)
    assert float(jnp.abs(gradient[-1]).max()) == 0.0
    assert np.isfinite(np.asarray(gradient)).all()


def test_a_warm_start_saves_steps(plan):
    again = entropic_plan((X, A), (Y, B), EPS, start=plan)
    assert again.iterations <= 2
    with pytest.raises(InputError, match="start"):
        entropic_plan((X, A), (Y, B), EPS, start=np.zeros(3))


def test_progress_is_told():
    told = []
    entropic_plan((X, A), (Y, B), EPS, progress=lambda k, e: told.append((k, e)))
    assert told[-1][0] >= told[0][0] > 0
    assert told[-1][1] < 1e-9


def test_large_and_small_eps_have_their_limits():
    product = A @ SquaredDistance()(X, Y) @ B
    loose = entropic_plan((X, A), (Y, B), 1e6)
    assert loose.cost == pytest.approx(product, rel=1e-5)
    tight = entropic_plan(X[:4], Y[:4], 1e-6)  # an assignment: nothing to blur
    assert tight.cost == pytest.approx(optimal_plan(X[:4], Y[:4]).cost, abs=1e-9)
    assert tight.gap < 1e-9


def test_a_divergence_that_is_no_answer_is_an_error():
    weights = {"a": A, "b": B}
    with pytest.raises(NumericalError, match="wrong place after 50") as caught:
        sinkhorn_divergence(X, Y, 1e-6, iterations=50, **weights)
    assert caught.value.partial.shape == ()
    with pytest.raises(NumericalError, match="in pair 1"):
        sinkhorn_divergences([X, X], [Y, Y], [1.0, 1e-6], iterations=50)
    traced = jax.jit(lambda x: sinkhorn_divergence(x, Y, 1e-6, b=B, iterations=50))
    assert np.isfinite(traced(X))


def test_inner_products_are_half_the_squared_distance(plan):
    inner = entropic_plan((X, A), (Y, B), EPS / 2, cost=InnerProduct())
    np.testing.assert_allclose(inner.dense(), plan.dense(), atol=1e-11)
    ends = A @ (X**2).sum(axis=1) + B @ (Y**2).sum(axis=1)
    assert 2 * inner.value + ends == pytest.approx(plan.value, abs=1e-10)


def test_gradient_of_a_plan_is_that_of_its_value(plan):
    h, bump = 1e-5, np.zeros_like(X)
    bump[3, 1] = h
    up, down = (entropic_plan((X + s * bump, A), (Y, B), EPS).value for s in (1, -1))
    assert plan.gradient()[3, 1] == pytest.approx((up - down) / (2 * h), abs=1e-6)
    pushed = plan.reversed().gradient().sum(axis=0)
    np.testing.assert_allclose(plan.gradient().sum(axis=0), -pushed, atol=1e-10)


def test_hessian_products_match_differences_of_gradients():
    x, y, a = map(jnp.asarray, (X, Y, A))
    gradient = jax.jit(
        jax.grad(
            lambda x, a: sinkhorn_divergence(x, y, EPS, a=a, b=B, tol=1e-13), (0, 1)
        )
    )
    v = jnp.asarray(RNG.standard_normal(X.shape))
    tilt = jnp.zeros(12).at[0].set(1.0).at[1].set(-1.0)
    forward = jax.jvp(gradient, (x, a), (v, 0.01 * tilt))[1]
    h = 1e-4
    up, down = (gradient(x + s * h * v, a + s * h * 0.01 * tilt) for s in (1, -1))
    np.testing.assert_allclose(forward[0], (up[0] - down[0]) / (2 * h), atol=1e-5)
    slope = (up[1] - down[1]) / (2 * h)  # potentials are known up to a constant
    np.testing.assert_allclose(
        forward[1] - forward[1][0], slope - slope[0], atol=1e-5, rtol=1e-5
    )


@pytest.mark.slow
def test_hessian_products_are_the_same_backward():
    x, y = map(jnp.asarray, (X, Y))
    v = jnp.asarray(RNG.standard_normal(X.shape))
    gradient = jax.grad(lambda x: sinkhorn_divergence(x, y, EPS, tol=1e-13))
    forward = jax.jvp(gradient, (x,), (v,))[1]
    backward = jax.vjp(gradient, x)[1](v)[0]
    np.testing.assert_allclose(backward, forward, atol=1e-9)


def test_divergence_of_measures_is_never_negative():
    mu = pf.Particles.uniform(pf.Sphere(3), 12, key=jax.random.key(0))
    nu = pf.Particles(pf.Sphere(3), mu.points[::-1], mu.weights)
    for eps in (0.01, 1.0, 100.0):
        assert 0 <= float(sinkhorn_divergence(mu, nu, eps)) < 1e-10
    with pytest.raises(InputError, match="brings its own"):
        sinkhorn_divergence(mu, nu, 1.0, a=mu.weights)
    with pytest.raises(InputError, match="brings its own"):
        sinkhorn_divergence(mu, nu, 1.0, b=mu.weights)


def test_a_word_is_no_cost():
    mu = pf.Particles.uniform(pf.Sphere(3), 12, key=jax.random.key(0))
    for call in (
        lambda: entropic_plan(mu, mu, 1.0, cost="sphere"),
        lambda: unbalanced_plan(mu, mu, 1.0, 1.0, cost="sphere"),
        lambda: optimal_plan(mu, mu, cost="sphere"),
        lambda: wasserstein_distance(mu, mu, cost="sphere"),
    ):
        with pytest.raises(InputError, match="SquaredDistance"):
            call()
