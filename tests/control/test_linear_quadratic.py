"""Linear-quadratic turnpike: exact formula against two independent solvers."""

import numpy as np
import pytest

from pushforward.control.classical.linear_quadratic import LinearQuadratic
from pushforward.control.classical.riccati import (
    differential_riccati,
    semi_lagrangian_value,
)
from pushforward.errors import InputError
from pushforward.theory import turnpike


@pytest.fixture(scope="module")
def pendant():
    """The two-dimensional example of the notes (oracles C1-2 to C1-4)."""
    w = np.sqrt(26.0)
    A = -np.array([[2.0, -1.0], [-1.0, 2.0]])
    return LinearQuadratic(
        A, np.array([[1.0], [0.0]]), w * np.eye(2), w * np.ones(2), np.eye(1)
    )


@pytest.fixture(scope="module")
def line():
    one = np.eye(1)
    return LinearQuadratic(one, one, one, np.ones(1), one)


def test_c1_1_value_function_of_the_scalar_problem(line):
    for T, number in ((4.0, 5.96334e-3), (8.0, 2.08343e-5)):
        gap = line.value(T, np.zeros(1)) - (T - 1) / 4
        assert gap == pytest.approx(number, abs=5e-9)
    gap = line.value(9.0, np.zeros(1)) - 2.0
    assert gap * np.exp(np.sqrt(2) * 9) == pytest.approx(1.7071068, abs=1e-6)


def test_scalar_theory_agrees_with_the_matrix_solver():
    lq = LinearQuadratic([[-0.6]], [[1.0]], [[1.0]], [2.0], [[1.0]])
    s = turnpike.scalar(-0.6, 2.0)
    assert lq.rate == pytest.approx(s["rate"], abs=1e-12)
    assert lq.P.item() == pytest.approx(s["riccati"], abs=1e-12)
    for x in (-1.0, 0.3, 2.0):
        assert lq.value_limit(np.array([x])) == pytest.approx(
            turnpike.scalar_value_limit(-0.6, 2.0, x), abs=1e-12
        )
    late = lq.value(12.0, np.array([0.5])) - 12 * s["cost"]
    remainder = late - lq.value_limit(np.array([0.5]))
    assert remainder * np.exp(s["rate"] * 12) == pytest.approx(
        turnpike.scalar_value_remainder(-0.6, 2.0, 0.5), rel=1e-5
    )


def test_c1_2_static_optimum_and_rate(pendant):
    s = pendant.static
    assert s.state == pytest.approx([1.1223021583, 0.5611510791], abs=1e-9)
    assert s.control == pytest.approx([1.6834532374], abs=1e-9)
    poles = np.sort(np.linalg.eigvals(pendant.closed_loop).real)
    assert poles == pytest.approx([-5.6215185234, -2.0972671483], abs=1e-9)
    assert pendant.rate == pytest.approx(2.0972671483, abs=1e-9)


def test_c1_3_optimal_path(pendant):
    path = pendant.path(np.array([1.4, 1.4]), 10.0, save=2001)
    assert path.controls[0] == pytest.approx([-0.4835829813], abs=1e-8)
    assert path.states[-1] == pytest.approx([0.7715482576, 0.4858438339], abs=1e-8)
    layers = np.exp(-pendant.rate * path.times) + np.exp(
        -pendant.rate * (10 - path.times)
    )
    assert np.max(path.deviation() / layers) == pytest.approx(3.0506558, abs=1e-6)


def test_path_satisfies_dynamics_and_costs_its_value(pendant):
    path = pendant.path(np.array([1.4, 1.4]), 10.0, save=20001)
    h = path.times[1] - path.times[0]
    slope = np.gradient(path.states, h, axis=0, edge_order=2)
    field = path.states @ pendant.A.T + path.controls @ pendant.B.T
    assert np.max(np.abs(slope - field)[1:-1]) < 1e-5
    integrand = 0.5 * np.sum((path.states @ pendant.C.T - pendant.z) ** 2, axis=1)
    integrand = integrand + 0.5 * np.sum(path.controls**2, axis=1)
    cost = np.trapezoid(integrand, path.times)
    assert cost == pytest.approx(pendant.value(10.0, np.array([1.4, 1.4])), rel=1e-6)
    assert path.controls[-1] == pytest.approx([0.0], abs=1e-12)


def test_c1_4_differential_riccati_converges_at_twice_the_rate(pendant):
    times = np.linspace(0.5, 6.0, 45)
    flow = differential_riccati(pendant.A, pendant.gain, pendant.C.T @ pendant.C, times)
    error = np.linalg.norm(flow - pendant.P, axis=(1, 2))
    window = (times > 2) & (times < 4)
    rate = -np.polyfit(times[window], np.log(error[window]), 1)[0]
    assert rate == pytest.approx(2 * pendant.rate, abs=1e-3)
    assert rate == pytest.approx(4.19453, abs=1e-3)
    assert error[-1] < 5e-10
    E = flow[8]  # Hessian of the closed-form value function at the same horizon
    T = float(times[8])
    e = np.eye(2)
    value = pendant.value
    assert value(T, e[0] + e[1]) - value(T, e[0]) - value(T, e[1]) + value(
        T, 0 * e[0]
    ) == pytest.approx(E[0, 1], abs=1e-8)


def test_semi_lagrangian_value_converges_to_the_exact_one(line):
    x = np.linspace(-1.0, 2.0, 121)
    u = np.linspace(-4.0, 2.0, 601)
    errors = []
    for steps in (40, 80):
        value = semi_lagrangian_value(
            lambda x, u: x + u,
            lambda x, u: 0.5 * (x - 1) ** 2 + 0.5 * u**2,
            x,
            u,
            2.0,
            steps=steps,
        )
        inside = np.abs(x - 0.5) < 0.5
        exact = np.array([line.value(2.0, np.array([s])) for s in x[inside]])
        errors.append(np.max(np.abs(value[inside] - exact)))
    assert errors[1] < 0.02
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.25)


def test_unstabilizable_pair_names_the_mode():
    A = np.diag([1.0, -1.0])
    with pytest.raises(InputError, match=r"not stabilizable.*\b1\b.*column to B"):
        LinearQuadratic(A, [[0.0], [1.0]], np.eye(2), np.zeros(2), [[1.0]])


def test_undetectable_pair_names_the_mode():
    A = np.diag([0.0, -1.0])
    with pytest.raises(InputError, match="not detectable.*row to C"):
        LinearQuadratic(A, [[1.0], [1.0]], [[0.0, 1.0]], np.zeros(1), [[1.0]])


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(R=[[0.0]]), "positive definite"),
        (dict(z=np.zeros(3)), r"`z` must have shape \(2,\), got \(3,\)"),
        (dict(A=[[np.nan, 0], [0, 1]]), "NaN"),
        (dict(B=[[1.0, 0.0]]), "transpose would fit"),
    ],
)
def test_bad_matrices_are_refused(change, message):
    given = dict(A=-np.eye(2), B=[[1.0], [0.0]], C=np.eye(2), z=np.zeros(2), R=[[1.0]])
    with pytest.raises(InputError, match=message):
        LinearQuadratic(**{**given, **change})
