"""Closed forms of deep networks, each against an independent computation."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import minimize_scalar

from pushforward.errors import InputError
from pushforward.theory import depth


def test_c3_1_minimal_norm_is_the_length_squared():
    length, _ = quad(lambda x: 1 / np.sqrt(1 + x * x), 0.5, np.e)
    assert depth.scalar_minimal_norm(0.5, np.e) == pytest.approx(length**2, abs=1e-10)
    assert depth.scalar_minimal_norm(0.5, np.e) == pytest.approx(
        1.5479608148, abs=1e-10
    )


def test_c3_2_constant_of_the_squared_loss():
    constant = depth.squared_risk_constant(0.5, np.e, 1.0)
    assert constant == pytest.approx(0.184521, abs=5e-7)
    eps = 1e-4  # minimize over the end point: (x - e)^2 + eps * distance(x)^2

    def cost(x):
        return (x - np.e) ** 2 + eps * depth.scalar_minimal_norm(0.5, x)

    best = minimize_scalar(
        cost, bounds=(2.6, 2.8), method="bounded", options={"xatol": 1e-12}
    ).x
    assert (best - np.e) ** 2 / eps**2 == pytest.approx(constant, rel=1e-3)


def test_c3_6_rates_need_as_many_dimensions_as_samples():
    goal = np.array([(1.0, 0.2), (-0.5, 1.0), (0.8, 1.6)])
    assert depth.tracking_rates(np.tanh(goal), 1 / 3, 0.5)[-1] == pytest.approx(
        0.322797, abs=1e-6
    )
    crowded = depth.tracking_rates(
        np.tanh(np.random.default_rng(0).normal(size=(5, 2))), 1.0, 1.0
    )
    assert np.sum(crowded > 1e-12) == 3  # d + 1 of five


@pytest.mark.parametrize("t1", [5.0, 10.0, 20.0])
def test_c2_3_stop_minimizes_the_cost(t1):
    """Among paths bias-then-weight at full speed, the predicted stop is the best."""
    s = depth.sparse_scalar(t1, 0.1, 2.0)

    def cost(stop):
        def speed(t, x):
            return [2.0 if x[0] < 1 else 2.0 * x[0], (x[0] - np.e) ** 2]

        run = solve_ivp(
            speed, (0, stop), [0.5, 0.0], rtol=1e-10, atol=1e-12, max_step=0.01
        )
        x, area = run.y[:, -1]
        return area + (t1 - stop) * (x - np.e) ** 2 + 0.1 * 2.0 * stop

    best = minimize_scalar(
        cost, bounds=(0.6, 0.8), method="bounded", options={"xatol": 1e-7}
    )
    assert best.x == pytest.approx(s["active_time"], abs=1e-4)
    assert best.fun == pytest.approx(s["cost"], abs=1e-5)


def test_c2_6_logistic_limits():
    s = depth.sparse_logistic(1e4, 1.0, 1.0)
    assert 1e4 * s["risk"] == pytest.approx(1.0010, abs=5e-5)
    assert s["active_time"] == pytest.approx(9.20932, abs=1e-5)
    late = depth.sparse_logistic(1e8, 1.0, 1.0)
    assert late["active_time"] - np.log(1e8) == pytest.approx(0.0, abs=1e-6)


def test_c3_10_rank_one_network_solves_its_equation():
    zeta = np.linspace(0, 1, 2001)
    assert float(depth.rank_one_network(1.0, np.array(0.25))) == pytest.approx(
        4.5967033199, abs=1e-10
    )
    h = 1e-4
    slope = (
        depth.rank_one_network(0.5 + h, zeta) - depth.rank_one_network(0.5 - h, zeta)
    ) / (2 * h)
    x = depth.rank_one_network(0.5, zeta)
    push = (1 + 0.5 * np.sin(2 * np.pi * zeta)) * np.trapezoid(np.exp(-zeta) * x, zeta)
    assert np.max(np.abs(slope - push)) < 1e-5


def test_hopeless_parameters_are_refused():
    with pytest.raises(InputError, match="too short"):
        depth.sparse_scalar(0.5, 0.1, 2.0)
    with pytest.raises(InputError, match="nothing moves"):
        depth.sparse_logistic(1.0, 1.0, 1.0)
    with pytest.raises(InputError, match="`lam` must be positive"):
        depth.squared_risk_constant(0.5, 1.0, 0.0)
