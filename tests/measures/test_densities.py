"""Densities: bases, conversion to and from particles, and what they refuse."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ive

import pushforward as pf
from pushforward.errors import InputError
from pushforward.sums import funk_hecke

BASES = [pf.Fourier(9), pf.Zonal(2, 7), pf.Zonal(3, 8), pf.Zonal(9, 8), pf.Harmonics(6)]
WITH_IDS = pytest.mark.parametrize("basis", BASES, ids=repr)


def coefficients(basis):
    return jnp.asarray(np.cos(1.0 + np.arange(len(basis.degrees)) ** 2))


@WITH_IDS
def test_functions_are_orthonormal_and_the_laplacian_diagonal(basis):
    c = coefficients(basis)
    np.testing.assert_allclose(basis.project(basis.values(c)), c, atol=1e-12)
    laplacian = basis.divergence(basis.gradient(c))
    np.testing.assert_allclose(laplacian, -basis.eigenvalues * c, atol=1e-10)
    assert basis.weights.sum() == pytest.approx(1.0, abs=1e-14)
    d, x = basis.space.d, basis.points
    if not isinstance(basis, pf.Zonal):  # int x x^T = I / d
        second = np.einsum("n,ni,nj->ij", basis.weights, x, x)
        np.testing.assert_allclose(second, np.eye(d) / d, atol=1e-14)


@WITH_IDS
def test_quadratic_terms_are_not_aliased(basis):
    """int phi_i phi_j phi_k by the grid of the basis and by one twice as fine."""
    fine = {
        pf.Fourier: lambda: pf.Fourier(18),
        pf.Zonal: lambda: pf.Zonal(basis.space.d, 2 * basis.resolution),
        pf.Harmonics: lambda: pf.Harmonics(12),
    }[type(basis)]()
    c = coefficients(basis)
    product = basis.project(basis.values(c) ** 2)
    values = basis.at(c, jnp.asarray(fine.points))
    exact = fine.project(values**2)[: len(c)]
    if isinstance(basis, pf.Zonal):
        np.testing.assert_allclose(product, exact, atol=1e-10)
    else:  # another layout: compare at points instead
        x = jnp.asarray(fine.points[::7])
        kept = (fine.degrees <= basis.resolution).astype(float)
        cut = fine.project(values**2) * kept
        np.testing.assert_allclose(basis.at(product, x), fine.at(cut, x), atol=1e-10)


@WITH_IDS
def test_gradient_is_the_derivative_along_the_frame(basis):
    c, x = coefficients(basis), jnp.asarray(basis.points)
    gradient = np.asarray(basis.gradient(c))
    for q in range(basis.frame.shape[1]):
        step = 1e-5 * jnp.asarray(basis.frame[:, q])
        ends = [basis.at(c, basis.space.project(x + s * step)) for s in (1.0, -1.0)]
        numerical = np.asarray(ends[0] - ends[1]) / 2e-5
        np.testing.assert_allclose(gradient[:, q], numerical, atol=2e-6)


@pytest.mark.parametrize("space", [pf.Circle(), pf.Sphere(3), pf.Sphere(5)], ids=repr)
def test_modes_of_float32_tokens_are_float64(space):
    mu = pf.Particles.uniform(space, 7, key=jax.random.key(0))
    found = pf.observables.Mode(2)(mu.astype("float32"))
    assert found.dtype in (jnp.float64, jnp.complex128)
    np.testing.assert_allclose(found, pf.observables.Mode(2)(mu), atol=1e-6)


# On the circle and S^2 `from_particles` takes their own bases, not the zonal ones.
OWN = [pf.Fourier(9), pf.Zonal(9, 8), pf.Harmonics(6)]


@pytest.mark.parametrize("basis", OWN, ids=repr)
def test_modes_of_particles_are_exact(basis):
    x = pf.Particles.gaussian(basis.space, 40, mean=0.3, key=jax.random.key(0))
    again = pf.Density.from_particles(x, basis.resolution)
    np.testing.assert_allclose(
        again.coefficients, basis.moments(x.points, x.weights), atol=1e-14
    )
    mean = np.asarray(x.mean())
    if isinstance(basis, pf.Zonal):
        mean = mean * np.eye(basis.d)[-1]
    np.testing.assert_allclose(again.mean(), mean, atol=1e-11)
    assert complex(again.mode(0)) == pytest.approx(1.0, abs=1e-12)
    smooth = pf.Density.from_particles(x, basis.resolution, bandwidth=0.5)
    factor = np.exp(-0.125 * basis.eigenvalues)
    np.testing.assert_allclose(
        smooth.coefficients, factor * again.coefficients, atol=1e-15
    )


def test_modes_have_the_normalization_of_the_notes():
    theta = 0.7
    one = pf.Particles(pf.Circle(), pf.Circle().points(jnp.array([theta])))
    rho = pf.Density.from_particles(one, 5)
    for k in range(-5, 6):
        assert complex(rho.mode(k)) == pytest.approx(np.exp(-1j * k * theta), abs=1e-14)
        if k >= 0:
            seen = complex(pf.observables.Mode(k)(one))
            assert seen == pytest.approx(complex(rho.mode(k)), abs=1e-14)
    z = 0.3
    x = np.array([[np.sqrt(1 - z**2), 0.0, z]])
    on_sphere = pf.Density.from_particles(pf.Particles(pf.Sphere(3), x), 4)
    zonal = pf.Density(pf.Zonal(3, 4)).basis.moments(jnp.asarray(x), jnp.ones(1))
    legendre = [1.0, z, (3 * z**2 - 1) / 2, (5 * z**3 - 3 * z) / 2]
    for k, expected in enumerate(legendre):
        assert complex(on_sphere.mode(k)) == pytest.approx(expected, abs=1e-11)
        mode = pf.Density(pf.Zonal(3, 4), zonal).mode(k)
        assert float(mode) == pytest.approx(expected, abs=1e-14)
    # |mode (1, 1)|: sqrt(4 pi / 3) |Y_11| = sin / sqrt(2)
    size = np.sqrt((1 - z**2) / 2)
    assert abs(complex(on_sphere.mode(1, 1))) == pytest.approx(size, abs=1e-11)


@pytest.mark.parametrize("beta", [0.0, 1e-9, 0.7, 25.0, 4000.0, -3.0])
@pytest.mark.parametrize("d", [2, 3, 8])
def test_funk_hecke_coefficients(beta, d):
    """c_l = Gamma(d/2) (2/beta)^{d/2-1} I_{l+d/2-1}(beta), here by quadrature."""
    fine = pf.Zonal(d, 120) if abs(beta) < 100 else pf.Zonal(d, 900)
    s, w = fine.heights, fine.weights
    kernel = np.exp(beta * s - abs(beta))
    c = np.asarray(funk_hecke(jnp.asarray(beta), d, 6))
    P = [np.ones_like(s), s]
    for k in range(1, 5):
        top = (2 * k + d - 2) * s * P[-1] - k * P[-2]
        P.append(top / (k + d - 2))
    exact = [(w * kernel) @ p for p in P]  # to the rounding of the weights
    np.testing.assert_allclose(c, exact, rtol=1e-10, atol=3e-14)
    if d == 2 and beta > 0:
        np.testing.assert_allclose(c, ive(np.arange(6), beta), rtol=1e-12)


@pytest.mark.parametrize("basis", [pf.Fourier(24), pf.Zonal(5, 24), pf.Harmonics(16)])
def test_samples_have_the_law_they_were_drawn_from(basis):
    """Round trip: every low mode within five standard errors, 1e-5 to fail."""
    n = 40_000
    tilt = 0.0 if isinstance(basis, pf.Zonal) else 0.5
    lean = lambda x: jnp.exp(1.5 * x[:, -1] + tilt * x[:, 0])  # noqa: E731
    rho = pf.Density.from_function(basis, 0, lean)
    mu = rho.sample(jax.random.key(3), n)
    assert mu.n == n and np.max(mu.space.residual(mu.points)) < 1e-12
    modes = basis.moments(mu.points, mu.weights)
    error = np.abs(np.asarray(modes - rho.coefficients))[basis.degrees <= 4]
    # The variance of phi_j is at most int phi_j^2 rho <= max rho.
    assert error.max() < 5 * np.sqrt(float(rho.values.max()) / n)


def test_evaluation_and_function_agree():
    f = lambda x: jnp.exp(x[:, 0] - 0.5 * x[:, 2])  # noqa: E731
    rho = pf.Density.from_function(pf.Sphere(3), 20, f)
    x = pf.Particles.uniform(pf.Sphere(3), 50, key=jax.random.key(1)).points
    norm = np.sinh(np.sqrt(1.25)) / np.sqrt(1.25)
    np.testing.assert_allclose(rho(x), np.asarray(f(x)) / norm, atol=1e-10)
    assert float(rho.mass) == pytest.approx(1.0, abs=1e-15)
    mean = np.asarray(rho.mean())  # vMF: Langevin(kappa) along (1, 0, -1/2)
    kappa = np.sqrt(1.25)
    expected = (1 / np.tanh(kappa) - 1 / kappa) * np.array([1, 0, -0.5]) / kappa
    np.testing.assert_allclose(mean, expected, atol=1e-12)
    np.testing.assert_allclose(rho.quadrature().mean(), expected, atol=1e-12)
    assert float(rho.resolution_error) < 1e-13
    assert float(rho.spectrum[0]) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    "basis", [pf.Fourier(40), pf.Zonal(3, 40), pf.Harmonics(16)], ids=repr
)
def test_energy_of_a_density_is_that_of_its_quadrature(basis):
    lean = lambda x: jnp.exp(1.2 * x[:, -1])  # noqa: E731
    rho = pf.Density.from_function(basis, 0, lean)
    grid = pf.Fourier(24) if basis.space.d == 2 else pf.Harmonics(16)
    x, w = grid.points, grid.weights * np.exp(1.2 * grid.points[:, -1])
    w = w / w.sum()
    for beta in (3.0, -2.0):
        exact = w @ np.exp(beta * x @ x.T - abs(beta)) @ w
        assert float(pf.InteractionEnergy(beta)(rho)) == pytest.approx(exact, rel=1e-11)
    r = pf.observables.order_parameter(rho)
    assert float(r) == pytest.approx(np.linalg.norm(w @ x), abs=1e-12)
    assert float(pf.observables.mean_cosine(rho)) == pytest.approx(float(r) ** 2)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: pf.Density.uniform(pf.Circle(), 0), "`resolution` must be an integer"),
        (lambda: pf.Density.uniform(pf.Circle(), -3), "got -3"),
        (lambda: pf.Density.uniform(pf.Circle(), 8.0), "got 8.0"),
        (lambda: pf.Density.uniform(pf.Euclidean(2), 8), "Use Particles|use Particles"),
        (lambda: pf.Density("x"), "`basis` must be a basis"),
        (lambda: pf.Density(pf.Fourier(2), np.ones(4)), r"shape \(5,\)"),
        (lambda: pf.Density(pf.Fourier(1), [2.0, 0, 0]), "mass 1, got 2"),
        (lambda: pf.Density(pf.Fourier(1), [1.0, np.nan, 0]), "NaN"),
        (lambda: _uniform().perturbed(1, 0.7), "nonnegative, got a minimum of -0"),
        (lambda: _uniform().perturbed(0, 0.1), "mode 0 is the mass"),
        (lambda: _uniform().perturbed(9, 0.1), "at most the resolution 8"),
        (lambda: _uniform().mode(9), "at most the resolution 8"),
        (lambda: _uniform().sample(jax.random.key(0), 0), "`n` must be"),
        (lambda: _uniform()(np.ones((2, 2))), "must lie on Circle"),
        (
            lambda: pf.Density.from_function(pf.Circle(), 8, lambda x: x),
            "one number per point",
        ),
        (
            lambda: pf.Density.from_function(pf.Circle(), 8, lambda x: x[:, 0]),
            "nonnegative",
        ),
        (
            lambda: pf.Density.from_function(pf.Circle(), 8, lambda x: 0 * x[:, 0]),
            "zero everywhere",
        ),
        (
            lambda: pf.Density.from_particles(
                pf.Particles.equispaced(pf.Circle(), 3), 8, bandwidth=-1.0
            ),
            "`bandwidth`",
        ),
        (lambda: pf.Density(pf.Zonal(3, 4)).quadrature(), "one meridian"),
        (lambda: pf.Density.uniform(pf.Sphere(3), 4).mode(1, 2), "`m` at most k"),
        (lambda: pf.Zonal(1, 4), "`d` must be"),
    ],
)
def test_bad_input_names_the_value_and_the_fix(make, match):
    with pytest.raises(InputError, match=match):
        make()


def _uniform():
    return pf.Density.uniform(pf.Circle(), 8)


def test_without_ducc_the_message_says_what_to_do(monkeypatch):
    import builtins

    original = builtins.__import__

    def missing(name, *args, **kwargs):
        if name == "ducc0":
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(InputError, match="pip install ducc0"):
        pf.Harmonics(4)
