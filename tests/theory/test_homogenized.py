"""Random weights in closed form: oracles M5-1, M5-2, M5-4 and the slow clock."""

import numpy as np
import pytest

from pushforward.errors import InputError
from pushforward.theory import homogenized, homogenized_pair

G = np.array([[1.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 1.0]])


@pytest.mark.parametrize(
    "d, means",
    [
        (2, (0.0, 0.0, 0.0)),
        (3, (0.0747139831, 0.136708, None)),
        (8, (0.1776140776, 0.332838552, 0.57405)),
        (64, (0.2362653048, 0.4456504184, 0.740794)),
    ],
)
def test_m5_1_exact_pair(d, means):
    for s, mean in zip((0.5, 1.0, 2.0), means, strict=True):
        if mean is not None:
            digits = 1e-9 if s == 0.5 else 2e-6
            assert homogenized_pair.pair_mean(s, d) == pytest.approx(mean, abs=digits)


def test_pair_moments_have_the_right_derivatives():
    """d/ds of E R and E R^2 at 0 are the drift and the bracket of the Gram matrix."""
    r, d, h = 0.4, 5, 1e-6
    gram, s = np.array([[1, r], [r, 1]]), np.full((2, 2), (1 + r) / 2)
    drift = homogenized.gram_drift(gram, s, d)[0, 1]
    bracket = homogenized.gram_covariance(gram, s, d)[0, 1, 0, 1]
    first = homogenized_pair.pair_expectation(lambda x: x, h, d, r) - r
    second = homogenized_pair.pair_expectation(lambda x: x**2, h, d, r) - r**2
    assert first / h == pytest.approx(drift, rel=1e-5)
    assert second / h == pytest.approx(2 * r * drift + bracket, rel=1e-5)


def test_m5_2_simplex_moments_and_both_drifts():
    f, g = homogenized.simplex_moments(0.2, 4, 8, 0.5, draws=20_000, seed=0)
    # 20,000 draws of bounded numbers: errors near 6e-4, four of them
    assert f == pytest.approx(0.4366, abs=2.5e-3)
    assert g == pytest.approx(0.2843, abs=2.5e-3)
    assert homogenized.simplex_drift(0.2, 0.4366, 0.2843, 8) == pytest.approx(
        0.2266, abs=1e-4
    )
    assert homogenized.simplex_drift_limit(0.2, 0.4366, 0.2843) == pytest.approx(
        0.3176, abs=1e-4
    )


def test_simplex_drift_is_the_gram_drift_of_a_simplex():
    gamma, n, d = 0.3, 4, 8
    gram = (1 - gamma) * np.eye(n) + gamma
    s, error = homogenized.barycenter_gram(gram, d, 0.5, draws=4000, seed=1)
    f, g = homogenized.simplex_moments(gamma, n, d, 0.5, draws=4000, seed=1)
    off = ~np.eye(n, dtype=bool)
    assert s[off].mean() == pytest.approx(gamma + (1 - gamma) * g, abs=1e-12)
    assert np.diag(s).mean() == pytest.approx(gamma + (1 - gamma) * f, abs=1e-12)
    drift = homogenized.gram_drift(gram, s, d)[off].mean()
    assert drift == pytest.approx(homogenized.simplex_drift(gamma, f, g, d), abs=1e-12)
    assert (error[off] < 0.01).all()


def test_covariance_is_that_of_small_steps():
    """One Gaussian step of the tokens, its products averaged; all pairs at once."""
    rng, d, ds = np.random.default_rng(0), 5, 1e-6
    x = np.linalg.cholesky(G) @ np.eye(3, d)
    s = np.array([[0.5, 0.2, 0.1], [0.2, 0.6, 0.15], [0.1, 0.15, 0.4]])
    Z = np.linalg.cholesky(s) @ rng.standard_normal((100_000, 3, d)) * np.sqrt(ds / d)
    y = x + Z
    y /= np.linalg.norm(y, axis=-1, keepdims=True)
    change = (y @ y.transpose(0, 2, 1) - G)[:, [0, 0, 1], [1, 2, 2]]
    measured = change.T @ change / len(change) / ds
    exact = homogenized.gram_covariance(G, s, d)[[0, 0, 1], [1, 2, 2]]
    exact = exact[:, [0, 0, 1], [1, 2, 2]]
    # products of Gaussians: relative error of variances is sqrt(2/1e5) = 0.0045
    assert measured == pytest.approx(exact, abs=5 * 0.0045 * exact.max())


