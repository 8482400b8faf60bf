"""Attention with momentum: two tokens (N7)."""

import numpy as np
import pytest

from pushforward.errors import InputError
from pushforward.theory import momentum

BETAS = (1.0, 3.0, 5.0, 8.0, 12.0, 16.0)


def test_without_friction_and_of_first_order():
    """N7-O1."""
    undamped = [2.30072318, 4.35902949, 9.25922415, 31.9017398, 187.343095, 1185.06563]
    found = [momentum.undamped_time(beta) for beta in BETAS]
    np.testing.assert_allclose(found, undamped, rtol=1e-8)
    first = [4.27106768, 6.97037103, 19.4256505, 196.71619, 6889.03119, 279981.16]
    found = [momentum.first_order_time(beta) for beta in BETAS]
    np.testing.assert_allclose(found, first, rtol=1e-8)


def test_frictionless_is_the_limit_of_little_friction():
    """The quadrature of the energy against the equation of motion."""
    assert abs(momentum.damped_time(3.0, 0.0) - momentum.undamped_time(3.0)) < 1e-8


def test_with_friction():
    """N7-O2."""
    nesterov = [4.63426499, 7.53735029, 15.1427355, 51.665981, 305.147427, 1936.64222]
    found = [momentum.nesterov_time(beta) for beta in BETAS]
    np.testing.assert_allclose(found, nesterov, rtol=1e-7)
    critical = [7.56086729, 13.8713783, 39.7832036, 395.89078, 13782.5474]
    found = [momentum.damped_time(beta, 2.0) for beta in BETAS[:5]]
    np.testing.assert_allclose(found, critical, rtol=1e-7)


def test_lifetimes_are_square_roots():
    tau = [momentum.plateau_constant(r) for r in (3.0, 2.0, 0.0)]
    np.testing.assert_allclose(
        tau, [3.6427873873, 3.2736873436, np.pi / np.sqrt(2)], atol=1e-9
    )
    asymptote = tau[0] * np.exp(8.0) / np.sqrt(32.0)
    assert abs(momentum.nesterov_time(16.0) / asymptote - 1) < 0.009


def test_pendulum():
    """N7-O3."""
    assert abs(momentum.pendulum_time(2.0) - 2.0874382317) < 1e-9


def test_radius_of_a_layer():
    """N7-O4; heavy ball and Nesterov are best at 1 - sqrt(gamma)."""
    radius = momentum.layer_radius
    found = [radius(0.1, 0.0), radius(0.1, 0.9), radius(0.1, 0.9, 0.9)]
    found.append(radius(0.1, 0.5, 0.5))
    np.testing.assert_allclose(found, [0.9, 0.9486832981, 0.9, 0.75], atol=1e-9)
    root = np.sqrt(0.1)
    b = (1 - root) / (1 + root)
    assert abs(radius(0.1, b, b) - (1 - root)) < 1e-7
    assert abs(radius(0.1, (1 - root) ** 2) - (1 - root)) < 1e-7


def test_what_cannot_be_waited_for_is_refused():
    with pytest.raises(InputError, match="between 0.01 and 30"):
        momentum.undamped_time(100.0)
