"""Growth is part of the algebra of fields: carried by every combination.

With a growth rate c_i per token that does not change, the weights at time t are
softmax(log w_i + factor c_i t), where the combination decides the factor.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.fields import AbstractField, AbstractMeanField, Drive

T = 0.8
HEUN = pf.Heun(0.4)  # exact for a constant rate, and quick to compile
RATES = np.array([0.5, -1.0, 2.0, 0.0])
WEIGHTS = np.array([0.1, 0.2, 0.3, 0.4])
A = np.array([0.3, -1.2])


class Tilt(AbstractMeanField):
    """Nothing moves; mass at x grows at the rate <a, x>."""

    a: jax.Array

    def at(self, t, x, mu):
        return jnp.zeros_like(x)

    def growth(self, t, mu):
        return mu.points @ self.a


class Rates(AbstractField):
    """Nothing moves; token i grows at the rate c_i."""

    c: jax.Array

    def drive(self, t, mu):
        return Drive(jnp.zeros_like(mu.points), growth=self.c)


def tokens(space=None, radius=1.0):
    x = pf.Circle().points(jnp.array([0.1, 1.0, 2.5, 4.0]))
    return pf.Particles(space or pf.Circle(), radius * x, WEIGHTS)


def grown(rates, factor=1.0):
    logits = np.log(WEIGHTS) + T * factor * np.asarray(rates)
    return np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()


def by_direction(mu):
    return np.asarray(pf.Circle().project(mu.points)) @ A


c = Rates(jnp.asarray(RATES))
still = pf.HardAttention()  # on the sphere each token likes itself best
COMBINED = {
    "sum": (c + still - 2.5 * c, -1.5),
    "multiple": (-2.0 * (c + still), -2.0),
    "heads alike": (pf.Heads([c, c, c]), 3.0),
    "heads of two kinds": (pf.Heads([c, still, c]), 2.0),
    "switched": (pf.Switched([c, 2.0 * c, still], [0.0, 0.2, 0.5, 0.8]), 1.0),
    "nested": (2.0 * pf.Heads([pf.Switched([c + still], [0.0, 0.4]), c]), 3.0),
    "nGPT": (pf.UnitNorm(c + still), 1.0),
}


@pytest.mark.parametrize("case", COMBINED)
def test_a_constant_rate_per_token_through_every_combination(case):
    field, factor = COMBINED[case]
    final = pf.flow(field, tokens(), T, save=2, solver=HEUN).final
    np.testing.assert_allclose(final.weights, grown(RATES, factor), rtol=1e-12)


@pytest.mark.parametrize("solver", [pf.Adaptive(), pf.Layers(0.4), pf.LieTrotter(0.4)])
def test_a_constant_rate_per_token_under_every_solver(solver):
    final = pf.flow(2.0 * (c + still), tokens(), T, save=2, solver=solver).final
    np.testing.assert_allclose(final.weights, grown(RATES, 2.0), rtol=1e-12)


@pytest.mark.parametrize(
    "scheme",
    [pf.PreNorm, lambda f: pf.MixNorm(f, 0.3), pf.PeriNorm, pf.DepthScaledNorm],
    ids=["Pre-LN", "Mix-LN", "Peri-LN", "LN-scaling"],
)
def test_normalized_tokens_grow_at_the_rate_of_their_directions(scheme):
    """Whatever the scheme does to the speed, the law of the mass is that of theta."""
    mu = tokens(pf.Euclidean(2), radius=3.0)
    final = pf.flow(scheme(Tilt(jnp.asarray(A))), mu, T, save=2, solver=HEUN).final
    np.testing.assert_allclose(final.points, mu.points, atol=1e-15)
    np.testing.assert_allclose(final.weights, grown(by_direction(mu)), rtol=1e-12)


def test_free_tokens_grow_in_front_of_a_background():
    mu = tokens()
    field = pf.Background(Tilt(jnp.asarray(A)), pf.Circle().points(jnp.array([0.0])))
    final = pf.flow(field, mu, T, save=2, solver=HEUN).final
    np.testing.assert_allclose(final.weights, grown(by_direction(mu)), rtol=1e-12)


def test_a_density_grows_like_particles():
    """rho_t = rho_0 e^{t <a, x>} over its mass, by quadrature."""
    rho = pf.Density.uniform(pf.Circle(), 24)
    tilt = Tilt(jnp.asarray(A))
    x, w = np.asarray(rho.points), np.asarray(rho.basis.weights)
    field = pf.Heads([0.5 * tilt, tilt + tilt])
    final = pf.flow(field, rho, T, save=2, solver=pf.Heun(0.01)).final
    expected = np.exp(T * 2.5 * x @ A)
    np.testing.assert_allclose(final.values, expected / (w @ expected), rtol=2e-3)
    assert float(final.mass) == pytest.approx(1.0, abs=1e-12)


def test_the_scaled_drive_scales_growth_too():
    mu = tokens()
    for field, _ in COMBINED.values():
        t, unit = jnp.asarray(0.1), jnp.asarray(-3.0)
        g, scaled = field.drive(t, mu).growth, field.scaled_drive(t, mu, unit).growth
        np.testing.assert_allclose(scaled, np.exp(3.0) * g, rtol=1e-14)
