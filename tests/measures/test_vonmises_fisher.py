"""Samples of the law e^{kappa <mean, x>}, against its Bessel quotients."""

import jax
import numpy as np
import pytest
from scipy.special import ive

import pushforward as pf

N = 20_000


def cosines(d, kappa, mean):
    space = pf.Circle() if d == 2 else pf.Sphere(d)
    key = jax.random.key(3)
    mu = pf.Particles.vonmises_fisher(space, N, mean=mean, kappa=kappa, key=key)
    unit = np.asarray(mean) / np.linalg.norm(mean)
    return np.asarray(mu.points), np.asarray(mu.points) @ unit


@pytest.mark.parametrize("d,kappa", [(2, 0.5), (2, 5.0), (3, 9.0), (8, 50.0)])
def test_two_moments_of_the_cosine(d, kappa):
    """E c = I_{d/2} / I_{d/2-1} = A and E c^2 = 1 - (d - 1) A / kappa."""
    _, c = cosines(d, kappa, np.arange(1.0, d + 1))
    A = ive(d / 2, kappa) / ive(d / 2 - 1, kappa)
    for found, exact in ((c, A), (c**2, 1 - (d - 1) * A / kappa)):
        assert abs(found.mean() - exact) < 4 * found.std() / np.sqrt(N)


@pytest.mark.parametrize("kappa", [1e12, 1e20, 1e99])
def test_a_huge_concentration_is_a_small_gaussian(kappa):
    """kappa |x - mean|^2 has the law chi^2 of d - 1; sampling once never ended here."""
    x, _ = cosines(3, kappa, [1.0, 0.0, 0.0])
    across = kappa * np.sum(x[:, 1:] ** 2, axis=1)
    assert abs(across.mean() - 2) < 4 * 2 / np.sqrt(N)
    assert abs((across < 2 * np.log(2)).mean() - 0.5) < 4 * 0.5 / np.sqrt(N)
