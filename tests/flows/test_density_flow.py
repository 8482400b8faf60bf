"""Flows of densities: laws, agreement with particles, noise, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError

CIRCLE = pf.Circle()
E = pf.InteractionEnergy(2.0)


def lean(basis, tilt=1.0):
    return pf.Density.from_function(basis, 0, lambda x: jnp.exp(tilt * x[:, -1]))


@pytest.fixture(scope="module")
def plain_run():
    return pf.flow(
        pf.Attention(2.0), lean(pf.Fourier(24)), 1.0, save=5, observe={"E": E}
    )


def test_mass_is_kept_and_energy_grows(plain_run):
    mass = plain_run.observe(lambda mu: mu.mass)
    np.testing.assert_array_equal(mass, 1.0)
    assert (np.diff(plain_run.observed["E"]) > 0).all()
    assert plain_run.outcome.kind == "reached t1"
    assert "minimum" in plain_run.outcome.message
    assert plain_run.observe(lambda mu: mu.minimum).min() > 0
    assert len(plain_run) == 5 and "5 frames" in repr(plain_run)


def test_between_frames_densities_are_averaged(plain_run):
    middle = plain_run.at(0.125)
    expected = (plain_run[0].coefficients + plain_run[1].coefficients) / 2
    np.testing.assert_allclose(middle.coefficients, expected, atol=1e-15)


def test_the_frames_of_a_density_have_no_particles(plain_run):
    with pytest.raises(InputError, match="sample"):
        _ = plain_run.points


WAVES = pf.Fourier(24)


@pytest.mark.parametrize(
    "field,basis",
    [
        (pf.Attention(2.0), WAVES),
        (pf.UnnormalizedAttention(2.0, log_scale=-1.0), WAVES),
        (pf.GradientFlow(-pf.InteractionEnergy(2.0)), WAVES),
        (pf.GradientFlow(0.5 * E + pf.InteractionEnergy(1.0)), WAVES),
        (2.0 * pf.Attention(1.0) + pf.UnnormalizedAttention(1.0), WAVES),
        (pf.Heads([pf.Attention(1.0), pf.Attention(3.0)]), WAVES),
        (pf.Attention(2.0), pf.Harmonics(14)),
        (pf.UnnormalizedAttention(2.0, log_scale=-1.0), pf.Harmonics(14)),
    ],
    ids=repr,
)
def test_modes_and_quadrature_give_one_velocity(field, basis):
    """The spectral rule against the same field on the grid as weighted particles."""
    rho = lean(basis)
    v, g = field.on_density(basis)(0.0, rho)
    expected = jax.jit(lambda mu: field(0.0, mu).v)(rho.quadrature())
    ambient = np.einsum("nq,nqd->nd", v, basis.frame)
    np.testing.assert_allclose(ambient, expected, atol=1e-9)
    assert g is None


@pytest.mark.parametrize("d", [2, 3])
def test_zonal_and_full_densities_agree(d):
    full = pf.Fourier(24) if d == 2 else pf.Harmonics(14)
    zonal = pf.Zonal(d, full.resolution)
    v_full = pf.Attention(2.0).on_density(full)(0.0, lean(full)).v
    v_zonal = pf.Attention(2.0).on_density(zonal)(0.0, lean(zonal)).v
    # the component along growing s, as a function of s
    s = full.points[:, -1]
    push = np.einsum("nq,nq->n", v_full, full.frame[:, :, -1])  # d s / dt
    rising = np.asarray(v_zonal[:, 0]) * zonal.frame[:, 0, -1]
    fit = np.polynomial.Polynomial.fit(zonal.heights, rising, 12, domain=[-1, 1])
    np.testing.assert_allclose(push, fit(s), atol=1e-8)


def test_matrices_and_perceptrons_go_through_the_grid():
    W, A, b = np.array([[0.3, 0.1], [0.0, 0.5]]), np.eye(2), np.zeros(2)
    field = pf.Attention(1.0, V=np.diag([1.0, -0.5])) + pf.Perceptron(W, A, b, jnp.tanh)
    basis = pf.Fourier(24)
    v, _ = field.on_density(basis)(0.0, lean(basis))
    expected = field(0.0, lean(basis).quadrature()).v
    ambient = np.einsum("nq,nqd->nd", v, basis.frame)
    np.testing.assert_allclose(ambient, expected, atol=1e-9)


@pytest.mark.slow
def test_fisher_rao_reweights_a_density_as_it_does_particles():
    rho = lean(pf.Fourier(16))
    field = pf.GradientFlow(-E, pf.FisherRao())
    run = pf.flow(field, rho, 0.5, save=2)
    assert float(run.final.mass) == pytest.approx(1.0, abs=1e-12)
    # dE/dt = int |dE/dmu - mean|^2 dmu, at the start
    variation = np.asarray(E.variation(rho.points, rho.quadrature()))
    w = np.asarray(rho.quadrature().weights)
    rate = w @ (variation - w @ variation) ** 2
    short = pf.flow(field, rho, 1e-3, save=2).observe(E)
    assert (short[1] - short[0]) / 1e-3 == pytest.approx(rate, rel=2e-3)


@pytest.mark.slow
def test_switched_fields_switch_on_time():
    rho = lean(pf.Fourier(24))
    parts = [pf.Attention(1.0), -1.0 * pf.Attention(1.0)]
    there_and_back = pf.Switched(parts, [0.0, 0.5, 1.0])
    run = pf.flow(there_and_back, rho, 1.0, save=3, solver=pf.Adaptive(1e-9, 1e-11))
    np.testing.assert_allclose(run[2].coefficients, rho.coefficients, atol=1e-8)
    assert np.abs(run[1].coefficients - rho.coefficients).max() > 0.05


def test_diffusion_alone_is_exact_for_any_step():
    """e^{-sigma^2/2 l (l + d - 2) t}; an explicit step of 0.5 would need h < 1e-3."""
    sigma, rho = 0.8, lean(pf.Zonal(3, 40), 3.0)
    run = pf.flow(
        0.0 * pf.Attention(1.0),
        rho,
        1.0,
        save=2,
        noise=pf.Brownian(sigma),
        solver=pf.Heun(0.5),
    )
    decay = np.exp(-(sigma**2) / 2 * rho.basis.eigenvalues)
    np.testing.assert_allclose(
        run.final.coefficients, decay * rho.coefficients, atol=1e-15
    )


@pytest.mark.slow
def test_a_density_is_the_law_of_many_particles_with_the_same_noise():
    """The same Brownian(sigma): five standard errors of 1,000 particles."""
    rho, noise = lean(pf.Fourier(24)), pf.Brownian(1.2)
    law = pf.flow(pf.Attention(2.0), rho, 1.0, save=2, noise=noise)
    mu = rho.sample(jax.random.key(0), 1000)
    run = pf.flow(
        pf.Attention(2.0),
        mu,
        1.0,
        save=2,
        noise=noise,
        solver=pf.Heun(0.05),
        key=jax.random.key(1),
    )
    modes = [pf.observables.Mode(k) for k in (1, 2)]
    for mode in modes:
        gap = abs(complex(mode(run.final)) - complex(mode(law.final)))
        assert gap < 5 / np.sqrt(1000)
    # without the noise the gap would be visible
    free = pf.flow(pf.Attention(2.0), rho, 1.0, save=2)
    assert abs(complex(free.final.mode(1)) - complex(law.final.mode(1))) > 0.25


@pytest.mark.slow
def test_orders_of_the_steps():
    rho, noise = lean(pf.Fourier(24)), pf.Brownian(0.5)
    field = pf.Attention(1.0)
    exact = pf.flow(
        field, rho, 1.0, save=2, noise=noise, solver=pf.Adaptive(1e-12, 1e-13)
    )
    errors = []
    for h in (0.1, 0.05, 0.025):
        run = pf.flow(field, rho, 1.0, save=2, noise=noise, solver=pf.Heun(h))
        off = run.final.coefficients - exact.final.coefficients
        errors.append(np.linalg.norm(off))
    slopes = np.diff(np.log(errors)) / np.log(0.5)
    np.testing.assert_allclose(slopes, 2.0, atol=0.1)


def test_noise_wins_below_the_threshold_and_the_outcome_says_so():
    rho = pf.Density.uniform(CIRCLE, 16).perturbed(1, 0.2)
    run = pf.flow(pf.Attention(0.0), rho, 60.0, save=2, noise=pf.Brownian(1.4))
    assert run.outcome.kind == "stationary"
    assert abs(run.final.mode(1)) < 1e-8


def test_until_stops_at_the_time_it_becomes_true():
    rho = pf.Density.uniform(CIRCLE, 16).perturbed(1, 0.1)
    half = lambda mu: mu.mode(1).real > 0.15  # noqa: E731
    run = pf.flow(pf.Attention(0.0), rho, 5.0, save=3, until=half)
    assert run.outcome.kind == "until"
    assert float(run.final.mode(1).real) == pytest.approx(0.15, abs=1e-8)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"merge": pf.Merge()}, "`merge` joins particles"),
        ({"solver": pf.Layers(0.1)}, r"Adaptive\(\) or Heun"),
        ({"solver": pf.LieTrotter(0.1)}, r"Adaptive\(\) or Heun"),
        ({"noise": pf.CommonNoise(0.1)}, "needs a `key`"),
        (
            {
                "noise": pf.CommonNoise(0.1),
                "key": jax.random.key(0),
                "solver": pf.Adaptive(),
            },
            "fixed step",
        ),
        ({"field": pf.CausalAttention(1.0)}, "has a value at its tokens only"),
        ({"field": pf.Attention(1e6)}, "Use Particles"),
        (
            {"mu": pf.Density(pf.Fourier(2), [1.0, 1.2, 0, 0, 0])},
            "must not be negative",
        ),
        (
            {"mu": pf.Density(pf.Zonal(4, 8)), "field": pf.Attention(1.0, V=np.eye(4))},
            "keep a zonal density zonal",
        ),
        (
            {
                "mu": pf.Density(pf.Zonal(4, 8)),
                "noise": pf.CommonNoise(0.1),
                "key": jax.random.key(0),
            },
            "must not be zonal",
        ),
    ],
)
def test_what_a_density_cannot_do_is_refused(arguments, match):
    given = {"field": pf.Attention(1.0), "mu": pf.Density(pf.Fourier(8))} | arguments
    field, mu = given.pop("field"), given.pop("mu")
    with pytest.raises(InputError, match=match):
        pf.flow(field, mu, 1.0, **given)


@pytest.mark.slow
@pytest.mark.parametrize("basis", [pf.Fourier(8), pf.Harmonics(6)], ids=repr)
def test_a_flow_of_a_density_is_differentiable_in_beta(basis):
    rho = lean(basis, 0.5)
    final = lambda beta: pf.observables.order_parameter(  # noqa: E731
        pf.flow(pf.Attention(beta), rho, 0.5, save=2, solver=pf.Heun(0.1)).final
    )
    slope = float(jax.grad(final)(1.0))
    numerical = (float(final(1.0 + 1e-4)) - float(final(1.0 - 1e-4))) / 2e-4
    assert slope == pytest.approx(numerical, rel=1e-6)
