"""Implicit steps carried by particles, against closed forms (S5-O11 and S5.2)."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from scipy.stats import norm

from pushforward.errors import InputError, NumericalError
from pushforward.transport import (
    Gaussian,
    jko_step,
    particle_jko_step,
    spacing_entropy,
)


def ornstein_uhlenbeck(x):
    """KL(. | N(0, 1)) up to a constant; its flow is the Ornstein-Uhlenbeck flow."""
    return jnp.mean(x**2) / 2 + spacing_entropy(x)


def attraction(x):
    return jnp.mean(jnp.sum((x[:, None] - x[None]) ** 2, axis=-1)) / 2


@pytest.fixture(scope="module")
def equilibrium():
    """Forty particles at rest: implicit steps as long as one likes."""
    x = norm.ppf((np.arange(40) + 0.5) / 40)[:, None]
    for _ in range(3):
        x = particle_jko_step(x, ornstein_uhlenbeck, 1e4, tol=1e-11).points
    return x


def test_equilibrium_has_the_moments_of_the_gaussian(equilibrium):
    """The virial identity holds for the particles: the second moment is one."""
    assert np.mean(equilibrium) == pytest.approx(0, abs=1e-9)
    assert np.mean(equilibrium**2) == pytest.approx(1, abs=1e-9)
    gaps = norm.ppf((np.arange(40) + 0.5) / 40) - equilibrium.ravel()
    assert np.sqrt(np.mean(gaps**2)) < 0.06


def test_s5_o11_particles_take_the_steps_of_a_gaussian(equilibrium):
    """sd from 3, h = .1, and the mean 2 (1 + h)^-k: exact for every n."""
    x, mean = 2 + 3 * equilibrium, 2.0
    for sd in (2.760208317794292, 2.545000940113189, 2.352284369993397):
        step = particle_jko_step(x, ornstein_uhlenbeck, 0.1)
        assert step.residual <= 1e-10 and step.gap <= 1e-20
        x, mean = step.points, mean / 1.1
        assert x.mean() == pytest.approx(mean, abs=1e-8)
        assert x.std() == pytest.approx(sd, abs=1e-8)


def test_first_order_in_the_step(equilibrium):
    """At t = 1: mean e^-1 m, variance 1 + (s^2 - 1) e^-2; errors halve with h."""
    truth = np.array([2 * np.exp(-1.0), np.sqrt(1 + 8 * np.exp(-2.0))])
    errors = []
    for count in (5, 10, 20):
        x = 2 + 3 * equilibrium
        for _ in range(count):
            x = particle_jko_step(x, ornstein_uhlenbeck, 1 / count, tol=1e-9).points
        errors.append(np.abs([x.mean(), x.std()] - truth))
    rate = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert ((rate > 0.85) & (rate < 1.1)).all()
    np.testing.assert_allclose(rate[1], 1, atol=0.1)


def test_another_shape_follows_the_gaussian_as_particles_grow():
    """From Gaussian quantiles, which are no particle equilibrium: error falls in n."""
    expected = jko_step(Gaussian([0.0], [[4.0]]), Gaussian([0.0], [[1.0]]), 0.5)
    errors = []
    for n in (20, 80):
        x = 2 * norm.ppf((np.arange(n) + 0.5) / n)[:, None]
        y = particle_jko_step(x, ornstein_uhlenbeck, 0.5).points
        errors.append(abs(y.std() - np.sqrt(expected.covariance[0, 0])))
    assert errors[1] < 0.5 * errors[0] < 0.05


def test_attraction_in_the_plane_contracts_to_the_mean():
    """F = E|X - X'|^2 / 2: W_2 gradient 2 (x - mean), so the factor is 1/(1 + 2 h)."""
    x = np.random.default_rng(0).standard_normal((30, 2))
    step = particle_jko_step(x, attraction, 0.25)
    expected = x.mean(0) + (x - x.mean(0)) / 1.5
    np.testing.assert_allclose(step.points, expected, atol=1e-10)
    moved = np.sqrt(np.mean(np.sum((expected - x) ** 2, axis=1)))
    assert step.distance == pytest.approx(moved, abs=1e-10)
    value = attraction(jnp.asarray(expected)) + moved**2 / 0.5
    assert step.value == pytest.approx(float(value), abs=1e-12)


def test_gap_bounds_the_excess_of_a_stopped_step(equilibrium):
    x = 2 + 3 * equilibrium
    best = particle_jko_step(x, ornstein_uhlenbeck, 1.0)
    with pytest.raises(NumericalError, match="residual") as caught:
        particle_jko_step(x, ornstein_uhlenbeck, 1.0, iterations=2)
    early = caught.value.partial
    assert 0 < early.value - best.value <= early.gap
    assert early.residual > 1e-6


def test_nonconvex_energy_ends_where_the_labels_are_optimal():
    """A rotating pull far from convex: the coupling reported is the optimal one."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((12, 2))

    def wells(y):
        return jnp.mean(jnp.cos(3 * y[:, 0]) + jnp.sin(3 * y[:, 1]) * y[:, 0])

    step = particle_jko_step(x, wells, 2.0, iterations=500)
    table = cdist(x, step.points, "sqeuclidean")
    rows, columns = linear_sum_assignment(table)
    assert step.distance**2 == pytest.approx(table[rows, columns].mean(), abs=1e-12)
    assert step.value < float(wells(jnp.asarray(x)))  # better than staying
    assert step.residual <= 1e-10


@pytest.mark.parametrize(
    ("points", "energy", "h", "message"),
    [
        ([[0.0], [1.0]], attraction, 0.0, "`h` must be positive"),
        ([[0.0], [np.nan]], attraction, 0.1, "NaN"),
        ([0.0, 1.0], attraction, 0.1, "shape"),
        ([[0.0], [0.0]], spacing_entropy, 0.1, "distinct"),
        (np.zeros((3000, 2)), attraction, 0.1, "fewer particles"),
    ],
)
def test_bad_input(points, energy, h, message):
    with pytest.raises(InputError, match=message):
        particle_jko_step(points, energy, h)
