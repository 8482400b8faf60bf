"""Noise shared by all tokens, and the law given the noise."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward import theory

CIRCLE = pf.Circle()
KEY = jax.random.key(5)


def increments(sigma, h, steps, d=2):
    """What the flow draws: the key of a step depends on the step alone."""
    noise = pf.CommonNoise(sigma)
    draw = lambda k: noise.shared(jax.random.fold_in(KEY, k), h, d)  # noqa: E731
    return np.asarray(jax.vmap(draw)(jnp.arange(steps)))


def test_all_tokens_receive_the_same_push_whatever_their_number():
    noise, key = pf.CommonNoise(0.3), jax.random.key(1)
    few = pf.Particles.uniform(pf.Sphere(3), 2, key=key)
    many = pf.Particles.uniform(pf.Sphere(3), 50, key=key)
    a, b = noise.increment(key, 0.1, few), noise.increment(key, 0.1, many)
    np.testing.assert_array_equal(b, np.broadcast_to(a[0], (50, 3)))


def test_variances_and_keys_of_a_sum():
    noise = pf.Brownian(0.3) + pf.CommonNoise(0.4)
    assert float(noise.diffusion) == pytest.approx(0.045)
    shared = noise.shared(KEY, 1.0, 3)
    alone = pf.CommonNoise(0.4).shared(jax.random.fold_in(KEY, 1), 1.0, 3)
    np.testing.assert_array_equal(shared, alone)
    mu = pf.Particles.uniform(pf.Sphere(3), 20_000, key=KEY)
    total = np.asarray(noise.increment(KEY, 1.0, mu)) - np.asarray(shared)
    assert total.std() == pytest.approx(0.3, rel=0.02)
    assert pf.Brownian(0.3).shared(KEY, 1.0, 3) is None


@pytest.mark.parametrize("d", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_common_noise_alone_brings_tokens_together(d):
    """log distance falls at (d - 1) sigma^2 / 2: every exponent of the gradient flow.

    Two tokens at 1e-6, 400 paths to t = 2: the mean of the logarithm within four
    standard errors. Its variance is sigma^2 t, from the derivative along the path.
    """
    sigma, t1, paths = 0.7, 2.0, 400
    x = np.zeros((2, d))
    x[:, 0], x[1, 1] = 1.0, 1e-6
    mu = pf.Particles.normalized(pf.Sphere(d), x)

    @jax.jit
    @jax.vmap
    def gap(key):
        run = pf.flow(
            0.0 * pf.Attention(0.0),
            mu,
            t1,
            save=2,
            noise=pf.CommonNoise(sigma),
            solver=pf.Heun(0.02),
            key=key,
        )
        return jnp.linalg.norm(run.final.points[0] - run.final.points[1])

    logs = np.log(np.asarray(gap(jax.random.split(KEY, paths))) / 1e-6)
    error = logs.std() / np.sqrt(paths)
    assert logs.mean() == pytest.approx(-(d - 1) * sigma**2 / 2 * t1, abs=4 * error)
    assert error < 0.06


def test_given_the_noise_a_poisson_kernel_stays_one():
    """Moebius maps: z' = (z - |z|^2 z)/2 + sigma (dW - z^2 conj dW)/2, Stratonovich.

    beta = 0 and common noise both act by the Moebius group, so that mode k of the law
    given the noise is conj(z)^k, along straight pieces of the same path.
    """
    sigma, h, t1, parts = 0.5, 0.01, 1.0, 40
    dW = increments(sigma, h, round(t1 / h)) @ np.array([1.0, 1.0j])
    pull = lambda z, w: (z * h + w - np.conj(z * h + w) * z**2) / (2 * parts)  # noqa: E731
    z = 0.3 + 0.0j
    for w in np.repeat(dW, parts):
        k = pull(z, w)
        z = z + (k + pull(z + k, w)) / 2
    angle = lambda x: np.arctan2(x[:, 1], x[:, 0])  # noqa: E731
    kernel = lambda x: theory.kuramoto.poisson_kernel(angle(x), 0.3)  # noqa: E731
    rho = pf.Density.from_function(CIRCLE, 64, kernel)
    options = {"noise": pf.CommonNoise(sigma), "solver": pf.Heun(h), "key": KEY}
    run = pf.flow(pf.Attention(0.0), rho, t1, save=2, **options)
    assert run.outcome.kind == "reached t1"
    for k in (1, 2, 3):
        assert complex(run.final.mode(k)) == pytest.approx(np.conj(z) ** k, abs=1e-6)
    assert abs(z - 0.46) > 0.05  # far from where it would be without noise
    # tokens of the same law under the same key; Heun's steps are off by O(h)
    theta = jnp.asarray(theory.kuramoto.quantile_points(100, 0.3))
    mu = pf.Particles(CIRCLE, CIRCLE.points(theta))
    cloud = pf.flow(pf.Attention(0.0), mu, t1, save=2, **options)
    seen = complex(pf.observables.Mode(1)(cloud.final))
    assert seen == pytest.approx(np.conj(z), abs=0.02)


def test_the_same_key_gives_the_same_law_bitwise():
    rho = pf.Density.uniform(CIRCLE, 16).perturbed(1, 0.2)
    noise = pf.Brownian(0.2) + pf.CommonNoise(0.3)
    runs = [
        pf.flow(pf.Attention(1.0), rho, 0.2, save=2, noise=noise, key=key)
        for key in (KEY, KEY, jax.random.key(6))
    ]
    a, b, c = (np.asarray(run.final.coefficients) for run in runs)
    np.testing.assert_array_equal(a, b)
    assert np.abs(a - c).max() > 1e-3
