"""Exact plans: optimality certificates, invariances, and input that must not pass."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog

from pushforward.errors import InputError, NumericalError
from pushforward.transport import (
    CostTable,
    DistancePower,
    SphereDistance,
    SquaredDistance,
    TorusDistance,
    entropic_plan,
    optimal_plan,
    sliced_distance,
    unbalanced_plan,
    wasserstein_distance,
)

pytest.importorskip("ot")


class Cloud:
    """What a measure of the library looks like to transport."""

    def __init__(self, points, weights):
        self.points, self.weights = points, weights


def clouds(n=12, m=9, d=2, seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((n, d)), rng.standard_normal((m, d)) + 0.5
    return (x, rng.dirichlet(np.ones(n))), (y, rng.dirichlet(np.ones(m)))


def test_agrees_with_a_linear_program():
    (x, a), (y, b) = clouds()
    cost = SquaredDistance()(x, y)
    rows = np.kron(np.eye(12), np.ones(9))
    columns = np.kron(np.ones(12), np.eye(9))
    program = linprog(
        cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.append(a, b)
    )
    plan = optimal_plan((x, a), (y, b))
    assert plan.cost == pytest.approx(program.fun, abs=1e-10)
    assert abs(plan.gap) < 1e-12
    assert max(plan.marginal_errors) < 1e-14


def test_equal_weights_agree_with_an_assignment():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 60, 3))
    cost = DistancePower(1.0)(x, y)
    row, column = linear_sum_assignment(cost)
    assert wasserstein_distance(x, y, p=1) == pytest.approx(
        cost[row, column].mean(), abs=1e-12
    )


def test_potentials_are_feasible_and_tight_on_the_plan():
    mu, nu = clouds()
    plan = optimal_plan(mu, nu)
    f, g = plan.potentials
    slack = SquaredDistance()(mu[0], nu[0]) - f[:, None] - g
    assert slack.min() > -1e-12
    assert np.abs(slack[plan.matrix > 1e-12]).max() < 1e-12


def test_support_is_cyclically_monotone():
    """Optimality by definition: no pair of matched points gains by swapping."""
    mu, nu = clouds(seed=4)
    i, j = np.nonzero(optimal_plan(mu, nu).matrix > 1e-12)
    inner = mu[0][i] @ nu[0][j].T
    swap = np.diag(inner)[:, None] + np.diag(inner) - inner - inner.T
    assert swap.min() > -1e-10


def test_measures_pairs_and_arrays_are_the_same():
    (x, a), (y, b) = clouds()
    pair = optimal_plan((x, a), (y, b)).cost
    assert optimal_plan(Cloud(x, a), Cloud(y, b)).cost == pair
    uniform = optimal_plan(x, y).cost
    assert optimal_plan((x, np.full(12, 1 / 12)), y).cost == pytest.approx(uniform)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-3, 1e4))
def test_translation_and_scaling(seed, scale):
    (x, a), (y, b) = clouds(seed=seed)
    base = optimal_plan((x, a), (y, b)).cost
    scaled = optimal_plan((scale * x, a), (scale * y, b)).cost
    assert scaled == pytest.approx(scale**2 * base, rel=1e-9)
    shift = np.array([3.0, -1.0])
    moved = optimal_plan((x + shift, a), (x, a)).cost
    assert moved == pytest.approx(10.0, rel=1e-9)


def test_zero_weights_are_ignored():
    (x, a), nu = clouds()
    padded = np.vstack([x, [[100.0, 100.0]]]), np.append(a, 0.0)
    plan = optimal_plan(padded, nu)
    assert plan.cost == pytest.approx(optimal_plan((x, a), nu).cost, abs=1e-12)
    assert np.isnan(plan.map[-1]).all()
    assert abs(plan.gap) < 1e-10


def test_apply_is_a_conditional_mean():
    mu, nu = clouds()
    plan = optimal_plan(mu, nu)
    np.testing.assert_allclose(plan.apply(nu[0]), plan.map)
    np.testing.assert_allclose(plan.apply(np.ones(9)), 1.0)
    squares = plan.apply(lambda y: np.sum(y**2, axis=1))
    assert mu[1] @ squares == pytest.approx(nu[1] @ np.sum(nu[0] ** 2, axis=1))
    with pytest.raises(InputError, match="target atom"):
        plan.apply(np.ones(4))


def test_sphere_and_torus_costs():
    x = np.array([[1.0, 0, 0], [0, 1, 0]])
    y = np.array([[np.cos(1e-9), np.sin(1e-9), 0], [0, -1, 0]])
    table = SphereDistance(1.0)(x, y)
    np.testing.assert_allclose(
        table, [[1e-9, np.pi / 2], [np.pi / 2 - 1e-9, np.pi]], rtol=1e-12
    )
    torus = TorusDistance(1.0, 1.0)(np.array([[0.05, 0.5]]), np.array([[0.95, 0.5]]))
    assert torus[0, 0] == pytest.approx(0.1, abs=1e-14)
    with pytest.raises(InputError, match="off the unit sphere"):
        SphereDistance()(2 * x, y)
    with pytest.raises(InputError, match="`p` must be"):
        DistancePower(-1.0)
    with pytest.raises(InputError, match="period"):
        TorusDistance(0.0)


GOOD = np.zeros((3, 2))
BAD = {
    "nan": (np.array([[0.0, np.nan]]), "row 0"),
    "infinite": (np.array([[0.0, 1.0], [np.inf, 0.0]]), "row 1"),
    "empty": (np.zeros((0, 2)), "shape"),
    "flat": (np.zeros(4), r"\[:, None\]"),
    "text": (np.array([["a", "b"]]), "numbers"),
    "three axes": (np.zeros((2, 2, 2)), "shape"),
    "other dimension": (np.zeros((3, 5)), "one dimension"),
    "weights shape": ((GOOD, np.ones(2) / 2), "weights"),
    "negative": ((GOOD, np.array([1.5, -0.5, 0.0])), "non-negative"),
    "nan weights": ((GOOD, np.array([np.nan, 0.5, 0.5])), "finite"),
    "sum": ((GOOD, np.ones(3)), "sum to one"),
    "zero": ((GOOD, np.zeros(3)), "zero"),
}


@pytest.mark.parametrize("solver", [
    optimal_plan,
    lambda mu, nu: entropic_plan(mu, nu, 1.0),
    lambda mu, nu: sliced_distance(mu, nu, seed=0),
])  # fmt: skip
@pytest.mark.parametrize(("bad", "message"), list(BAD.values()), ids=list(BAD))
def test_bad_measures_never_reach_a_solver(solver, bad, message):
    with pytest.raises(InputError, match=message):
        solver(bad, GOOD)
    with pytest.raises(InputError, match=message):
        solver(GOOD, bad)


def test_bad_options_are_named():
    with pytest.raises(InputError, match="eps"):
        entropic_plan(GOOD, GOOD, 0.0)
    with pytest.raises(InputError, match="eps"):
        entropic_plan(GOOD, GOOD, "small")
    with pytest.raises(InputError, match="rho"):
        unbalanced_plan(GOOD, GOOD, 1.0, -1.0)
    with pytest.raises(InputError, match="table"):
        optimal_plan(GOOD, GOOD, cost=CostTable(np.full((3, 3), np.nan)))
    with pytest.raises(InputError, match="projections"):
        sliced_distance(GOOD, GOOD, projections=1, seed=0)
    with pytest.raises(InputError, match="GB"):
        big = np.zeros((40_000, 1))
        optimal_plan(big, big, cost=CostTable(np.zeros((1, 1))))


def test_a_stopped_simplex_is_an_error_with_the_partial_plan():
    rng = np.random.default_rng(0)
    with pytest.raises(NumericalError, match="Raise pivots") as caught:
        optimal_plan(*rng.standard_normal((2, 80, 2)), pivots=20)
    assert max(caught.value.partial.marginal_errors) > 1e-3


def test_particles_of_the_library_are_measures():
    import jax

    import pushforward as pf

    mu = pf.Particles.uniform(pf.Sphere(3), 20, key=jax.random.key(0))
    nu = pf.Particles.uniform(pf.Sphere(3), 20, key=jax.random.key(1))
    plan = optimal_plan(mu, nu, cost=SphereDistance(2.0))
    assert plan.cost > 0
    assert abs(plan.gap) < 1e-12
    assert optimal_plan(mu, mu, cost=SphereDistance(2.0)).cost == pytest.approx(0)


def test_wasserstein_distance_is_that_of_the_space():
    """Arcs on the circle and the sphere, as `space.distance`; chords when asked for."""
    import pushforward as pf
    from pushforward.transport import circle_distance

    circle, angles = pf.Circle(), np.array([0.1, 1.0, 2.7, 4.0])
    mu = pf.Particles(circle, circle.points(angles))
    nu = pf.Particles(circle, circle.points(angles + np.pi / 2), [0.1, 0.2, 0.3, 0.4])
    for p in (1.0, 2.0, 3.0):
        arcs = wasserstein_distance(mu, nu, p=p)
        assert arcs == pytest.approx(circle_distance(mu, nu, p=p), abs=1e-12)
    ends = [pf.Particles(pf.Sphere(3), [x]) for x in ([0, 0, 1.0], [0, 1.0, 0])]
    assert wasserstein_distance(*ends) == pytest.approx(np.pi / 2, abs=1e-14)
    chord = wasserstein_distance(*ends, cost=SquaredDistance())
    assert chord == pytest.approx(np.sqrt(2), abs=1e-14)
    plane = [pf.Particles(pf.Euclidean(3), m.points) for m in ends]
    assert wasserstein_distance(*plane) == pytest.approx(np.sqrt(2), abs=1e-14)
    both = pf.Product([pf.Circle(), pf.Euclidean(1)])
    pair = [pf.Particles(both, [x]) for x in ([1.0, 0, 0], [0, 1.0, 2.0])]
    right = np.hypot(np.pi / 2, 2)
    assert wasserstein_distance(*pair) == pytest.approx(right, abs=1e-14)


def test_measures_of_two_spaces_have_no_distance():
    import pushforward as pf

    points = np.array([[0.0, 0.0, 1.0]])
    mu, nu = (pf.Particles(s, points) for s in (pf.Sphere(3), pf.Euclidean(3)))
    with pytest.raises(InputError, match="mu lives on Sphere.* and nu on Euclidean"):
        wasserstein_distance(mu, nu)


anything = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(anything, min_size=2, max_size=2), min_size=0, max_size=4),
    st.lists(anything, min_size=0, max_size=4),
)
def test_any_input_gives_a_certified_plan_or_our_error(points, weights):
    mu = (np.array(points, dtype=float).reshape(-1, 2), np.array(weights))
    try:
        plan = optimal_plan(mu, GOOD)
    except (InputError, NumericalError):
        return
    assert np.isfinite(plan.cost)
    assert max(plan.marginal_errors) < 1e-6
