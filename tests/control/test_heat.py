"""Heat control: rates, static optima and Newton against the oracles C1-6 to C1-13."""

import numpy as np
import pytest

from pushforward.control.classical.evolution import cubic
from pushforward.control.classical.heat import boundary_heat, interior_heat, square_heat
from pushforward.control.classical.linear_quadratic import LinearQuadratic
from pushforward.errors import InputError
from pushforward.theory import turnpike


@pytest.fixture(scope="module")
def semilinear():
    return interior_heat(49, omega=(0.0, 0.5), beta=1000.0, reaction=cubic())


@pytest.fixture(scope="module")
def semilinear_path(semilinear):
    return semilinear.optimize(np.zeros(49), 2.0, steps=400)


@pytest.mark.parametrize(
    "omega, rate",
    [((0.0, 1.0), 9.9193281), ((0.25, 0.75), 9.91066), ((0.0, 0.5), 9.89459)],
)
def test_c1_6_rate_of_interior_control(omega, rate):
    assert interior_heat(99, omega=omega).rate() == pytest.approx(rate, abs=5e-6)


def test_c1_6_full_control_tends_to_the_exact_rate():
    exact = turnpike.heat_rate(1.0)
    errors = [interior_heat(n).rate() - exact for n in (24, 49, 99)]
    assert abs(errors[-1]) < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.05)


def test_c1_7_boundary_control():
    exact = turnpike.boundary_heat_rate()
    errors = [boundary_heat(n).rate() - exact for n in (20, 40, 80)]
    assert errors == pytest.approx([1.46e-3, 3.65e-4, 9.13e-5], rel=5e-3)
    s = boundary_heat(20).static()
    wanted = turnpike.boundary_heat_static()
    assert s.cost == pytest.approx(wanted["cost"], abs=1e-13)
    assert s.control == pytest.approx([wanted["control"]], abs=1e-12)
    assert s.state == pytest.approx(wanted["slope"] * np.arange(1, 21) / 20, abs=1e-12)


def test_sparse_solver_agrees_with_the_exact_formula():
    """The same finite elements as a dense linear-quadratic problem, exact in time."""
    problem = boundary_heat(8)
    M = problem.mass.toarray()
    C = np.linalg.cholesky(M).T
    lq = LinearQuadratic(
        -np.linalg.solve(M, problem.stiffness.toarray()),
        np.linalg.solve(M, problem.B.toarray()),
        C,
        C @ problem.z,
        problem.R.toarray(),
    )
    assert lq.rate == pytest.approx(problem.rate(), abs=1e-9)
    y0 = np.sin(np.arange(1, 9))
    value = lq.value(3.0, y0) + 3.0 * problem.floor
    gaps = [problem.optimize(y0, 3.0, steps=steps).cost - value for steps in (150, 300)]
    assert abs(gaps[1]) < 2e-3
    assert gaps[0] / gaps[1] == pytest.approx(4.0, abs=0.4)


def test_c1_11_stationary_semilinear_optimum(semilinear):
    s = semilinear.static()
    assert s.cost == pytest.approx(169.1190058, abs=1e-6)
    assert s.state.max() == pytest.approx(1.0705933, abs=1e-6)
    assert semilinear.rate() == pytest.approx(23.734813, abs=1e-6)


def test_c1_12_each_unit_of_time_costs_the_static_optimum(semilinear):
    short = semilinear.optimize(np.zeros(49), 2.0, steps=200).cost
    long = semilinear.optimize(np.zeros(49), 4.0, steps=400).cost
    assert long - short == pytest.approx(338.238011, abs=1e-5)


def test_c1_13_both_layers_have_the_linear_rate(semilinear, semilinear_path):
    path = semilinear_path
    assert path.cost == pytest.approx(355.366613, abs=1e-5)
    distance = np.linalg.norm(path.states - semilinear.static().state, axis=1)
    for clock in (path.times, path.times[-1] - path.times):
        window = (clock > 0.25) & (clock < 0.5)
        rate = -np.polyfit(clock[window], np.log(distance[window]), 1)[0]
        assert rate == pytest.approx(23.76, abs=0.1)


def test_newton_is_quadratic_and_gauss_newton_reaches_the_same_point(semilinear):
    newton = semilinear.optimize(np.zeros(49), 1.0, steps=100)
    slower = semilinear.optimize(np.zeros(49), 1.0, steps=100, gauss_newton=True)
    assert len(newton.residuals) <= 6 < len(slower.residuals) <= 12
    assert newton.cost == pytest.approx(slower.cost, rel=1e-10)


def test_square_domain_has_a_turnpike_at_its_static_optimum():
    pytest.importorskip("skfem")
    problem, points = square_heat(3, omega=(0.0, 1.0), beta=1000.0)
    y0 = np.zeros(len(points))
    path = problem.optimize(y0, 0.5, steps=40)
    s = problem.static()
    middle = path.states[20]
    assert np.linalg.norm(middle - s.state) < 1e-3 * np.linalg.norm(s.state)
    # first Dirichlet eigenvalue 2 pi^2 and full control: mu -> sqrt(4 pi^4 + beta)
    exact = np.sqrt(4 * np.pi**4 + 1000.0)
    rates = [square_heat(r, omega=(0, 1), beta=1000.0)[0].rate() for r in (3, 4)]
    assert rates[0] > rates[1] > exact
    assert (rates[0] - exact) / (rates[1] - exact) == pytest.approx(4.0, abs=0.5)


def test_bad_control_sets_are_refused():
    with pytest.raises(InputError, match="omega.*interval inside"):
        interior_heat(20, omega=(0.7, 0.2))
    with pytest.raises(InputError, match="contains no node"):
        interior_heat(3, omega=(0.3, 0.4))
    with pytest.raises(InputError, match="`y0` must have shape"):
        interior_heat(5).optimize(np.zeros(4), 1.0, steps=3)
