"""Steps of a noisy density: their order, their number, and what they agree with."""

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy

import pushforward as pf
from pushforward.flows.solvers._exponential import (
    ORDER_4,
    Exponential,
    phi,
    rate_of_coefficients,
    stages_of,
    weights_at,
)

FIELD, NOISE = pf.UnnormalizedAttention(2.0), pf.Brownian(1.5)
PAIRS = [diffrax.Bosh3(), diffrax.Dopri5(), diffrax.Tsit5()]
METHODS = [pf.Heun(0.1), *(pf.Adaptive(scheme=pair) for pair in PAIRS)]


def lean(basis, tilt=1.0):
    return pf.Density.from_function(basis, 0, lambda x: jnp.exp(tilt * x[:, -1]))


@pytest.fixture(scope="module")
def reference():
    """The same modes by a purely explicit method of another library, to 1e-12."""
    rho = lean(pf.Fourier(16))
    rule, decay = rho.rule_of(FIELD), NOISE.diffusion * rho.basis.eigenvalues

    @jax.jit
    def rate(c):
        mu = rho.moved(c)
        return rate_of_coefficients(mu, rule(0.0, mu), None) - decay * c

    exact = scipy.integrate.solve_ivp(
        lambda _, c: np.asarray(rate(jnp.asarray(c))),
        (0.0, 1.0),
        np.asarray(rho.coefficients),
        method="DOP853",
        rtol=1e-12,
        atol=1e-13,
    )
    return rho, exact.y[:, -1]


def error_of_fixed_steps(stages, reference, n):
    rho, exact = reference
    solver, rule = Exponential(pf.Adaptive(), NOISE.diffusion), rho.rule_of(FIELD)

    def step(_, state):
        return solver._step(stages, rule, 0.0, 1.0 / n, *state, None)[:2]

    start = (rho, rule(0.0, rho))
    end = jax.jit(lambda s: jax.lax.fori_loop(0, n, step, s)[0])(start)
    return np.linalg.norm(end.coefficients - exact)


@pytest.mark.parametrize(
    "stages", [*map(stages_of, METHODS), ORDER_4], ids=lambda s: f"{len(s.c)} stages"
)
def test_every_method_keeps_its_order(stages, reference):
    """h L is 9 to 18 at the last mode, where a lost order would be seen."""
    errors = [error_of_fixed_steps(stages, reference, n) for n in (16, 32)]
    assert np.log2(errors[0] / errors[1]) > 0.9 * stages.order
    assert errors[1] < 3e-4


@pytest.mark.parametrize("scheme", [diffrax.Tsit5(), diffrax.Dopri8()])
def test_the_result_is_that_of_an_explicit_method(scheme, reference):
    """Also by a scheme whose stages go back and forth in time."""
    rho, exact = reference
    solver = pf.Adaptive(scheme=scheme)
    run = pf.flow(FIELD, rho, 1.0, save=2, noise=NOISE, solver=solver)
    np.testing.assert_allclose(run.final.coefficients, exact, atol=1e-8)


@pytest.mark.parametrize(
    "basis", [pf.Fourier, lambda K: pf.Zonal(3, K)], ids=["circle", "zonal"]
)
def test_steps_do_not_grow_with_the_resolution(basis):
    """Where attention and diffusion balance, and on the way there."""
    runs = [
        pf.flow(
            pf.UnnormalizedAttention(4.0),
            lean(basis(modes), 3.0),
            10.0,
            save=2,
            noise=pf.Brownian(np.sqrt(2 / 0.4)),
        )
        for modes in (24, 96)
    ]
    assert int(runs[0].steps) == pytest.approx(int(runs[1].steps), rel=0.02)
    r = [run.observe(pf.observables.order_parameter)[-1] for run in runs]
    assert r[0] == pytest.approx(r[1], abs=1e-7)


def test_a_state_at_rest_is_one_for_every_step():
    kappa = 3.0
    rho = pf.Density.uniform(pf.Circle(), 20).perturbed(1, 0.3)
    noise = pf.Brownian(np.sqrt(2 / kappa))
    rest = pf.flow(pf.Attention(0.0), rho, 200.0, save=2, noise=noise).final
    known = pf.theory.noisy.order_parameter(kappa, 2)
    assert float(rest.mode(1).real) == pytest.approx(known, abs=1e-8)
    for h in (0.01, 1.0):
        far = pf.flow(
            pf.Attention(0.0), rest, 5.0, save=2, noise=noise, solver=pf.Heun(h)
        )
        assert float(far.final.mode(1).real) == pytest.approx(known, abs=1e-8)


@pytest.mark.parametrize("degree", [0, 1, 3])
def test_weights_have_the_integrals_of_the_exponential(degree):
    z = -np.array([0.0, 1e-9, 0.3, 0.999, 1.0, 7.0, 300.0, 1e6])
    x, w = scipy.special.roots_legendre(12)
    x, w = (x + 1) / 2, w / 2
    found = np.asarray(weights_at(jnp.asarray(x), jnp.asarray(z), degree))
    np.testing.assert_allclose(found[:, 0], 1.0, atol=1e-11)
    for l in range(1, degree + 2):
        moments = [
            scipy.special.hyp1f1(1, l + 2, float(v)) / (l + 1) for v in z
        ]  # l! phi_{l+1}
        np.testing.assert_allclose((w * x**l) @ found, moments, rtol=1e-11)


def test_phi_at_zero_and_its_slope():
    """phi_k' = phi_k - k phi_{k+1}, on both sides of where the series ends."""
    assert [float(f[0]) for f in phi(jnp.zeros(1), 4)] == [1, 1 / 2, 1 / 6, 1 / 24]
    slope = jax.vmap(jax.grad(lambda z: phi(z[None], 2)[1][0]))
    z = jnp.array([0.0, -0.5, -2.0, -100.0])
    two, three = phi(z, 3)[1:]
    np.testing.assert_allclose(slope(z), two - 2 * three, rtol=1e-12)


def test_a_noisy_density_under_jit_vmap_and_grad():
    rho = lean(pf.Fourier(12), 0.5)

    def order(sigma):
        noise = pf.Brownian(sigma)
        run = pf.flow(FIELD, rho, 0.3, save=2, noise=noise, solver=pf.Heun(0.05))
        return pf.observables.order_parameter(run.final)

    sigmas = jnp.array([0.1, 0.7, 2.0])
    together = jax.jit(jax.vmap(order))(sigmas)
    np.testing.assert_allclose(together, [order(s) for s in sigmas], atol=1e-14)
    up, down = order(0.7 + 1e-4), order(0.7 - 1e-4)
    slope = (float(up) - float(down)) / 2e-4
    assert float(jax.grad(order)(0.7)) == pytest.approx(slope, rel=1e-6)
