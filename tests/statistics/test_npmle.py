"""The certified solver against the oracles S1.6 of the notes."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from pushforward.errors import InputError, NumericalError
from pushforward.functionals import minimize
from pushforward.spaces import Euclidean
from pushforward.statistics.galaxies import galaxy_velocities
from pushforward.statistics.mixtures import (
    ColumnGeneration,
    MixtureLikelihood,
    em,
    npmle,
    wfr,
)

GALAXIES = galaxy_velocities() / 1000
L_STAR = 2.431004409472182


def run_a() -> np.ndarray:
    """Reference run A of the notes: 1500 points around seven centers."""
    rng = np.random.default_rng(2023)
    angle = 2 * np.pi * np.arange(6) / 6
    centers = np.append(3 * np.stack([np.cos(angle), np.sin(angle)], 1), [[0, 0]], 0)
    z = rng.integers(0, 7, 1500)
    return centers[z] + rng.standard_normal((1500, 2))


@pytest.mark.parametrize(
    ("a", "expected"), [(0.9, 1.3239385332046727), (1.0, 1.4189385332046727)]
)
def test_s1_o1_two_close_points_have_one_atom(a, expected):
    fit = npmle(np.array([-a, a]))
    assert fit.loss == pytest.approx(expected, abs=1e-12)
    assert fit.atoms.shape == (1, 1)
    assert abs(fit.atoms[0, 0]) < 1e-8


@pytest.mark.parametrize(
    ("a", "m", "expected"),
    [
        (1.2, 1.0006871269888091, 1.5452494291334333),
        (2.0, 1.9986513460302164, 1.6117494028535475),
    ],
)
def test_s1_o2_two_far_points_have_two_atoms(a, m, expected):
    fit = npmle(np.array([-a, a]))
    root = brentq(lambda u: u - a * np.tanh(a * u), 0.1, a, xtol=1e-15)
    assert root == pytest.approx(m, abs=1e-12)
    np.testing.assert_allclose(fit.atoms[:, 0], [-m, m], atol=1e-8)
    np.testing.assert_allclose(fit.weights, [0.5, 0.5], atol=1e-8)
    assert fit.loss == pytest.approx(expected, abs=1e-11)


def test_s1_o3_galaxies():
    npmle(GALAXIES)  # the first call pays for imports
    start = time.perf_counter()
    fit = npmle(GALAXIES)
    assert time.perf_counter() - start < 1
    assert fit.loss == pytest.approx(L_STAR, abs=1e-9)
    assert fit.log_likelihood == pytest.approx(-199.34236157671893, abs=1e-7)
    assert 0 <= fit.gap < 1e-9
    atoms = [9.71014, 16.17517, 20.00184, 23.10357, 26.23073, 33.04433]
    weights = [0.08537, 0.02461, 0.46637, 0.34827, 0.03879, 0.03659]
    np.testing.assert_allclose(fit.atoms[:, 0], atoms, atol=1e-4)
    np.testing.assert_allclose(fit.weights, weights, atol=1e-4)


@pytest.mark.parametrize(
    ("sigma", "expected", "count"),
    [(0.5, 3.0156757559121923, 12), (2.0, 1.8861416622653242, 4)],
)
def test_s1_o4_known_noise_scale(sigma, expected, count):
    fit = npmle(GALAXIES, covariance=sigma**2)
    assert fit.loss - np.log(sigma) == pytest.approx(expected, abs=1e-8)
    assert len(fit.atoms) == count
    assert fit.gap < 1e-9


def test_s1_o5_a_grid_is_biased_upward():
    """Weights alone on 1000 grid points: the grid value, above the NPMLE."""
    from pushforward.statistics.mixtures._likelihood import log_kernel
    from pushforward.statistics.mixtures._polish import optimal_weights

    grid = np.linspace(GALAXIES.min(), GALAXIES.max(), 1000)[:, None]
    table = log_kernel(GALAXIES[:, None], grid)
    p = np.full(82, 1 / 82)
    w = optimal_weights(table.T, p, np.full(1000, 1e-3))
    value = -p @ np.log(np.exp(table) @ w)
    assert value == pytest.approx(2.43101171734, abs=1e-7)


def test_s1_o6_three_components():
    rng = np.random.default_rng(0)
    z = rng.choice(3, 500, p=[0.3, 0.4, 0.3])
    x = np.array([-3, 0, 3])[z] + rng.standard_normal(500)
    fit = npmle(x)
    assert fit.loss == pytest.approx(2.261471993201029, abs=1e-9)
    atoms = [-3.04809, -0.02795, 2.92638, 3.49636]
    np.testing.assert_allclose(fit.atoms[:, 0], atoms, atol=1e-3)


@pytest.fixture(scope="module")
def fit_a():
    return npmle(run_a())


def test_s1_o7_run_a(fit_a):
    assert fit_a.loss == pytest.approx(4.2985016851, abs=1e-8)
    assert fit_a.gap < 1e-9
    assert len(fit_a.atoms) == 16


def test_certificate_holds_off_the_search_grid(fit_a):
    """D <= 1 on a finer grid than the one searched, and D = 1 at the atoms."""
    axis = np.linspace(-6, 6, 150)
    nodes = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    assert fit_a.optimality(nodes).max() <= 1 + 1e-9
    np.testing.assert_allclose(fit_a.optimality(fit_a.atoms), 1, atol=1e-9)


@pytest.mark.parametrize("method", [wfr(30), wfr(30, 0.1), em(7)])
def test_s1_o10_gap_bounds_the_excess(method):
    fit = npmle(GALAXIES, method=method)
    assert -1e-12 <= fit.loss - L_STAR <= fit.gap + 1e-12


def test_known_covariance_is_an_affine_change_of_variables():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((120, 2)) * [3.0, 1.5]
    factor = np.array([[2.0, 0.0], [0.7, 0.5]])
    plain = npmle(x)
    colored = npmle(x @ factor.T + [5.0, -1.0], covariance=factor @ factor.T)
    assert colored.loss == pytest.approx(plain.loss + np.log(2.0 * 0.5), abs=1e-9)
    moved = np.sort(plain.atoms @ factor.T + [5.0, -1.0], axis=0)
    np.testing.assert_allclose(np.sort(colored.atoms, axis=0), moved, atol=1e-5)


def test_duplication_equals_weight():
    twice = npmle(np.concatenate([GALAXIES, GALAXIES[:5]]))
    weighted = npmle(GALAXIES, weights=np.where(np.arange(82) < 5, 2.0, 1.0))
    assert twice.loss == pytest.approx(weighted.loss, abs=1e-12)
    assert twice.log_likelihood == pytest.approx(weighted.log_likelihood, abs=1e-9)


def test_higher_dimension_is_certified():
    rng = np.random.default_rng(5)
    fit = npmle(rng.standard_normal((150, 4)) * 1.4)
    assert fit.gap < 1e-9
    np.testing.assert_allclose(fit.optimality(fit.atoms), 1, atol=1e-8)


def test_tweedie_posterior_mean_is_the_score():
    """E[location | x] = x + grad log f(x), by central differences."""
    fit = npmle(GALAXIES)
    x, h = np.linspace(8, 35, 40)[:, None], 1e-5
    score = (fit.log_density(x + h) - fit.log_density(x - h)) / (2 * h)
    np.testing.assert_allclose(fit.denoise(x), x + score[:, None], atol=1e-7)


def test_density_integrates_to_one_and_labels_follow_atoms():
    fit = npmle(GALAXIES, covariance=0.25)
    x = np.linspace(0, 45, 20001)
    assert np.trapezoid(fit.density(x), x) == pytest.approx(1, abs=1e-10)
    np.testing.assert_array_equal(fit.assign(fit.atoms), np.arange(len(fit.atoms)))
    np.testing.assert_allclose(fit.posterior(x).sum(axis=1), 1, atol=1e-12)


def test_far_outlier_is_no_overflow():
    fit = npmle(np.append(GALAXIES, 5000.0))
    assert fit.gap < 1e-9
    assert fit.atoms[-1, 0] == pytest.approx(5000.0, abs=1e-6)
    stalled = npmle(np.append(GALAXIES, 5000.0), method=wfr(1))
    assert np.isfinite(stalled.gap)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(-60, 60), min_size=1, max_size=12),
    st.floats(0.05, 20),
)
def test_any_small_sample_is_certified(values, variance):
    fit = npmle(np.array(values), covariance=variance)
    assert fit.gap <= 1e-6
    assert fit.weights.sum() == pytest.approx(1, abs=1e-12)
    assert (fit.weights > 0).all()


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (np.array([]), {}, "shape"),
        (np.zeros((3, 2, 2)), {}, "shape"),
        (np.array([1.0, np.nan, 2.0]), {}, "row 1"),
        (np.array(["a", "b"]), {}, "numbers"),
        (GALAXIES, {"covariance": -1.0}, "positive definite"),
        (GALAXIES, {"covariance": np.eye(2)}, "covariance"),
        (GALAXIES, {"covariance": np.nan}, "finite"),
        (GALAXIES, {"covariance": "x"}, "covariance"),
        (GALAXIES, {"weights": np.ones(3)}, "weights"),
        (GALAXIES, {"weights": -np.ones(82)}, "weights"),
        (GALAXIES * 1e9, {}, "units"),
        (np.zeros((4, 2)), {"covariance": [[1.0, 0.5], [0.0, 1.0]]}, "symmetric"),
    ],
)
def test_bad_input_is_named(data, options, message):
    with pytest.raises(InputError, match=message):
        npmle(data, **options)


def test_solver_options_are_checked_and_failure_carries_the_partial_answer():
    with pytest.raises(InputError, match="tol"):
        ColumnGeneration(tol=0)
    with pytest.raises(InputError, match="rounds"):
        ColumnGeneration(rounds=0)
    with pytest.raises(NumericalError, match="raise rounds") as caught:
        scattered = np.random.default_rng(0).uniform(-4, 4, (200, 3))
        npmle(scattered, method=ColumnGeneration(rounds=1))
    assert len(caught.value.partial[0]) > 0


def test_wrong_query_shape_suggests_the_transpose():
    fit = npmle(np.arange(6.0).reshape(3, 2))
    with pytest.raises(InputError, match="transpose"):
        fit.denoise(np.zeros((2, 5)))


def test_minimize_over_measures_is_the_npmle():
    """One solver for convex problems over measures: the same atoms, by either door."""
    x = galaxy_velocities()[:, None] / 1000
    best = minimize(MixtureLikelihood(x), Euclidean(1))
    fit = npmle(x)
    assert best.certified and best.value == pytest.approx(fit.loss, abs=1e-10)
    np.testing.assert_allclose(best.positions, fit.atoms, atol=1e-5)
    assert best.multiplier == pytest.approx(-1, abs=1e-12)  # int D dmu = 1 always
    assert best.excess(np.linspace(5, 40, 50)[:, None]).min() > -1e-9
    assert best.slope < 1e-6 and best.curvature.min() > 0
    with pytest.raises(InputError, match=r"Euclidean\(1\)"):
        minimize(MixtureLikelihood(x), Euclidean(2))
