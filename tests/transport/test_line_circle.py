"""The line, the circle and slices: exact against the general solver and theory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from scipy.stats import wasserstein_distance as scipy_w1

from pushforward.errors import InputError
from pushforward.transport import (
    CostTable,
    circle_distance,
    circle_plan,
    line_barycenter,
    line_distance,
    line_plan,
    optimal_plan,
    power_distance_to_uniform,
    sliced_distance,
    squared_distance_to_normal,
)

pytest.importorskip("ot")


def weighted(rng, n):
    return rng.uniform(0, 2 * np.pi, n), rng.dirichlet(np.ones(n))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1.0, 1.5, 2.0, 3.0]))
def test_line_and_circle_agree_with_the_simplex(seed, p):
    rng = np.random.default_rng(seed)
    (x, a), (y, b) = weighted(rng, 17), weighted(rng, 11)
    arc = np.abs(np.subtract.outer(x, y))
    for plan, table in (
        (line_plan((x, a), (y, b), p=p), arc**p),
        (circle_plan((x, a), (y, b), p=p), np.minimum(arc, 2 * np.pi - arc) ** p),
    ):
        exact = optimal_plan((x[:, None], a), (y[:, None], b), cost=CostTable(table))
        assert plan.cost == pytest.approx(exact.cost, abs=1e-11)
        assert abs(plan.gap) < 1e-11
        assert max(plan.marginal_errors) < 1e-12


@pytest.mark.parametrize(("n", "m"), [(100, 100), (100, 50), (1, 7)])
def test_equal_weights_on_the_circle_close_their_gap(n, m):
    """Every level meets another here: the degenerate case of the cut."""
    rng = np.random.default_rng(n + m)
    plan = circle_plan(rng.uniform(0, 6, n), rng.vonmises(0, 1, m))
    assert abs(plan.gap) < 1e-12


def test_circle_is_invariant_under_rotation_and_takes_vectors():
    rng = np.random.default_rng(0)
    (x, a), (y, b) = weighted(rng, 20), weighted(rng, 20)
    base = circle_distance((x, a), (y, b))
    assert circle_distance((x + 2.2, a), (y + 2.2, b)) == pytest.approx(base, abs=1e-9)
    vectors = [np.stack([np.cos(t), np.sin(t)], axis=1) for t in (x, y)]
    assert circle_distance((vectors[0], a), (vectors[1], b)) == pytest.approx(
        base, abs=1e-9
    )
    turned = circle_distance((x, a), (x + 0.3, a))
    assert turned <= 0.3 + 1e-9
    with pytest.raises(InputError, match="off the unit circle"):
        circle_plan(2 * vectors[0], vectors[1])


def test_line_agrees_with_scipy():
    rng = np.random.default_rng(1)
    (x, a), (y, b) = weighted(rng, 30), weighted(rng, 41)
    theirs = scipy_w1(x, y, a, b)
    assert line_distance((x, a), (y, b), p=1) == pytest.approx(theirs, abs=1e-12)


def test_line_plan_is_monotone_and_sparse():
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal(5000), rng.standard_normal(4000)
    plan = line_plan(x, y)
    assert plan.matrix.nnz <= 9000
    assert plan.gap is None  # too many pairs to check against
    order = np.argsort(x)
    assert (np.diff(plan.map[order, 0]) > -1e-9).all()


def test_s5_o1_mean_squared_distance_to_uniform():
    """E W_2^2 = 1 / (6 n) exactly: n = 1 by quadrature, n = 2, 3, 7 by moments."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    x, w = (nodes + 1) / 2, weights / 2
    one = sum(wi * power_distance_to_uniform([xi]) for xi, wi in zip(x, w, strict=True))
    assert one == pytest.approx(1 / 6, abs=1e-14)
    pairs = [(power_distance_to_uniform([s, t]), ws * wt)
             for s, ws in zip(x, w, strict=True) for t, wt in zip(x, w, strict=True)
             ]  # fmt: skip
    for n in (2, 3, 7):
        # order statistics: E U_(i) and E U_(i)^2 make the mean an exact sum
        i = np.arange(1, n + 1)
        first, second = i / (n + 1), i * (i + 1) / ((n + 1) * (n + 2))
        exact = np.sum(second / n - first * (2 * i - 1) / n**2) + 1 / 3
        assert exact == pytest.approx(1 / (6 * n), abs=1e-15)
    # the integrand is piecewise smooth with a kink on the diagonal only: 2 digits
    assert sum(v * w for v, w in pairs) == pytest.approx(1 / 12, abs=2e-3)


def test_s5_o1_by_simulation():
    """4000 draws: relative standard error about 1.3 %, so 8 % fails once in 1e9."""
    rng = np.random.default_rng(0)
    values = [power_distance_to_uniform(rng.uniform(size=7)) for _ in range(4000)]
    assert np.mean(values) == pytest.approx(1 / 42, rel=0.08)


