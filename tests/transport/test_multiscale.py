"""Exact transport of many points, by rounds that see few pairs."""

import numpy as np
import pytest

from pushforward.errors import NumericalError
from pushforward.transport import (
    InnerProduct,
    SphereDistance,
    SquaredDistance,
    line_distance,
    optimal_plan,
    wasserstein_distance,
)

ot = pytest.importorskip("ot")
RNG = np.random.default_rng(0)


@pytest.fixture
def few_pairs(monkeypatch):
    """Rounds for every problem, as for one of many points."""
    monkeypatch.setattr("pushforward.transport.exact._exact.MANY_PAIRS", 0)
    monkeypatch.setattr("pushforward.transport.exact._exact.LARGEST_TABLE", 0)


def weighted(n, d):
    x = RNG.standard_normal((n, d))
    return x, RNG.dirichlet(np.ones(n))


def proved(plan, cost):
    """The plan's own claims, from the table of all costs."""
    (x, a), (y, b) = ((m.points, m.weights) for m in (plan.source, plan.target))
    table, (f, g) = cost(x, y), plan.potentials
    assert (f[:, None] + g - table).max() < 1e-12
    matrix = plan.dense()
    assert matrix.min() >= 0
    np.testing.assert_allclose(matrix.sum(axis=1), a, atol=1e-14)
    np.testing.assert_allclose(matrix.sum(axis=0), b, atol=1e-14)
    total = np.sum(matrix * table)
    assert plan.cost == pytest.approx(total, abs=1e-13)
    assert plan.gap == pytest.approx(total - a @ f - b @ g, abs=1e-12)
    assert plan.gap < 1e-9 * abs(total) + 1e-12
    return table, a, b


@pytest.mark.parametrize(
    ("d", "cost"),
    [
        (1, SquaredDistance()),
        (2, SquaredDistance()),
        (3, InnerProduct()),
        (9, SquaredDistance()),
        (3, SphereDistance(2.0)),
        (3, SphereDistance(1.0)),
    ],
    ids=str,
)
def test_rounds_agree_with_the_whole_table(d, cost, few_pairs):
    (x, a), (y, b) = weighted(700, d), weighted(450, d)
    y = y + 0.5
    if isinstance(cost, SphereDistance):
        x, y = (z / np.linalg.norm(z, axis=1, keepdims=True) for z in (x, y))
    plan = optimal_plan((x, a), (y, b), cost=cost)
    table, a, b = proved(plan, cost)
    theirs = ot.emd2(a, b, table, numItermax=1_000_000)
    assert plan.cost == pytest.approx(theirs, rel=1e-9)
    assert plan.matrix.nnz <= 700 + 450 - 1


def test_atoms_without_mass_and_many_in_one_place(few_pairs):
    x, y = np.repeat(RNG.standard_normal((2, 40, 2)), 15, axis=1)
    a = RNG.dirichlet(np.ones(600))
    a[::3] = 0
    plan = optimal_plan((x, a / a.sum()), y)
    proved(plan, SquaredDistance())
    assert np.isnan(plan.map[0]).all()
    assert not np.isnan(plan.map[1]).any()


def test_a_cloud_with_itself_costs_nothing(few_pairs):
    x = RNG.standard_normal((1500, 2))
    plan = optimal_plan(x, x[::-1])
    assert abs(plan.cost) < 1e-14
    assert plan.iterations < 10


def test_thousands_of_points_are_solved_so_by_themselves():
    """On a line the answer is known by sorting."""
    x, y = RNG.standard_normal((3_000, 1)), RNG.gamma(2.0, size=(2_500, 1))
    told = []
    plan = optimal_plan(x, y, progress=lambda count, gap: told.append(gap))
    assert plan.cost == pytest.approx(line_distance(x, y) ** 2, rel=1e-9)
    assert told[-1] == plan.gap
    assert len(told) == plan.iterations
    assert plan.matrix.nnz < 5_500


def test_a_stopped_simplex_says_so(few_pairs):
    x, y = RNG.standard_normal((2, 600, 2))
    with pytest.raises(NumericalError, match="Raise pivots"):
        optimal_plan(x, y, pivots=30)


def test_without_a_compiler_the_whole_table_is_taken(monkeypatch):
    x, y = RNG.standard_normal((2, 300, 2))
    monkeypatch.setattr("pushforward.transport.exact._exact.MANY_PAIRS", 0)
    few = optimal_plan(x, y)
    monkeypatch.setattr("pushforward.transport.exact._exact.available", lambda: False)
    whole = optimal_plan(x, y)
    assert isinstance(whole.matrix, np.ndarray)
    assert not isinstance(few.matrix, np.ndarray)
    assert few.cost == pytest.approx(whole.cost, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_do_not_matter(scale, few_pairs):
    x, y = RNG.standard_normal((2, 500, 2))
    plan = optimal_plan(scale * x, scale * (y + 50.0))
    assert plan.cost == pytest.approx(scale**2 * optimal_plan(x, y + 50.0).cost)
    assert max(plan.marginal_errors) < 1e-12


@pytest.mark.slow
def test_a_shift_of_twenty_thousand_points_in_the_plane():
    """Transport by a gradient of a convex function is optimal, whatever the points."""
    x = RNG.standard_normal((20_000, 2))
    y = x @ np.array([[1.0, 0.3], [0.3, 0.5]]) + [1.0, -2.0]
    exact = np.sqrt(np.mean(np.sum((x - y) ** 2, axis=1)))
    order = RNG.permutation(len(y))
    assert wasserstein_distance(x, y[order]) == pytest.approx(exact, rel=1e-9)
