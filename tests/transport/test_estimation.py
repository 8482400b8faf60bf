"""Maps, intervals and rates: oracles S5.6 number 13 to 16 and the table of S5.5."""

import numpy as np
import pytest

from pushforward.errors import InputError
from pushforward.transport import (
    DistancePower,
    Gaussian,
    TorusDistance,
    bootstrap_interval,
    entropic_gaussian_value,
    entropic_interval,
    entropic_map,
    entropic_plan,
    gaussian_plugin_map,
    line_distance,
    nearest_neighbor_map,
    optimal_plan,
    permutation_test,
    sliced_distance,
    squared_distance_to_normal,
    transport_interval,
    wasserstein_distance,
)

pytest.importorskip("ot")
SCALES = np.array([0.5, 0.8, 1.0, 1.3, 1.6])


def slope(sizes, values):
    return np.polyfit(np.log(sizes), np.log(values), 1)[0]


def mean_w1(d, n, repeats, rng):
    draws = []
    for _ in range(repeats):
        x, y = rng.uniform(size=(2, n, d))
        if d == 1:
            draws.append(line_distance(x, y, p=1))
            continue
        draws.append(optimal_plan(x, y, cost=DistancePower(1.0)).cost)
    return np.mean(draws)


def w1_slope(d, sizes, repeats):
    rng = np.random.default_rng(d)
    values = [mean_w1(d, n, r, rng) for n, r in zip(sizes, repeats, strict=True)]
    return slope(sizes, values)


@pytest.mark.parametrize(("d", "expected"), [(3, -0.35), (5, -0.23)])
def test_s5_o13_rates_of_w1_up_to_800(d, expected):
    found = w1_slope(d, [100, 200, 400, 800], [20, 12, 8, 4])
    assert found == pytest.approx(expected, abs=0.04)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("d", "expected"), [(1, -0.50), (2, -0.46), (3, -0.35), (5, -0.23), (8, -0.15)]
)
def test_s5_o13_rates_of_w1(d, expected):
    """n = 100 to 1600; one draw varies most in low dimension, so those repeat more."""
    repeats = {1: [4000, 4000, 4000, 2000, 1000], 2: [800, 400, 200, 60, 24]}
    counts = repeats.get(d, [40, 24, 12, 6, 4])
    found = w1_slope(d, [100, 200, 400, 800, 1600], counts)
    assert found == pytest.approx(expected, abs=0.04)


def torus_fit(sizes, repeats, seed):
    """Slope and intercept of n E W_2^2 in log n, and the error of the slope."""
    rng = np.random.default_rng(seed)
    means, errors = [], []
    for n, r in zip(sizes, repeats, strict=True):
        draws = n * np.array(
            [
                optimal_plan(*rng.uniform(size=(2, n, 2)), cost=TorusDistance()).cost
                for _ in range(r)
            ]
        )
        means.append(draws.mean())
        errors.append(draws.std(ddof=1) / np.sqrt(r))
    (found, level), covariance = np.polyfit(
        np.log(sizes), means, 1, w=1 / np.array(errors), cov="unscaled"
    )
    return found, level, np.sqrt(covariance[0, 0])


def test_s5_o14_torus_slope_on_few_points():
    """n = 32 to 256: the slope of log n / (2 pi n) within three standard errors."""
    found, _, error = torus_fit([32, 64, 128, 256], [300, 200, 100, 40], seed=1)
    assert error < 0.03
    assert found == pytest.approx(1 / (2 * np.pi), abs=3 * error)


@pytest.mark.slow
def test_s5_o14_torus_slope_in_log_n():
    """n = 64 to 2048: slope 1/(2 pi) in the limit; the notes measure .1484, .177."""
    sizes, repeats = [64, 128, 256, 512, 1024, 2048], [1600, 800, 400, 160, 60, 16]
    found, level, error = torus_fit(sizes, repeats, seed=0)
    assert error < 0.01
    assert found == pytest.approx(1 / (2 * np.pi), abs=0.02)
    assert level == pytest.approx(0.177, abs=0.1)


@pytest.mark.parametrize("sizes", [[50, 100, 200, 400], [50, 100, 200, 400, 800]])
@pytest.mark.slow
def test_s5_o15_entropic_rate_does_not_know_the_dimension(sizes):
    """RMSE of the entropic value, d = 5, eps = 5: slope between -.65 and -.4."""
    d, eps = 5, 5.0
    mu, nu = Gaussian(np.zeros(d), np.eye(d)), Gaussian(np.ones(d), np.eye(d))
    truth = entropic_gaussian_value(mu, nu, eps)
    rng = np.random.default_rng(1)
    errors = []
    for n in sizes:
        draws = [
            entropic_plan(
                rng.standard_normal((n, d)), rng.standard_normal((n, d)) + 1, eps,
                tol=1e-6,
            ).value
            for _ in range(24)
        ]  # fmt: skip
        errors.append(np.sqrt(np.mean((np.array(draws) - truth) ** 2)))
    assert -0.65 < slope(sizes, errors) < -0.4


