"""Sinkhorn attention: doubly stochastic, a gradient flow, half of heat (N6)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.sums import balanced
from pushforward.theory import gaussian_tokens

ROWS, COLUMNS = np.arange(8)[:, None], np.arange(3)[None, :]
SINE = pf.Particles.normalized(
    pf.Sphere(3), np.sin(1 + 3 * ROWS + 7 * COLUMNS + ROWS * COLUMNS)
)
FIELD, ENERGY = pf.SinkhornAttention(4.0), pf.SinkhornEnergy(4.0)


def test_velocity_and_energy():
    """N6-O1, and the rate of N6-O2: dE/dt = mean |v|^2."""
    v = np.asarray(FIELD(0.0, SINE).v)
    np.testing.assert_allclose(
        v[[0, 7]],
        [
            [-0.102360097471, -0.010973704765, 0.149149301800],
            [0.172298941167, 0.008660835973, -0.038550589155],
        ],
        atol=1e-10,
    )
    assert abs(ENERGY(SINE) - 0.302793569400) < 1e-10
    assert abs(np.mean(np.sum(v**2, axis=1)) - 0.0153131466) < 1e-9


def test_gradient_flow():
    """The velocity is the Wasserstein gradient of the energy, by another way."""
    climbing = pf.GradientFlow(-ENERGY)(0.0, SINE).v
    np.testing.assert_allclose(climbing, FIELD(0.0, SINE).v, atol=1e-13)


def test_flow():
    """N6-O2."""
    run = pf.flow(FIELD, SINE, 5.0, save=[1.0, 5.0])
    found = run.observe(ENERGY)[1:]
    np.testing.assert_allclose(found, [0.322926994, 0.378471971], atol=1e-8)
    near = run.observe(pf.InteractionEnergy(4.0))[1:]
    np.testing.assert_allclose(near, [0.2524601867, 0.4063775318], atol=1e-8)


def test_growth_about_the_uniform_measure():
    """N6-O3: SA over 1 + q_k, by a small mode of a density."""
    cases = [(1.0, 1, 0.3086235223), (4.0, 2, 0.3623419678)]
    cases += [(4.0, 3, 0.5129290990), (9.0, 4, 0.5045529849)]
    for beta, k, expected in cases:
        rho = pf.Density.uniform(pf.Circle(), 24).perturbed(k, 1e-6)
        v = pf.SinkhornAttention(beta).on_density(rho.basis)(0.0, rho).v
        slope = -rho.basis.divergence(rho.values[:, None] * v)
        rate = rho.moved(slope).mode(k).real / 1e-6
        assert abs(rate - expected) < 1e-6


def test_energy_of_the_uniform_measure():
    """N6-O4."""
    for space, expected in ((pf.Circle(), 0.3031215994), (pf.Sphere(3), 0.2400278674)):
        assert abs(ENERGY(pf.Density.uniform(space, 16)) - expected) < 1e-10


def test_two_tokens_of_unequal_mass():
    """N6-O5: at a right angle the speeds are the weights."""
    mu = pf.Particles(pf.Circle(), [[1.0, 0.0], [0.0, 1.0]], [0.8, 0.2])
    v = pf.SinkhornAttention(2.0)(0.0, mu).v
    assert abs(v[0, 1] - 0.0576234591) < 1e-10
    assert abs(v[1, 0] - 0.2304938364) < 1e-10


def test_heat_limit():
    """N6-O6: beta v / (log rho)' tends to 1/2, and to 1 for softmax."""
    rho = pf.Density.from_function(pf.Circle(), 96, lambda x: 1 + x[:, 0] / 2)
    top = int(np.argmax(rho.basis.points[:, 1]))
    for field, expected in ((pf.SinkhornAttention(50.0), 0.49812),
                            (pf.Attention(50.0), 0.98999)):  # fmt: skip
        v = field.on_density(rho.basis)(0.0, rho).v[top, 0]
        assert abs(50.0 * v / -0.5 - expected) < 1e-4


def test_columns_sum_to_the_masses():
    """With matrices too: sum_i w_i Pi_ij = w_j, by V y = 1 in one coordinate each."""
    Q, K = np.cos(ROWS[:3] + 2 * COLUMNS), np.sin(2 * ROWS[:3] + COLUMNS + 1)
    mu = pf.Particles(pf.Euclidean(3), 0.5 * SINE.points, np.arange(1.0, 9.0) / 36)
    v = pf.SinkhornAttention(1.0, Q, K)(0.0, mu).v
    np.testing.assert_allclose(mu.weights @ v, mu.mean(), atol=1e-12)
    softmax = pf.Attention(1.0, Q, K)(0.0, mu).v
    assert np.abs(mu.weights @ softmax - mu.mean()).max() > 1e-3


def test_gaussian_tokens():
    """N4-O7, Sinkhorn: mean and variance of one coordinate, no blow-up."""
    mu, fine = pf.Gaussian([0.5], [[0.8]]), pf.Adaptive(1e-10, 1e-12)
    for v, expected in ((1.0, 3.3624076175), (-1.0, 0.3461157510)):
        field = pf.SinkhornAttention(1.0, V=[[v]])
        end = pf.flow(field, mu, 1.0, save=2, solver=fine).final
        assert abs(end.covariance[0, 0] - expected) < 1e-9
        assert abs(end.center[0] - 0.5 * np.exp(v)) < 1e-8
        closed = gaussian_tokens.sinkhorn_attention(1.0, v, 0.8)
        assert abs(end.covariance[0, 0] - closed) < 1e-8


def test_derivatives_are_those_of_differences():
    """By the implicit function, through the balance of the kernel."""

    def speed(beta):
        return jnp.sum(pf.SinkhornAttention(beta)(0.0, SINE).v[0] ** 2)

    numerical = (speed(4.0 + 1e-5) - speed(4.0 - 1e-5)) / 2e-5
    assert abs(jax.grad(speed)(4.0) - numerical) < 1e-8
    assert abs(jax.jvp(speed, (4.0,), (1.0,))[1] - numerical) < 1e-8


def test_balance_of_a_matrix():
    """A narrow kernel, where Sinkhorn's own steps would take thousands."""
    x = np.linspace(0.0, 1.0, 12)
    logs = jnp.asarray(-200.0 * (x[:, None] - x[None]) ** 2)
    total = lambda f: jax.nn.logsumexp(logs + f[None] - np.log(12), axis=1)  # noqa: E731
    f = balanced(total, jnp.zeros(12))
    rows = jnp.exp(f[:, None] + f[None] + logs).mean(axis=1)
    np.testing.assert_allclose(rows, 1.0, atol=1e-13)


def test_bad_input():
    with pytest.raises(InputError, match="`beta` must not be 0"):
        pf.SinkhornEnergy(0.0)
