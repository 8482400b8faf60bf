"""A law and its atoms: closed forms, numerical integrals, and honest errors."""

import jax
import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.optimize import brentq
from scipy.special import ive, logsumexp

import pushforward as pf
from pushforward.errors import InputError
from pushforward.measures import Gaussian
from pushforward.transport import semidiscrete_plan

KEY = jax.random.key(0)
ATOMS, MASSES, EPS = np.array([[-1.0], [2.0]]), np.array([0.3, 0.7]), 0.5


def conditional(x, g):
    """log b_j e^{(g_j - c) / eps}, from the formulas alone."""
    return np.log(MASSES) + (g - (x[:, None] - ATOMS[:, 0]) ** 2) / EPS


def on_the_line():
    """g and the value between a standard normal and two atoms, by quadrature."""
    x = np.linspace(-9, 9, 4001)
    w = np.exp(-(x**2) / 2)
    w /= w.sum()

    def lacking(g):
        logs = conditional(x, np.array([0.0, g]))
        return w @ np.exp(logs[:, 1] - logsumexp(logs, axis=1)) - MASSES[1]

    g = np.array([0.0, brentq(lacking, -20, 20, xtol=1e-13)])
    f = -EPS * logsumexp(conditional(x, g), axis=1)
    return g, trapezoid(w * f) + MASSES @ g


@pytest.fixture(scope="module")
def plan():
    return semidiscrete_plan(
        Gaussian([0.0], [[1.0]]), (ATOMS, MASSES), EPS, key=KEY, samples=20_000
    )


def test_a_normal_and_two_atoms(plan):
    g, value = on_the_line()
    low, high = plan.standard_errors
    assert abs(plan.lower - value) < 4 * low
    assert abs(plan.upper - value) < 4 * high
    assert -4 * np.hypot(low, high) < plan.gap < 4 * np.hypot(low, high)
    assert 0 < low < 0.02
    steps = plan.potential[1] - plan.potential[0]
    assert steps == pytest.approx(g[1], abs=0.05)
    assert plan.marginal_error < 5 * plan.marginal_noise < 0.1


def test_the_rule_holds_at_every_point(plan):
    x = np.array([[-2.0], [0.3], [4.0]])
    p = plan.probabilities(x)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(plan.map(x), p @ ATOMS)
    logs = conditional(x[:, 0], plan.potential)
    f = -EPS * logsumexp(logs, axis=1)
    np.testing.assert_allclose(plan.source_potential(x), f)
    np.testing.assert_allclose(p, np.exp(logs + f[:, None] / EPS))
    assert plan.cells(x).tolist() == [0, int(np.argmax(p[1])), 1]


def test_a_law_that_changes_would_be_noticed(plan):
    """What is proved is proved on points that the solver has not seen."""
    draws = iter((0.0, 1.0))

    def drifting(key, n):
        return jax.random.normal(key, (n, 1)) + next(draws)

    rough = semidiscrete_plan(drifting, (ATOMS, MASSES), EPS, key=KEY, samples=20_000)
    assert rough.marginal_error > 10 * plan.marginal_error
    assert abs(rough.gap) > 10 * sum(rough.standard_errors)


def test_the_uniform_circle_and_a_regular_polygon():
    """Chords: 2 - 2 cos t, so that the value is 2 - eps log I_0(2 / eps)."""
    rho = pf.Density.uniform(pf.Circle(), 64)
    corners = pf.Circle().points(2 * np.pi * np.arange(24) / 24)
    found = semidiscrete_plan(rho, corners, EPS, key=KEY)
    value = 2 - EPS * (np.log(ive(0, 2 / EPS)) + 2 / EPS)
    assert found.lower == pytest.approx(value, abs=1e-10)
    assert found.upper == pytest.approx(value, abs=1e-10)
    assert found.standard_errors == (0.0, 0.0)
    assert found.marginal_error < 1e-9


def test_a_density_on_the_sphere_is_seen_through_two_grids():
    rho = pf.Density.uniform(pf.Sphere(3), 12).perturbed(1, 0.2)
    atoms = pf.Particles.uniform(pf.Sphere(3), 5, key=KEY)
    by_grid = semidiscrete_plan(rho, atoms, EPS, key=KEY)
    assert abs(by_grid.gap) < 1e-6  # what the coarser one leaves out
    assert by_grid.marginal_error < 1e-6
    coarse = semidiscrete_plan(rho, atoms, 0.02, key=KEY)
    assert abs(coarse.gap) > 100 * abs(by_grid.gap)  # a blur too sharp for either


@pytest.mark.parametrize(
    ("mu", "message"),
    [
        (np.zeros((3, 1)), "entropic_plan"),
        ("normal", "entropic_plan"),
        (lambda key, n: np.full((n, 1), np.nan), "NaN"),
        (lambda key, n: np.zeros((n, 3)), "one dimension"),
    ],
)
def test_bad_laws_are_refused(mu, message):
    with pytest.raises(InputError, match=message):
        semidiscrete_plan(mu, ATOMS, EPS, key=KEY)


def test_bad_options_are_refused():
    mu = Gaussian([0.0], [[1.0]])
    with pytest.raises(InputError, match="key"):
        semidiscrete_plan(mu, ATOMS, EPS, key=0)
    with pytest.raises(InputError, match="samples"):
        semidiscrete_plan(mu, ATOMS, EPS, key=KEY, samples=1)
    with pytest.raises(InputError, match="eps"):
        semidiscrete_plan(mu, ATOMS, -1.0, key=KEY)
