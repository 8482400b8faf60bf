"""P1-O22 to O26: spectra of equilibria, consensus rates, the mean-field limit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import iv

import pushforward as pf

TIGHT = pf.Adaptive(rtol=1e-11, atol=1e-12)
CIRCLE = pf.Circle()


def angular_velocity(field, theta):
    x = CIRCLE.points(theta)
    mu = pf.Particles.equispaced(CIRCLE, len(theta)).moved(x)
    v = field(0.0, mu).v
    return x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]


def predicted_spectrum(n, beta):
    """mu_m of USA and SA about n equispaced points, m = 0, ..., n - 1."""
    reach = 40 + 6 * n
    k = np.arange(-reach, reach + 1)
    bessel = iv(np.abs(k), beta)
    own = (k**2 * bessel)[k % n == 0].sum()
    usa = [((k**2 * bessel)[(k + m) % n == 0].sum() - own) / beta for m in range(n)]
    return np.array(usa), np.array(usa) / bessel[k % n == 0].sum()


@pytest.mark.parametrize(
    ("n", "beta", "listed"),
    [
        (2, 1.0, [0.238405844]),
        (3, 2.0, [0.271671, 0.271671]),
        (4, 3.0, [0.5421199, 0.2755584, 0.2755584]),
        (6, 4.0, [1.0611775, 0.8158866, 0.8158866, 0.2860866, 0.2860866]),
        (12, 4.0, [0.6680589, 0.6680589, 0.5690579, 0.5690579, 0.5150642, 0.5150642]),
    ],
)
def test_p1_o22_spectrum_of_equispaced_tokens(n, beta, listed):
    theta = 2 * jnp.pi * jnp.arange(float(n)) / n
    usa, sa = predicted_spectrum(n, beta)
    for field, predicted in (
        (pf.UnnormalizedAttention(beta), usa),
        (pf.Attention(beta), sa),
    ):
        jacobian = jax.jit(jax.jacfwd(angular_velocity, argnums=1))(field, theta)
        measured = np.sort(np.linalg.eigvals(np.asarray(jacobian)).real)
        np.testing.assert_allclose(measured, np.sort(predicted), atol=1e-10)
    largest = np.sort(sa)[::-1][: len(listed)]
    np.testing.assert_allclose(largest, listed, atol=1e-6)


@pytest.mark.parametrize(
    ("model", "beta", "rate"),
    [
        (pf.Attention, 1.0, 1.0),
        (pf.Attention, 5.0, 1.0),
        (pf.UnnormalizedAttention, 5.0, 148.4131591026),
    ],
)
def test_p1_o23_consensus_rate(sine, model, beta, rate):
    near = np.array([0.0, 0.0, 1.0]) + 1e-4 * sine(8, 3)
    mu = pf.Particles.normalized(pf.Sphere(3), near)
    run = pf.flow(model(beta), mu, 1.0 / rate, save=2, solver=TIGHT)
    x = np.asarray(run.points)
    spread = np.linalg.norm(x - x[:, :1], axis=-1)[:, 1:]
    measured = np.log(spread[0] / spread[1])  # over the time 1 / rate
    np.testing.assert_allclose(measured, 1.0, rtol=1e-6)


def poisson_quantiles(n, r0=0.3):
    u = (np.arange(n) + 0.5) / n
    theta = 2 * np.arctan((1 - r0) / (1 + r0) * np.tan(np.pi * (u - 0.5)))
    return pf.Particles(CIRCLE, CIRCLE.points(theta))


def order(mu):
    return jnp.linalg.norm(mu.mean())


def test_p1_o24_kuramoto_order_parameter():
    run = pf.flow(
        pf.Attention(0.0),
        poisson_quantiles(200),
        4.0,
        save=[1.0, 2.0, 4.0],
        solver=TIGHT,
    )
    r = run.observe(order)
    oracle = [0.3, 0.460303404969, 0.649790537600, 0.918556222005]
    q = 0.09 / 0.91 * np.exp([0.0, 1.0, 2.0, 4.0])
    np.testing.assert_allclose(oracle, np.sqrt(q / (1 + q)), atol=1e-11)
    np.testing.assert_allclose(r[:3], oracle[:3], atol=1e-10, rtol=0)
    assert r[3] == pytest.approx(oracle[3], abs=1e-8)


@pytest.mark.parametrize(
    ("model", "beta", "times", "oracle", "last"),
    [
        (
            pf.Attention,
            2.0,
            [1.0, 2.0, 4.0],
            [0.412005894274, 0.546998800274, 0.793348910331],
            1e-10,
        ),
        (
            pf.Attention,
            4.0,
            [1.0, 2.0, 4.0],
            [0.368231314957, 0.447193323255, 0.601014018535],
            1e-10,
        ),
        (
            pf.UnnormalizedAttention,
            2.0,
            [0.1, 0.2, 0.4],
            [0.324325040173, 0.350348789814, 0.407149965659],
            1e-10,
        ),
        (
            pf.UnnormalizedAttention,
            4.0,
            [0.1, 0.2, 0.4],
            [0.385655486870, 0.474190480399, 0.525573],
            6e-6,
        ),
    ],
)
def test_p1_o25_order_parameter_with_temperature(model, beta, times, oracle, last):
    mu = poisson_quantiles(400)
    run = pf.flow(model(beta), mu, times[-1], save=times, solver=TIGHT)
    r = run.observe(order)[1:]
    np.testing.assert_allclose(r[:2], oracle[:2], atol=1e-10, rtol=0)
    assert r[2] == pytest.approx(oracle[2], abs=last)


LARGER = pytest.param(400, 0.98, marks=pytest.mark.slow)


@pytest.mark.parametrize(("n", "scaled"), [(100, 0.90), LARGER])
def test_p1_o26_sampling_error_decays_like_the_square_root(n, scaled):
    """rms error of r(2) times sqrt(n) over 60 seeds; the band is four deviations."""
    seeds, limit = 60, 0.649790537600
    u = jax.random.uniform(jax.random.key(7), (seeds, n))
    theta = 2 * jnp.arctan(0.7 / 1.3 * jnp.tan(jnp.pi * (u - 0.5)))
    start = pf.Particles.equispaced(CIRCLE, n)

    @jax.jit
    @jax.vmap
    def final_order(theta):
        mu = start.moved(CIRCLE.points(theta))
        return order(pf.flow(pf.Attention(0.0), mu, 2.0, save=2).final)

    rms = np.sqrt(np.mean((np.asarray(final_order(theta)) - limit) ** 2))
    band = 4 * scaled / np.sqrt(2 * seeds)
    assert rms * np.sqrt(n) == pytest.approx(scaled, abs=band)
