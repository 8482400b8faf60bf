"""Attention as empirical Bayes (N9)."""

import math

import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.theory import empirical_bayes


def test_risks_of_a_two_point_prior():
    """N9-O1 and O2."""
    assert abs(empirical_bayes.bayes_risk(2.0) - 0.2743896352) < 1e-9
    betas = (0.5, 1.0, 4.0, 16.0)
    one = [empirical_bayes.one_step_risk(beta, 2.0) for beta in betas]
    known = [0.5117352661, 0.5206705665, 0.7473420218, 0.9178543596]
    np.testing.assert_allclose(one, known, atol=1e-8)
    tweedie = [empirical_bayes.tweedie_risk(beta, 2.0) for beta in betas]
    known = [0.6920885120, 0.5206705665, 0.3142763857, 0.2778303776]
    np.testing.assert_allclose(tweedie, known, atol=1e-8)
    beta, least = empirical_bayes.best_one_step(2.0)
    assert abs(beta - 0.66092) < 1e-5 and abs(least - 0.4987222884) < 1e-9


def test_a_gaussian_prior():
    """N9-O5."""
    tau = math.sqrt(1.5)
    assert abs(empirical_bayes.gaussian_one_step_risk(1.0, tau) - 0.6326530612) < 1e-9
    best = empirical_bayes.gaussian_beta(tau)
    assert abs(best - 0.6) < 1e-12
    assert abs(empirical_bayes.gaussian_one_step_risk(best, tau) - 0.6) < 1e-12
    assert abs(empirical_bayes.gaussian_depth(4.0, tau) - 0.5638532030) < 1e-9


def test_one_step_is_attention_of_the_library():
    """Quantiles of the noisy context as tokens; in R^1 the bias of a key,

    -beta |x|^2/2, is a weight.
    """
    beta, a, n = 4.0, 2.0, 4001
    u = (np.arange(n) + 0.5) / n
    grid = np.linspace(-9, 9, 40001)
    law = 0.5 * (1 + np.vectorize(math.erf)((grid - a) / math.sqrt(2)))
    law = (law + 0.5 * (1 + np.vectorize(math.erf)((grid + a) / math.sqrt(2)))) / 2
    x = np.interp(u, law, grid)
    bias = -beta * x**2 / 2
    weights = np.exp(bias - bias.max())
    mu = pf.Particles(pf.Euclidean(1), x[:, None], weights / weights.sum())
    found = pf.Attention(beta).at(0.0, jnp.asarray([[0.7]]), mu)[0, 0]
    known = (beta * 0.7 + a * np.tanh(a * 0.7 / (1 + 1 / beta))) / (1 + beta)
    assert abs(float(found) - known) < 1e-4
