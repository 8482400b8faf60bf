"""Contracts of functionals, their first variations and their gradient flows."""

import contract_examples as examples
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError

ALL = [
    item
    for item in examples.examples(examples.FUNCTIONALS)
    if item[0] not in examples.ON_DENSITIES
]
WITH_IDS = pytest.mark.parametrize(
    "F", [item[1] for item in ALL], ids=[item[2] for item in ALL]
)
value = eqx.filter_jit(lambda F, mu: F(mu))


@pytest.fixture
def mu():
    return examples.tokens("Attention")


@WITH_IDS
def test_variation_is_the_derivative_in_the_weights(F, mu):
    """d/ds F(mu + s nu) = int dF/dmu dnu for signed nu of total mass zero."""
    nu = np.cos(np.arange(6.0))
    nu -= nu.mean()
    w, h = np.asarray(mu.weights), 1e-4
    shifted = lambda s: float(  # noqa: E731
        value(F, mu.moved(mu.points, jnp.log(jnp.asarray(w + s * nu))))
    )
    numerical = (shifted(h) - shifted(-h)) / (2 * h)
    exact = float(F.variation(mu.points, mu) @ nu)
    assert numerical == pytest.approx(exact, rel=1e-7)


@WITH_IDS
def test_gradient_is_the_derivative_in_the_points(F, mu):
    """d/ds F((id + s xi)_# mu) = int <grad dF/dmu, xi> dmu."""
    xi = np.sin(1.0 + np.arange(18.0)).reshape(6, 3)
    h = 1e-5
    shifted = lambda s: float(value(F, mu.moved(mu.points + s * xi)))  # noqa: E731
    numerical = (shifted(h) - shifted(-h)) / (2 * h)
    gradient = np.asarray(F.gradient(mu.points, mu))
    exact = float(np.asarray(mu.weights) @ (gradient * xi).sum(axis=1))
    assert numerical == pytest.approx(exact, rel=1e-7)


@pytest.mark.parametrize("metric", [m for ms in examples.METRICS.values() for m in ms])
@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["descends", "ascends"])
def test_gradient_flow_moves_its_functional_the_right_way(metric, sign, mu):
    E = pf.InteractionEnergy(2.0)
    run = pf.flow(pf.GradientFlow(sign * E, metric), mu, 1.0, save=9)
    energy = run.observe(E)
    assert (sign * np.diff(energy) < 0).all()
    assert float(run.final.weights.sum()) == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("metric", [m for ms in examples.METRICS.values() for m in ms])
def test_energy_balance(metric, mu):
    """dF/dt = int <grad dF/dmu, v> dmu + int dF/dmu g dmu, from one short flow."""
    E, h = pf.InteractionEnergy(2.0), 1e-4
    field = pf.GradientFlow(E, metric)
    run = pf.flow(field, mu, 2 * h, save=[h, 2 * h], solver=pf.Adaptive(1e-11, 1e-13))
    before, _, after = run.observe(E)
    middle = run[1]
    v, g = field(0.0, middle)
    w = np.asarray(middle.weights)
    rate = w @ np.sum(np.asarray(E.gradient(middle.points, middle)) * v, axis=1)
    if g is not None:
        rate += w @ (np.asarray(E.variation(middle.points, middle)) * np.asarray(g))
    assert (after - before) / (2 * h) == pytest.approx(float(rate), rel=1e-6)
    assert rate < 0


def test_unnormalized_attention_is_a_wasserstein_gradient_flow(mu):
    beta = 2.0
    ascent = pf.GradientFlow(-pf.InteractionEnergy(beta))(0.0, mu).v
    usa = pf.UnnormalizedAttention(beta)(0.0, mu).v
    np.testing.assert_allclose(ascent, 2 * beta * np.exp(-beta) * usa, atol=1e-14)


def test_attention_is_a_gradient_flow_in_the_softmax_metric(mu):
    beta = 2.0
    field = pf.GradientFlow(-pf.InteractionEnergy(beta), pf.SoftmaxWeighted(beta))
    sa = pf.Attention(beta)(0.0, mu).v
    np.testing.assert_allclose(field(0.0, mu).v, 2 * beta * sa, atol=1e-14)


@pytest.mark.parametrize("beta", [0, 0.0, -0.0])
def test_the_papers_energy_has_no_value_at_beta_zero(beta):
    """1/(2 beta) int int e^{beta <x,y>} is infinite, of either sign, on either side."""
    one = pf.Particles.orthonormal(pf.Sphere(3), 1)
    with pytest.raises(InputError, match="`beta` must not be 0"):
        pf.InteractionEnergy(beta).plain(one)
    assert float(pf.InteractionEnergy(beta)(one)) == 1.0


def test_energy_scalings_and_bounds():
    one = pf.Particles.orthonormal(pf.Sphere(3), 1)
    for beta in (0.5, 4.0, 1e6):
        assert float(pf.InteractionEnergy(beta)(one)) == pytest.approx(1.0, abs=1e-15)
    plain = float(pf.InteractionEnergy(4.0).plain(one))
    assert plain == pytest.approx(6.824768754143, abs=1e-11)  # P1-O15
    two = pf.Particles.orthonormal(pf.Sphere(3), 2)
    energy = float(pf.InteractionEnergy(3.0)(two))
    assert energy == pytest.approx((1 + np.exp(-3.0)) / 2, rel=1e-15)


def test_functionals_keep_precision(mu):
    mu32 = mu.astype(jnp.float32)
    for _, F, _ in ALL:
        assert F(mu32).dtype == jnp.float32
        assert F.variation(mu32.points, mu32).dtype == jnp.float32
        assert F.gradient(mu32.points, mu32).dtype == jnp.float32


def test_energy_is_differentiable_in_beta(mu):
    f = lambda b: pf.InteractionEnergy(b)(mu)  # noqa: E731
    numerical = (f(2.0 + 1e-5) - f(2.0 - 1e-5)) / 2e-5
    assert float(jax.grad(f)(2.0)) == pytest.approx(float(numerical), rel=1e-8)
