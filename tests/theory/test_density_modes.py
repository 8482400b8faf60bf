"""Modes of a Gaussian kernel density estimate (N10)."""

import numpy as np
import pytest

from pushforward.theory import density_modes


@pytest.mark.parametrize(
    ("beta", "known"), [(10, 1.6547208460), (100, 1.8875370840), (1000, 1.9643294083)]
)
def test_two_points(beta, known):
    """N10-O1."""
    assert abs(density_modes.of_two_points(beta) - known) < 1e-9


@pytest.mark.parametrize(
    ("beta", "n", "known"),
    [
        (10, 100, 1.36638),
        (100, 100, 7.10811),
        (10, 1000, 1.00503),
        (100, 1000, 6.80646),
        (1000, 1000, 29.42220),
        (100, 10_000, 2.65211),
        (1000, 10_000, 33.99504),
    ],
)
def test_modes_in_the_window(beta, n, known):
    """N10-O2."""
    assert abs(density_modes.in_window(beta, n) - known) < 1e-4


@pytest.mark.parametrize(
    ("power", "ratio"), [(4, 0.93875), (8, 0.97244), (16, 0.98633), (32, 0.99319)]
)
def test_the_leading_order_is_approached_slowly(power, ratio):
    """N10-O4: beta = n."""
    n = 10.0**power
    found = density_modes.in_window(n, n) / density_modes.leading(n, n)
    assert abs(found - ratio) < 1e-4


def test_modes_of_points_that_are_drawn():
    """N10-O2 by Monte Carlo: n = beta = 100, |t| <= T."""
    rng, n, beta = np.random.default_rng(1), 100, 100.0
    end = np.sqrt(2 * np.log(n) - np.log(beta) - 1)
    t = np.linspace(-end, end, 1200)
    counts = []
    for _ in range(300):
        u = rng.normal(size=n)[:, None] - t
        slope = (u * np.exp(-beta * u**2 / 2)).sum(axis=0)
        counts.append(np.sum((slope[:-1] > 0) & (slope[1:] <= 0)))
    error = np.std(counts) / np.sqrt(len(counts))
    assert abs(np.mean(counts) - density_modes.in_window(beta, n)) < 4 * error
