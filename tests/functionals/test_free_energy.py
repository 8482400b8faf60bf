"""Entropy and free energy of densities (N1)."""

import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError

RHO = pf.Density.from_function(pf.Circle(), 48, lambda x: np.exp(1.5 * x[:, 0]))


def test_entropy_of_von_mises():
    """KL = kappa r - log I_0(kappa)."""
    from scipy.special import i0, i1

    expected = 1.5 * i1(1.5) / i0(1.5) - np.log(i0(1.5))
    assert abs(pf.Entropy()(RHO) - expected) < 1e-12
    zonal = pf.Density.from_function(pf.Zonal(3, 40), 40, lambda x: np.exp(x[:, -1]))
    coth = 1 / np.tanh(1.0)
    assert abs(pf.Entropy()(zonal) - (coth - 1 - np.log(np.sinh(1.0)))) < 1e-12


@pytest.mark.parametrize("F", [pf.Entropy(), pf.FreeEnergy(2.0, 1.5)])
def test_variation_is_the_derivative_along_modes(F):
    h, rho = 1e-5, RHO
    for k in (1, 3):
        up, down = rho.perturbed(k, h), rho.perturbed(k, -h)
        shape = (up.values - down.values) / (2 * h)
        exact = rho.basis.weights @ (F.variation(rho.points, rho) * shape)
        assert abs((F(up) - F(down)) / (2 * h) - exact) < 1e-8


@pytest.mark.slow
def test_at_the_threshold_of_the_uniform_measure():
    """N1-O5: the ordered state is far below the uniform one already."""
    kappa = 0.4098585257
    rho = pf.Density.from_function(pf.Circle(), 64, lambda x: np.exp(3.0 * x[:, 0]))
    noise = pf.Brownian(np.sqrt(2 / kappa))
    F = pf.FreeEnergy(4.0, kappa)
    field = pf.UnnormalizedAttention(4.0)
    run = pf.flow(field, rho, 60.0, save=13, noise=noise, observe={"F": F})
    fallen = run.observed["F"]
    assert (np.diff(fallen) < 1e-10).all()  # it descends, and rests
    assert abs(fallen[-1] + 0.0363454099) < 1e-8
    assert abs(run.final.mode(1).real - 0.7873066784) < 1e-7


@pytest.mark.parametrize("modes", [24, 64])
def test_hysteresis(modes):
    """N1-O4 at kappa = 0.40: two stable states, by where the density starts."""
    options = {
        "save": 2,
        "noise": pf.Brownian(np.sqrt(2 / 0.4)),
        "solver": pf.Adaptive(1e-10),
    }
    field = pf.UnnormalizedAttention(4.0)
    ordered = pf.Density.from_function(
        pf.Circle(), modes, lambda x: np.exp(3 * x[:, 0])
    )
    uniform = pf.Density.uniform(pf.Circle(), modes).perturbed(1, 0.05)
    runs = [pf.flow(field, rho, 400.0, **options) for rho in (ordered, uniform)]
    ends = [run.final.mode(1).real for run in runs]
    np.testing.assert_allclose(ends, [0.7399203240, 0.0], atol=1e-8)
    assert [run.times[-1] for run in runs] == [400.0, 400.0]
    assert max(int(run.steps) for run in runs) < 15_000  # at 24 modes and at 64


def test_atoms_have_no_entropy():
    mu = pf.Particles.equispaced(pf.Circle(), 4)
    for F in (pf.Entropy(), pf.FreeEnergy(2.0, 1.0)):
        with pytest.raises(InputError, match="must be a Density"):
            F(mu)
    with pytest.raises(InputError, match="Brownian"):
        pf.flow(pf.GradientFlow(pf.Entropy()), RHO, 1.0)
