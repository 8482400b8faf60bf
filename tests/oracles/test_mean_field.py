"""Oracles on densities: P1-O21, P1-O24, P1-O25, CX-O3 and M4-9."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward import theory
from pushforward.flows.solvers._exponential import rate_of_coefficients

TIGHT = pf.Adaptive(rtol=1e-11, atol=1e-13)
CIRCLE = pf.Circle()
order = pf.observables.order_parameter


def poisson(resolution, r=0.3):
    angle = lambda x: np.arctan2(x[:, 1], x[:, 0])  # noqa: E731
    kernel = lambda x: theory.kuramoto.poisson_kernel(angle(x), r)  # noqa: E731
    return pf.Density.from_function(CIRCLE, resolution, kernel)


@functools.cache
def linearized(model, basis):
    """d/dt of the uniform density, and of a perturbation of it."""
    rho = pf.Density(basis)

    @jax.jit
    def at(beta, direction):
        rule = model(beta).on_density(basis)

        def slope(c):
            return rate_of_coefficients(rho.moved(c), rule(0.0, rho.moved(c)), None)

        return jax.jvp(slope, (rho.coefficients,), (direction,))

    return at


def linear_rate(model, beta, basis, k, m=0):
    j = basis.place(k, m)[0]
    direction = jnp.asarray(np.eye(1, len(basis.degrees), j)[0])
    value, rate = linearized(model, basis)(beta, direction)
    assert np.abs(value).max() < 1e-12  # uniform is stationary
    others = np.delete(np.asarray(rate), j)
    assert np.abs(others).max() < 1e-10 * max(1.0, abs(float(rate[j])))
    return float(rate[j])


@pytest.mark.parametrize(
    ("field", "k", "oracle"),
    [
        (pf.Attention(1.0), 1, 0.446389967),
        (pf.Attention(4.0), 2, 0.568238695),
        (pf.UnnormalizedAttention(4.0), 2, 6.42218936),
    ],
)
def test_p1_o21_growth_in_a_run(field, k, oracle):
    """The pseudo-spectral run of the notes: amplitude 1e-7, rate to 1e-7."""
    rho, t1 = pf.Density.uniform(CIRCLE, 64).perturbed(k, 1e-7), 1.0 / oracle
    run = pf.flow(field, rho, t1, save=2, solver=pf.Adaptive(1e-10, 1e-16))
    size = run.observe(lambda mu: mu.mode(k).real)
    rate = np.log(size[-1] / size[0]) / t1
    assert rate == pytest.approx(oracle, rel=1e-7)


@pytest.mark.parametrize(
    ("basis", "beta", "oracle"),
    [
        (pf.Fourier(32), 1.0, [0.446390, 0.428880, 0.157587]),
        (pf.Fourier(32), 4.0, [0.215881, 0.568239, 0.664389, 0.501251]),
        (pf.Fourier(32), 9.0, [0.104743, 0.351339, 0.591351, 0.704497]),
        (pf.Zonal(3, 24), 4.0, [0.375336, 0.655495, 0.613276]),
        (pf.Harmonics(12), 4.0, [0.375336, 0.655495, 0.613276]),
        (pf.Zonal(8, 24), 4.0, [0.742666]),
    ],
    ids=lambda value: repr(value) if not isinstance(value, list) else "",
)
def test_p1_o21_spectrum_about_the_uniform_density(basis, beta, oracle):
    d = basis.space.d
    sa = theory.stability.growth_rates(beta, d, 4)
    usa = theory.stability.growth_rates_unnormalized(beta, d, 4)
    for k in range(1, 5):
        rate = linear_rate(pf.Attention, beta, basis, k)
        assert rate == pytest.approx(sa[k], rel=1e-10)
        if k <= len(oracle):
            assert rate == pytest.approx(oracle[k - 1], abs=1e-6)
    rate = linear_rate(pf.UnnormalizedAttention, beta, basis, 3)
    assert rate == pytest.approx(usa[3], rel=1e-10)


def test_p1_o21_rates_on_the_sphere_do_not_depend_on_m():
    basis = pf.Harmonics(12)
    for m in (1, 2):
        rate = linear_rate(pf.Attention, 4.0, basis, 2, m)
        assert rate == pytest.approx(0.655495, abs=1e-6)


@pytest.mark.parametrize(
    ("d", "k_max", "largest"), [(2, 6, 0.714267), (3, 5, 0.719317), (8, 3, 0.715713)]
)
def test_p1_o21_fastest_degree(d, k_max, largest):
    rates = [linear_rate(pf.Attention, 16.0, pf.Zonal(d, 24), k) for k in range(1, 9)]
    assert int(np.argmax(rates)) + 1 == k_max
    assert max(rates) == pytest.approx(largest, abs=1e-6)


def test_p1_o24_kuramoto_on_a_density():
    run = pf.flow(
        pf.Attention(0.0), poisson(256), 4.0, save=[1.0, 2.0, 4.0], solver=TIGHT
    )
    oracle = [0.3, 0.460303404969, 0.649790537600, 0.918556222005]
    r = run.observe(order)
    np.testing.assert_allclose(r[:3], oracle[:3], atol=1e-10, rtol=0)
    # r^256 = 4e-10 is cut off at the end
    assert r[3] == pytest.approx(oracle[3], abs=1e-9)
    # the density stays a Poisson kernel: mode k is r^k
    third = run.observe(lambda mu: mu.mode(3).real)
    np.testing.assert_allclose(third[:3], np.array(oracle[:3]) ** 3, atol=1e-10)
    assert run.outcome.kind == "reached t1"


@pytest.mark.parametrize(
    ("field", "times", "oracle"),
    [
        (
            pf.Attention(2.0),
            [1.0, 2.0, 4.0],
            [0.412005894274, 0.546998800274, 0.793348910331],
        ),
        (pf.Attention(4.0), [1.0, 2.0], [0.368231314957, 0.447193323255]),
        (
            pf.UnnormalizedAttention(2.0),
            [0.1, 0.2, 0.4],
            [0.324325040173, 0.350348789814, 0.407149965659],
        ),
        (pf.UnnormalizedAttention(4.0), [0.1, 0.2], [0.385655486870, 0.474190480399]),
    ],
    ids=repr,
)
def test_p1_o25_order_parameter_with_temperature(field, times, oracle):
    run = pf.flow(field, poisson(256), times[-1], save=times, solver=TIGHT)
    r = run.observe(order)[1:]
    np.testing.assert_allclose(r, oracle, atol=1e-10, rtol=0)


def test_p1_o25_says_when_a_density_is_no_longer_resolved():
    """USA, beta = 4: peaks narrow like e^{-e^beta t}; no r(0.4) is made up."""
    run = pf.flow(pf.UnnormalizedAttention(4.0), poisson(256), 0.4, save=5)
    assert run.outcome.kind == "unresolved"
    assert 0.2 < run.times[-1] < 0.3
    assert "Raise the resolution above 256" in run.outcome.message
    assert float(run.final.resolution_error) > 1e-4


@pytest.mark.parametrize(
    ("basis", "beta", "kappa"),
    [
        (pf.Fourier(32), 1.0, 1.769413238),
        (pf.Fourier(32), 4.0, 0.409858526),
        (pf.Zonal(3, 24), 2.0, 2.052581507),
    ],
    ids=repr,
)
def test_cx_o3_uniform_loses_stability_at_the_threshold(basis, beta, kappa):
    """Mode 1 stands still at kappa and moves at c (1 - kappa/kappa') beside it."""
    d, size = basis.space.d, 1e-7
    rho = pf.Density(basis).perturbed(1, size)
    rate = theory.stability.growth_rates_unnormalized(beta, d, 1)[1]
    assert rate == pytest.approx((d - 1) / kappa, rel=1e-8)
    for ratio in (0.9, 1.0, 1.1):
        noise = pf.Brownian(np.sqrt(2 / (ratio * kappa)))
        run = pf.flow(
            pf.UnnormalizedAttention(beta),
            rho,
            1.0 / rate,
            save=2,
            noise=noise,
            solver=pf.Adaptive(1e-10, 1e-15),
        )
        grown = np.log(float(jnp.real(run.final.mode(1))) / size)
        assert grown == pytest.approx(1 - 1 / ratio, abs=1e-6)


def test_m4_9_mean_field_of_decoder_tokens():
    """f_1 = 0.1, beta = 1; there the field is beta USA, and beta = 1."""
    rho = pf.Density.uniform(CIRCLE, 64).perturbed(1, 0.1)
    run = pf.flow(
        pf.UnnormalizedAttention(1.0), rho, 1.5, save=[1.0, 1.5], solver=TIGHT
    )
    f1, f2 = (run.observe(lambda mu, k=k: mu.mode(k).real) for k in (1, 2))
    np.testing.assert_allclose(f1, [0.1, 0.1754477641, 0.2312883233], atol=1e-10)
    assert f2[1] == pytest.approx(0.0262357022, abs=1e-10)
