"""Stationary measures of noisy attention, against the threshold and each other."""

import numpy as np
import pytest
from scipy.special import iv

from pushforward.errors import NumericalError
from pushforward.theory import noisy, stability


@pytest.mark.parametrize(
    ("kappa", "d"), [(2.5, 2), (3.0, 2), (40.0, 2), (4.0, 3), (12.0, 8)]
)
def test_order_parameter_solves_its_equation(kappa, d):
    r = noisy.order_parameter(kappa, d)
    assert 0 < r < 1
    quotient = iv(d / 2, kappa * r) / iv(d / 2 - 1, kappa * r)
    assert quotient == pytest.approx(r, rel=1e-12)


@pytest.mark.parametrize("d", [2, 3, 8])
def test_order_parameter_leaves_zero_at_the_threshold(d):
    """r^2 ~ (d + 2) (kappa - d) / d^2, from I-quotient x/d - x^3 / (d^2 (d + 2))."""
    assert noisy.order_parameter(0.999 * d, d) == 0.0
    assert stability.noise_threshold(0.0, d) == pytest.approx(d)
    kappa = d * (1 + 1e-5)
    r = noisy.order_parameter(kappa, d)
    assert r**2 == pytest.approx((d + 2) * (kappa - d) / d**2, rel=1e-3)


def test_modes_on_the_circle_agree_with_the_quotient_of_bessel_functions():
    f = noisy.stationary_modes(0.0, 3.0, 3)
    r = noisy.order_parameter(3.0, 2)
    expected = [iv(k, 3 * r) / iv(0, 3 * r) for k in range(4)]
    np.testing.assert_allclose(f, expected, atol=1e-12)


def test_modes_with_temperature_are_a_fixed_point():
    beta, kappa = 1.0, 2.2
    f = noisy.stationary_modes(beta, kappa, 20)
    theta = 2 * np.pi * np.arange(400) / 400
    k = np.arange(1, 21)
    Z = 2 * (iv(k, beta) * f[1:]) @ np.cos(np.outer(k, theta))
    rho = np.exp(kappa * Z / beta)
    rho /= rho.mean()
    for n in (1, 2, 3):
        assert (rho * np.cos(n * theta)).mean() == pytest.approx(f[n], abs=1e-12)
    below = noisy.stationary_modes(beta, 0.9 * stability.noise_threshold(beta, 2), 2)
    assert abs(below[1]) < 1e-10


def test_what_is_too_narrow_is_refused():
    with pytest.raises(NumericalError, match="kappa e"):
        noisy.stationary_modes(20.0, 1.0, 2)


def test_common_noise_path_without_noise_is_kuramoto():
    z = noisy.common_noise_path(0.3, np.zeros((100, 2)), 0.01)[-1]
    assert z.real == pytest.approx(0.460303404969, abs=1e-9)
    assert noisy.synchronization_rate(0.7, 4) == pytest.approx(0.735)


@pytest.mark.parametrize("kappa", [2.0 + 1e-6, 2.001, 2.1, 10.0])
def test_the_branch_is_exact_up_to_its_threshold(kappa):
    """Iteration alone needs 1e6 steps here; the closed form is that of beta = 0."""
    found = noisy.stationary_modes(0.0, kappa, 1)[1]
    assert found == pytest.approx(noisy.order_parameter(kappa, 2), abs=1e-9)