def test_barycenters_of_a_singular_gram_matrix():
    """Coincident tokens: one barycenter, no failure; beta = 0 is the plain mean."""
    s, _ = homogenized.barycenter_gram(np.ones((3, 3)), 4, 2.0, draws=10, seed=0)
    assert s == pytest.approx(np.ones((3, 3)), abs=1e-12)
    warm, error = homogenized.barycenter_gram(G, 4, 0.0, draws=10, seed=0)
    assert warm == pytest.approx(np.full((3, 3), G.mean()), abs=1e-14)
    assert error.max() < 1e-14


def test_m5_4_logistic_law():
    u = homogenized.logistic(1.0, (1 + 7 * 0.3) / 8)
    assert u == pytest.approx(0.632316, abs=1e-6)
    h = 1e-6
    slope = (
        (homogenized.logistic(1 + h, 0.2) - homogenized.logistic(1 - h, 0.2)) / h / 2
    )
    v = homogenized.logistic(1.0, 0.2)
    assert slope == pytest.approx(v * (1 - v), rel=1e-8)
    assert homogenized.collapse_layers(100, 0.1, 8) == pytest.approx(800 * np.log(100))


def test_simplex_paths_follow_their_drifts():
    args = ([1e-3, 0.5], 0.2, 4, 8, 0.5)
    f, g = homogenized.simplex_moments(0.2, 4, 8, 0.5, draws=500, seed=0)
    for path, drift in (
        (homogenized.simplex_path, homogenized.simplex_drift(0.2, f, g, 8)),
        (homogenized.simplex_path_limit, homogenized.simplex_drift_limit(0.2, f, g)),
    ):
        found = path(*args, draws=500)
        assert (found[0] - 0.2) / 1e-3 == pytest.approx(drift, rel=1e-2)
        assert found[1] > found[0]


def test_slow_clock():
    """c = 2 is Brownian; c = 0 has E y^2 in closed form, as the h-transform by cosh."""
    square = homogenized_pair.slow_artanh_square
    assert square(0.3, 0.5, 2.0) == pytest.approx(np.arctanh(0.5) ** 2 + 0.6, abs=1e-9)
    # c = 0: law = N(0, 2t) cosh(y) e^{-t}, so E y^2 = 2t + 4 t^2
    assert square(0.3, 0.0, 0.0) == pytest.approx(0.6 + 4 * 0.09, abs=1e-4)
    assert square(0.25, 0.0, 1.0) == pytest.approx(0.611, abs=1e-3)
    y, density = homogenized_pair.slow_law(0.3, 0.2, 1.0)
    assert density.sum() * (y[1] - y[0]) == pytest.approx(1.0, abs=1e-10)


def test_slow_coefficients():
    assert homogenized_pair.slow_coefficient(64, 64) == 2.0
    assert homogenized_pair.slow_coefficient(64, 16) == 3.5
    assert homogenized_pair.absorption_published(0.0) == 0.5
    gap = homogenized_pair.hard_overlap(0.6, 64) - 0.6
    assert gap == pytest.approx(-0.006)
    published = homogenized_pair.hard_overlap_published(0.6, 64) - 0.6
    assert published == pytest.approx(gap / 2)


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda: homogenized.gram_drift([[1, 2], [2, 1]], np.eye(2), 3),
            "`gram` must be positive semidefinite",
        ),
        (
            lambda: homogenized.gram_drift(2 * np.eye(2), np.eye(2), 3),
            "`gram` must be symmetric with ones",
        ),
        (lambda: homogenized.gram_drift(G, np.eye(3), 1), "`d` must be at least 2"),
        (
            lambda: homogenized.simplex_moments(-0.5, 4, 8, 1.0, draws=10, seed=0),
            "`gamma` must lie in",
        ),
        (lambda: homogenized.logistic(1.0, 1.5), "`start` must be strictly between"),
        (
            lambda: homogenized.simplex_path([2.0, 1.0], 0.2, 4, 8, 1.0),
            "`times` must increase",
        ),
        (lambda: homogenized_pair.pair_mean(1.0, 8, 2.0), "`start` must lie in"),
        (lambda: homogenized_pair.slow_law(1e3, 0.0), "`t` must lie in"),
    ],
)
def test_bad_parameters_are_named(call, words):
    with pytest.raises(InputError, match=words):
        call()
