"""The likelihood as a functional: the one verb `flow` estimates mixtures."""

import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.statistics.galaxies import galaxy_velocities
from pushforward.statistics.mixtures import MixtureLikelihood, npmle, wfr

X = galaxy_velocities()[:, None] / 1000
L_STAR = 2.431004409472182


def start():
    return pf.Particles(pf.Euclidean(1), X)


@pytest.fixture(scope="module")
def run():
    """The Wasserstein-Fisher-Rao flow from the data to t = 20."""
    F = MixtureLikelihood(X)
    field = pf.GradientFlow(F, pf.WassersteinFisherRao())
    times = [0.0, 2.0, 20.0]
    return pf.flow(field, start(), 20.0, save=times, observe={"loss": F})


def test_value_and_mass():
    F, mu = MixtureLikelihood(X), start()
    assert float(F(mu)) == pytest.approx(2.488120188832, abs=1e-11)
    assert float(mu.weights @ F.variation(mu.points, mu)) == pytest.approx(
        -1, abs=1e-12
    )


def test_variation_is_the_derivative_of_the_value():
    F, mu = MixtureLikelihood(X), start()
    h, bump = 1e-6, np.zeros(82)
    bump[3], bump[50] = 1.0, -1.0
    values = [
        float(F(pf.Particles(pf.Euclidean(1), X, mu.weights + s * h * bump)))
        for s in (1, -1)
    ]
    slope = float(F.variation(mu.points, mu) @ jnp.asarray(bump))
    assert slope == pytest.approx((values[0] - values[1]) / (2 * h), abs=1e-7)


def test_variation_is_minus_the_certificate():
    fit = npmle(X)
    mu = pf.Particles(pf.Euclidean(1), fit.atoms, fit.weights)
    at = np.linspace(8, 35, 50)[:, None]
    D = -MixtureLikelihood(X).variation(jnp.asarray(at), mu)
    np.testing.assert_allclose(D, fit.optimality(at), atol=1e-12)
    assert float(MixtureLikelihood(X)(mu)) == pytest.approx(L_STAR, abs=1e-11)


def test_flow_descends_to_the_npmle(run):
    loss = np.asarray(run.observe(MixtureLikelihood(X)))
    assert (np.diff(loss) < 0).all()
    assert 0 < loss[-1] - L_STAR < 5e-4  # wfr with eta = .1 is at 1.8e-3 at t = 10
    assert float(run.final.weights.sum()) == pytest.approx(1, abs=1e-10)


def test_descent_is_the_flow_to_first_order(run):
    """Halving the step halves the distance to the flow at t = 2."""
    exact = float(MixtureLikelihood(X)(run.at(2.0)))
    errors = []
    for eta in (0.1, 0.05, 0.025):
        steps = round(2.0 / eta)
        errors.append(npmle(X, method=wfr(steps, eta)).loss - exact)
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    np.testing.assert_allclose(ratios, 2.0, atol=0.1)


def test_bad_data():
    with pytest.raises(InputError, match="NaN"):
        MixtureLikelihood(np.array([[np.nan]]))