def mean_w1_to_uniform(n):
    """E W_1 = int E|Bin(n, t) / n - t| dt, by De Moivre's formula for the mean."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    total = 0.0
    for k in range(n):
        t = (k + (nodes + 1) / 2) / n
        log_pmf = binom.logpmf(k + 1, n, t) - np.log(t)
        mean = 2 * (k + 1) * t * (1 - t) * np.exp(log_pmf) / n
        total += weights @ mean / (2 * n)
    return total


@pytest.mark.slow
@pytest.mark.parametrize(("n", "measured"), [(10, 0.3152), (100, 0.3130)])
def test_s5_o2_mean_distance_to_uniform(n, measured):
    limit = np.sqrt(2 / np.pi) * np.pi / 8
    assert limit == pytest.approx(0.3133285, abs=1e-7)
    exact = np.sqrt(n) * mean_w1_to_uniform(n)
    assert exact == pytest.approx(measured, abs=0.003)
    rng = np.random.default_rng(3)
    draws = np.sqrt(n) * np.array(
        [power_distance_to_uniform(rng.uniform(size=n), p=1) for _ in range(12_000)]
    )
    error = draws.std() / np.sqrt(12_000)
    assert draws.mean() == pytest.approx(exact, abs=4 * error)
    assert 4 * error < 0.006


def test_s5_o3_two_point_space():
    """W_1 of an empirical coin is |p_n - p|; its mean is a binomial sum."""
    p, n = 0.3, 4000
    two = np.array([[0.0], [1.0]])
    plan = optimal_plan(
        (two, [0.7, 0.3]), (two, [0.6, 0.4]), cost=CostTable(1 - np.eye(2))
    )
    assert plan.cost == pytest.approx(0.1, abs=1e-12)
    k = np.arange(n + 1)
    distances = [line_distance(([0.0, 1.0], [1 - j / n, j / n]),
                               ([0.0, 1.0], [1 - p, p]), p=1) for j in k
                 ]  # fmt: skip
    scaled = np.sqrt(n) * binom.pmf(k, n, p) @ np.array(distances)
    assert scaled == pytest.approx(np.sqrt(2 * p * (1 - p) / np.pi), abs=1e-3)


def test_s5_o4_variance_under_alternatives():
    """n Var W_2^2(mu_n, N(1, 1)) -> Var of the potential = 4; 1500 draws, 10 %."""
    rng = np.random.default_rng(1)
    n = 2000
    values = [
        squared_distance_to_normal(rng.standard_normal(n), mean=1.0)
        for _ in range(1500)
    ]
    assert n * np.var(values) == pytest.approx(4.0, rel=0.1)


def test_distance_to_normal_against_a_fine_discretization():
    from scipy.stats import norm

    rng = np.random.default_rng(2)
    x, w = rng.standard_normal(6), rng.dirichlet(np.ones(6))
    t = (np.arange(400_000) + 0.5) / 400_000
    fine = line_distance((x, w), norm.ppf(t, 0.5, 2.0)) ** 2
    exact = squared_distance_to_normal((x, w), mean=0.5, sd=2.0)
    assert exact == pytest.approx(fine, abs=1e-4)


def test_line_barycenter_averages_quantiles():
    t = np.array([0.1, 0.5, 0.9])
    middle = line_barycenter(
        [[0.0, 1.0, 2.0], [10.0, 20.0, 30.0]], t, weights=[0.5, 0.5]
    )
    np.testing.assert_allclose(middle, [5.0, 10.5, 16.0])
    with pytest.raises(InputError, match="levels"):
        line_barycenter([[0.0]], np.array([0.0]))
    with pytest.raises(InputError, match="empty"):
        line_barycenter([], t)


def test_s5_o12_sliced_between_gaussians():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20_000, 5))
    y = 2 * rng.standard_normal((20_000, 5)) + [1, 2, 0, 0, 0]
    sliced = sliced_distance(x, y, projections=400, seed=1)
    assert sliced.power == pytest.approx(2.0, abs=0.02)
    assert sliced.standard_error < 0.005


def test_directions_are_uniform_frames():
    """Second moments are I / d over whole frames; fourth ones 3 / (d (d + 2))."""
    from pushforward.transport.exact._line import directions

    u = directions(4, 40_000, seed=0)
    np.testing.assert_allclose(u.T @ u / len(u), np.eye(4) / 4, atol=1e-12)
    assert np.mean(u**4) == pytest.approx(3 / 24, abs=0.002)


def test_sliced_of_weights_is_sliced_of_copies():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((4, 3)), rng.standard_normal((6, 3))
    copies = np.repeat(x, [3, 1, 1, 1], axis=0)
    one = sliced_distance((x, np.array([3, 1, 1, 1]) / 6), y, p=1, seed=0)
    two = sliced_distance(copies, y, p=1, seed=0)
    assert one.power == pytest.approx(two.power, abs=1e-12)


def test_bad_input():
    with pytest.raises(InputError, match="one-dimensional"):
        line_plan(np.zeros((3, 2)), np.zeros(3))
    with pytest.raises(InputError, match="between 1 and 500"):
        line_plan([0.0], [1.0], p=0.5)
    with pytest.raises(InputError, match="row 1"):
        circle_plan([0.0, np.nan], [1.0])