def test_s5_o16_sliced_rate():
    rng = np.random.default_rng(2)
    sizes = [100, 200, 400, 800, 1600]
    values = [
        np.mean(
            [
                sliced_distance(
                    *rng.standard_normal((2, n, 8)), p=1, projections=60, seed=k
                ).power
                for k in range(24)
            ]
        )
        for n in sizes
    ]
    assert slope(sizes, values) == pytest.approx(-0.495, abs=0.04)


def map_error(T, seed=9):
    x = np.random.default_rng(seed).standard_normal((2000, 5))
    return np.mean(np.sum((T(x) - x * SCALES) ** 2, axis=1))


def test_s5_5_map_estimators_at_n_400():
    """Measured in the notes: 1-NN 1.82, entropic .47, Gaussian plug-in .072."""
    rng = np.random.default_rng(0)
    n = 400
    errors = []
    for _ in range(3):
        x, y = rng.standard_normal((n, 5)), rng.standard_normal((n, 5)) * SCALES
        errors.append(
            [
                map_error(nearest_neighbor_map(x, y)),
                map_error(entropic_map(x, y, 2 * n ** (-1 / 7), tol=1e-6)),
                map_error(gaussian_plugin_map(x, y)),
            ]
        )
    nearest, entropic, gaussian = np.mean(errors, axis=0)
    assert nearest == pytest.approx(1.82, rel=0.15)
    assert entropic == pytest.approx(0.47, rel=0.2)
    assert gaussian == pytest.approx(0.072, rel=0.5)


def test_maps_need_queries_of_their_dimension():
    x, y = np.random.default_rng(0).standard_normal((2, 10, 3))
    for T in (nearest_neighbor_map(x, y), entropic_map(x, y, 1.0)):
        assert T(np.zeros((4, 3))).shape == (4, 3)
        with pytest.raises(InputError, match="3 columns"):
            T(np.zeros((4, 2)))


def test_central_limit_interval_covers():
    """N(0,1) sampled, N(1,1) known: the limit of n Var is 4, the truth is 1."""
    rng = np.random.default_rng(3)
    from scipy.stats import norm

    n = 500
    grid = norm.ppf((np.arange(400) + 0.5) / 400, 1.0, 1.0)[:, None]
    truth = squared_distance_to_normal(grid)  # of the gridded target, from N(0, 1)
    covered, errors = 0, []
    for _ in range(60):
        interval = transport_interval(
            rng.standard_normal((n, 1)), grid, target_known=True
        )
        covered += interval.lower <= truth <= interval.upper
        errors.append(interval.standard_error)
    assert np.mean(errors) == pytest.approx(np.sqrt(4 / n), rel=0.1)
    assert covered >= 50  # 95 % nominal; below 50 of 60 has probability 1e-3


def test_two_samples_widen_the_interval():
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((100, 2)), rng.standard_normal((100, 2)) + 1
    known = transport_interval(x, y, target_known=True)
    sampled = transport_interval(x, y)
    assert sampled.standard_error > 1.2 * known.standard_error
    assert sampled.estimate == known.estimate
    soft = entropic_interval(x, y, 1.0)
    assert soft.lower < soft.estimate < soft.upper


def test_bootstrap_agrees_with_the_central_limit():
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((150, 1)), rng.standard_normal((150, 1)) + 2

    def squared(u, v):
        return wasserstein_distance(u, v) ** 2

    by_limit = transport_interval(x, y)
    by_resampling = bootstrap_interval(squared, x, y, resamples=100, seed=0)
    assert by_resampling.standard_error == pytest.approx(
        by_limit.standard_error, rel=0.25
    )
    again = bootstrap_interval(squared, x, y, resamples=100, seed=0)
    assert again == by_resampling


def test_permutation_test_separates_wine_cultivars():
    datasets = pytest.importorskip("sklearn.datasets")
    wine = datasets.load_wine()
    z = (wine.data - wine.data.mean(0)) / wine.data.std(0)
    first, second = z[wine.target == 0], z[wine.target == 1]
    assert permutation_test(
        wasserstein_distance, first, second, permutations=39, seed=0
    ) == pytest.approx(1 / 40)
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(first)
    p_value = permutation_test(
        wasserstein_distance, shuffled[:29], shuffled[29:58], permutations=39, seed=1
    )
    assert p_value > 0.05


def test_interval_options_are_checked():
    x = np.zeros((5, 1))
    with pytest.raises(InputError, match="level"):
        transport_interval(x, x + 1, level=1.5)
    with pytest.raises(InputError, match="resamples"):
        bootstrap_interval(wasserstein_distance, x, x, resamples=3, seed=0)
    with pytest.raises(InputError, match="size"):
        bootstrap_interval(wasserstein_distance, x, x, size=100, seed=0)
    with pytest.raises(InputError, match="permutations"):
        permutation_test(wasserstein_distance, x, x, permutations=3, seed=0)
    with pytest.raises(InputError, match="two points"):
        transport_interval(np.zeros((1, 1)), x)
