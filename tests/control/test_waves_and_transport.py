"""Transport, waves and the cubic stationary problem against C1-5, 8, 9, 10, 14-16."""

import numpy as np
import pytest

from pushforward.control.classical.heat import CubicBoundary, tie
from pushforward.control.classical.wave import (
    Gradient,
    NoTracking,
    Position,
    PositionAndVelocity,
    controlled_wave,
    grid_frequencies,
    leapfrog_dirichlet,
    optimal_transport_inflow,
    wave_hamiltonian,
    wave_null_control,
)
from pushforward.errors import InputError
from pushforward.theory import turnpike


def test_c1_5_transport_turnpike_to_machine_precision():
    path = optimal_transport_inflow(np.cos(np.pi * np.linspace(0, 1, 80)), 10)
    exact = turnpike.transport_control(path.times, 10.0)
    assert np.max(np.abs(path.controls - exact)) < 1e-14
    assert path.controls[400] == pytest.approx(0.5, abs=1e-14)
    assert np.mean(path.states[-1]) == pytest.approx(0.309968, abs=5e-7)


def test_c1_5_final_mean_converges():
    means = [
        np.mean(optimal_transport_inflow(np.zeros(n), 2).states[-1]) for n in (40, 80)
    ]
    errors = np.array(means) - turnpike.transport_final_mean()
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.02)


@pytest.mark.parametrize("n, gap", [(50, 0.267749), (250, 0.107068)])
def test_c1_8_spectral_gap_of_the_grid(n, gap):
    spectrum = np.linalg.eigvals(wave_hamiltonian(n, PositionAndVelocity()))
    assert np.min(np.abs(spectrum.real)) == pytest.approx(gap, abs=1e-6)
    if n == 250:
        low = np.abs(spectrum.imag) < 0.5 * np.max(np.abs(spectrum.imag))
        bulk = np.mean(np.abs(spectrum.real[low]))  # the modes that travel
        assert bulk == pytest.approx(turnpike.wave_cloud(0.5), abs=1e-3)


def test_without_tracking_the_spectrum_is_imaginary():
    spectrum = np.linalg.eigvals(wave_hamiltonian(100, NoTracking()))
    assert np.max(np.abs(spectrum.real)) < 2e-12


def test_tracking_position_alone_has_no_uniform_gap():
    gaps = [
        np.min(np.abs(np.linalg.eigvals(wave_hamiltonian(n, Position())).real))
        for n in (50, 100)
    ]
    assert gaps == pytest.approx([0.0032, 0.0016], abs=5e-5)


def test_c1_9_rates_of_the_controlled_wave():
    n = 40
    spectrum = np.linalg.eigvals(wave_hamiltonian(n, Gradient(), omega=(0.0, 1.0)))
    found = np.sort(spectrum.real[spectrum.real > 0])
    exact = np.sort(np.repeat(turnpike.wave_rate(grid_frequencies(n)), 2))
    assert np.max(np.abs(found - exact)) < 1e-9


@pytest.mark.parametrize("t1", [2, 4, 6, 8])
def test_c1_10_periodic_control_stops_the_wave(t1):
    n = 100
    times = np.arange(t1 * n + 1) / n
    y0 = np.sin(np.pi * np.linspace(0, 1, n + 1))
    before, now = leapfrog_dirichlet(y0, turnpike.wave_null_control(times, t1))
    assert np.max(np.abs(now)) < 1e-13
    assert np.max(np.abs(now - before)[1:-1]) * n < 2e-12
    free, _ = leapfrog_dirichlet(y0, 0 * times)
    assert np.max(np.abs(free)) > 0.5


def test_c1_16_null_controls_need_unit_courant_number():
    good = [wave_null_control(n, 1.0, 5.0) for n in (25, 50, 100)]
    assert [c.cost for c in good] == pytest.approx([0.9376, 0.9826, 1.0054], abs=1e-4)
    bad = [wave_null_control(n, 0.9, 5.0).cost for n in (25, 50)]
    assert bad == pytest.approx([1.060, 43.33], rel=1e-3)
    assert wave_null_control(100, 0.9, 5.0).cost == pytest.approx(2.8e7, rel=0.02)
    assert max(c.defect for c in good) < 1e-12


def test_c1_14_cubic_profile_stays_below_its_ceiling():
    ceiling = turnpike.cubic_ceiling()
    assert CubicBoundary(799).state(60.0)[400] == pytest.approx(3.54136, abs=5e-6)
    middles = [CubicBoundary(6399).state(v)[3200] for v in (60.0, 200.0, 600.0)]
    assert np.all(np.diff(middles) > 0) and middles[-1] < ceiling
    assert middles[-1] > 0.99 * ceiling


def test_c1_15_two_stationary_optima():
    found = tie(1599)
    assert found == pytest.approx((86.5534, 5.63323, -0.755124, -2.97222), abs=1e-4)
    problem = CubicBoundary(1599, outer=found[0])
    assert problem.cost(found[1]) == pytest.approx(problem.cost(found[2]), abs=1e-9)
    assert problem.cost(0.5) > problem.cost(found[1])  # a barrier between the two


def test_bad_courant_number_is_refused():
    with pytest.raises(InputError, match="courant"):
        wave_null_control(10, 1.2, 5.0)


@pytest.mark.parametrize("tracking", [Gradient(), PositionAndVelocity()])
def test_controlled_wave_has_the_gap_of_its_hamiltonian(tracking):
    goal = np.sin(np.pi * np.arange(1, 21) / 21)
    lq = controlled_wave(20, tracking=tracking, target=goal)
    spectrum = np.linalg.eigvals(wave_hamiltonian(20, tracking))
    assert lq.rate == pytest.approx(np.min(np.abs(spectrum.real)), abs=1e-10)
    path = lq.path(np.zeros(40), 60.0)
    distance = path.deviation()
    assert distance[100] < 1e-3 * distance[0]
    # the static state leans toward the target and does not move
    assert lq.static.state[:20] @ goal > 0
    assert np.max(np.abs(lq.static.state[20:])) < 1e-10


def test_a_wave_without_tracking_is_refused():
    with pytest.raises(InputError, match="has no turnpike.*Gradient"):
        controlled_wave(20, tracking=NoTracking())
    with pytest.raises(InputError, match="contains no node"):
        controlled_wave(20, omega=(0.51, 0.52))
