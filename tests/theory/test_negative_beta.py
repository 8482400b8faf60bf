"""Attention with negative beta on the circle (N5)."""

import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.theory import negative_beta


@pytest.mark.parametrize(
    ("n", "threshold"),
    [
        (3, -2 / 3),
        (5, -2.1099242318),
        (7, -4.4309083052),
        (9, -8.0240768366),
        (11, -11.8869260827),
    ],
)
def test_equispaced_tokens_are_stable_below(n, threshold):
    """N5-O1."""
    assert abs(negative_beta.equispaced_threshold(n) - threshold) < 1e-9


@pytest.mark.parametrize(
    ("p", "q", "threshold"),
    [
        (2, 1, -2.212427964),
        (1, 2, -1.442904602),
        (3, 2, -1.748619801),
        (2, 3, -1.222296783),
        (4, 3, -1.535480659),
        (2, 2, -2 / 3),
    ],
)
def test_three_clusters_balance_below(p, q, threshold):
    """N5-O2."""
    beta, phi = negative_beta.three_clusters_threshold(p, q)
    assert abs(beta - threshold) < 1e-8
    if (p, q) == (2, 1):
        assert abs(phi - 1.806616492) < 1e-7
    if (p, q) == (1, 2):
        assert abs(phi - 2.362874277) < 1e-8


def test_rates_are_those_of_the_flow():
    """The Jacobian of USA at equispaced tokens has the rates as eigenvalues."""
    n, beta = 5, -2.5
    mu = pf.Particles.equispaced(pf.Circle(), n)
    J = pf.linearize(pf.UnnormalizedAttention(beta), mu)
    found = np.sort(np.asarray(J.spectrum()).real)
    known = [negative_beta.equispaced_rate(n, k, beta) for k in range(n)]
    np.testing.assert_allclose(found, np.sort(known), atol=1e-12)
    assert found[:-1].max() < 0 and abs(found[-1]) < 1e-12  # stable, but for turning


@pytest.mark.parametrize(("beta", "order"), [(-1.46, 0.36709), (-1.42, 1.0)])
def test_five_tokens_on_both_sides_of_the_threshold(beta, order):
    """N5-O3: from angles (0, 1.9, 1.9, -1.9, -1.9), disturbed by 1e-3."""
    angles = jnp.asarray([0.0, 1.9, 1.9, -1.9, -1.9])
    angles += 1e-3 * jnp.sin(1.0 + 3 * jnp.arange(5.0))
    points = jnp.stack([jnp.cos(angles), jnp.sin(angles)], axis=1)
    field = pf.UnnormalizedAttention(beta)
    run = pf.flow(field, pf.Particles(pf.Circle(), points), 3000.0, save=2)
    found = jnp.linalg.norm(run.final.points.mean(axis=0))
    assert abs(float(found) - order) < 1e-4


def test_an_even_number_is_refused():
    with pytest.raises(InputError, match="must be odd"):
        negative_beta.equispaced_threshold(6)
