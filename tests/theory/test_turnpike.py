"""Closed forms of long-horizon control, each checked against something else."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from pushforward.errors import InputError
from pushforward.theory import turnpike


def test_c1_1_scalar_static_optimum():
    s = turnpike.scalar(1.0, 1.0)
    wanted = dict(state=0.5, control=-0.5, adjoint=0.5, cost=0.25)
    for name, value in wanted.items():
        assert s[name] == pytest.approx(value, abs=1e-15)
    assert s["rate"] == pytest.approx(np.sqrt(2), abs=1e-15)
    assert s["riccati"] == pytest.approx(1 + np.sqrt(2), abs=1e-15)
    assert turnpike.scalar_value_limit(1.0, 1.0, 0.0) == pytest.approx(-0.25, abs=1e-14)
    assert turnpike.scalar_value_remainder(1.0, 1.0, 0.0) == pytest.approx(
        1 + 1 / np.sqrt(2), abs=1e-14
    )


@pytest.mark.parametrize("a, z", [(0.7, -1.3), (-2.0, 0.4), (0.0, 1.0)])
def test_scalar_triple_satisfies_the_optimality_system(a, z):
    s = turnpike.scalar(a, z)
    assert a * s["state"] + s["control"] == pytest.approx(0, abs=1e-15)
    assert a * s["adjoint"] + s["state"] - z == pytest.approx(0, abs=1e-14)
    assert s["control"] == pytest.approx(-s["adjoint"], abs=1e-15)
    P = s["riccati"]
    assert 2 * a * P - P**2 + 1 == pytest.approx(0, abs=1e-13)


def test_c1_6_heat_rate():
    assert turnpike.heat_rate(1.0) == pytest.approx(9.9201356, abs=5e-8)


def test_c1_7_boundary_heat_rate():
    mu = turnpike.boundary_heat_rate()
    assert mu == pytest.approx(2.8422411028, abs=1e-10)
    assert np.sqrt(mu) == pytest.approx(1.6858947484, abs=1e-10)
    slope = turnpike.boundary_heat_static()["slope"]
    cost = 0.5 * slope**2 + 0.5 * (slope**2 / 3 - slope + 1)
    assert cost == pytest.approx(turnpike.boundary_heat_static()["cost"], abs=1e-15)
    nudged = [
        0.5 * s**2 + 0.5 * (s**2 / 3 - s + 1) for s in (slope - 1e-3, slope + 1e-3)
    ]
    assert min(nudged) > cost


def test_c1_9_wave_rates_tend_to_one_half():
    rates = turnpike.wave_rate(np.pi * np.arange(1, 2000))
    assert rates[0] == pytest.approx(0.4939324, abs=5e-8)
    assert np.all(np.diff(rates) > 0) and 0.4999999 < rates[-1] < 0.5
    # s solves (s^2 + w^2)^2 - (s^2 - ...) : check through the 4x4 Hamiltonian of a mode
    w = 3.0
    A = np.array([[0, 1.0], [-(w**2), 0]])
    H = np.block([[A, -np.diag([0, 1.0])], [-np.diag([w**2, 0]), -A.T]])
    assert np.min(np.abs(np.linalg.eigvals(H).real)) == pytest.approx(
        float(turnpike.wave_rate(w)), abs=1e-12
    )


def test_c1_8_bulk_of_the_wave_spectrum():
    assert turnpike.wave_cloud(0.5) == pytest.approx(0.353553, abs=5e-7)


def test_c1_5_transport_control_minimizes_each_release():
    t = np.linspace(0, 10, 7)
    u = turnpike.transport_control(t, 10.0)
    m = np.minimum(1.0, 10.0 - t)
    for du in (-1e-4, 1e-4):
        assert np.all(u**2 + m * (u - 1) ** 2 <= (u + du) ** 2 + m * (u + du - 1) ** 2)
    x = np.linspace(0, 1, 100001)
    mean = np.mean(turnpike.transport_control(10.0 - x, 10.0))
    assert mean == pytest.approx(turnpike.transport_final_mean(), abs=1e-5)


def test_c1_14_middle_of_the_cubic_profile_stays_below_the_ceiling():
    ceiling = turnpike.cubic_ceiling()
    assert ceiling == pytest.approx(3.7081493546, abs=1e-10)

    def boundary(middle: float) -> float:
        run = solve_ivp(
            lambda _, s: [s[1], s[0] ** 3],
            (0, 0.5),
            [middle, 0.0],
            rtol=1e-11,
            atol=1e-12,
        )
        return run.y[0, -1]

    middle = brentq(lambda m: boundary(m) - 60.0, 1.0, 3.65)
    assert middle == pytest.approx(3.5412147, abs=1e-6)  # grids of the notes: 3.54136
    assert middle < ceiling


def test_null_control_needs_a_whole_number_of_periods():
    with pytest.raises(InputError, match="even"):
        turnpike.wave_null_control(np.zeros(2), 3.0)
    t = np.linspace(0, 4.0, 40001)
    u = turnpike.wave_null_control(t, 4.0)
    assert np.trapezoid(u**2, t) == pytest.approx(1 / 8, abs=1e-9)


def test_rates_refuse_nonpositive_weights():
    with pytest.raises(InputError, match="beta"):
        turnpike.heat_rate(-1.0)
