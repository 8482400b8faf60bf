"""The fused GPU kernels, in interpret mode on the CPU, against float64."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ive

from pushforward.sums import Exact, Kernel, Spectral, _spectral
from pushforward.sums._pallas import FusedGPU, HalfGPU
from pushforward.sums._pallas_circle import FusedModes, circle_sums


def problem(n, d, beta, causal, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    x = jnp.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))
    log_w = jnp.asarray(np.log(rng.dirichlet(np.ones(n))))
    return Kernel(x, x, x, log_w, jnp.asarray(beta), own=True, causal=causal, unit=True)


def single(kernel):
    return jax.tree_util.tree_map(lambda a: a.astype(jnp.float32), kernel)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("beta", [0.0, 9.0, 300.0])
@pytest.mark.parametrize("n, d", [(1, 2), (33, 3), (200, 2), (97, 16), (70, 40)])
def test_fused_sum_equals_the_exact_one(n, d, beta, causal):
    exact = Exact()(problem(n, d, beta, causal, n))
    fused = FusedGPU(16, 32, 1)(single(problem(n, d, beta, causal, n)))
    # A logit of size beta carries a float32 rounding of beta 2^-24, in the exponent.
    slack = 2e-6 + 4e-7 * beta
    np.testing.assert_allclose(fused.average(), exact.average(), atol=slack)
    np.testing.assert_allclose(fused.share(), exact.share(), atol=slack)
    np.testing.assert_allclose(
        fused.log_total, exact.log_total, atol=10 * slack, rtol=3e-7
    )


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("beta", [0.0, 9.0])
@pytest.mark.parametrize("n, d", [(97, 16), (70, 40)])
def test_one_pass_of_halves_has_three_digits(n, d, beta, causal):
    exact = Exact()(problem(n, d, beta, causal, n))
    coarse = HalfGPU()(single(problem(n, d, beta, causal, n)))
    error = np.abs(coarse.average() - exact.average()).max()
    assert error < 1e-3 * (1 + beta / 4)
    assert beta == 0 or error > 1e-5  # one pass, and not the three of FusedGPU


def test_few_dimensions_need_no_halves():
    kernel = single(problem(60, 3, 9.0, False, 0))
    np.testing.assert_array_equal(
        HalfGPU()(kernel).average(), FusedGPU()(kernel).average()
    )


@pytest.mark.parametrize("d", [2, 16])
def test_fused_gradient_equals_the_exact_one(d):
    loss = lambda method: lambda k: (method(k).average() ** 3).sum()  # noqa: E731
    kernel = problem(50, d, 3.0, False, 0)
    fused = jax.grad(loss(FusedGPU()))(single(kernel))
    exact = jax.grad(loss(Exact()))(kernel)
    for a, b in zip(*map(jax.tree_util.tree_leaves, (fused, exact)), strict=True):
        np.testing.assert_allclose(a, b, atol=5e-6)


def test_what_the_kernel_cannot_do_goes_to_the_exact_sum():
    kernel = problem(20, 3, 4.0, False, 1)
    np.testing.assert_array_equal(
        FusedGPU()(kernel).average(), Exact()(kernel).average()
    )


def test_tiles_are_powers_of_two():
    with pytest.raises(ValueError, match="`rows` must be a power of two, got 24"):
        FusedGPU(rows=24)


def test_circle_modes_equal_the_direct_sum():
    theta = np.random.default_rng(0).uniform(0, 2 * np.pi, 300)
    k, beta = np.arange(40), 9.0
    coefficients = np.where(k == 0, 1, 2) * ive(k, beta)
    arrays = (np.cos(theta), np.sin(theta), np.full(300, 1 / 300), coefficients)
    total, slope = circle_sums(*map(jnp.asarray, arrays))
    gap = theta[:, None] - theta[None, :]
    e = np.exp(beta * (np.cos(gap) - 1))
    np.testing.assert_allclose(total, e.mean(1), atol=1e-14)
    np.testing.assert_allclose(slope, -(beta * np.sin(gap) * e).mean(1), atol=1e-13)


@pytest.mark.parametrize("beta", [0.0, 0.3, 9.0, -9.0, 100.0, 1500.0])
def test_circle_drift_by_fused_modes_equals_the_exact_one(beta, monkeypatch):
    monkeypatch.setattr(_spectral, "transform_for", lambda d: FusedModes)
    kernel = problem(301, 2, beta, False, 3)
    found, exact = Spectral()(kernel), Exact()(kernel)
    np.testing.assert_allclose(found.average(), exact.average(), atol=1e-10)
    slack = 1e-10 + 1e-15 * abs(beta)
    np.testing.assert_allclose(found.log_total, exact.log_total, atol=slack)


def test_fused_modes_at_other_queries_and_their_gradient(monkeypatch):
    q, k = problem(40, 2, 0.0, False, 4).queries, problem(70, 2, 0.0, False, 5)
    kernel = Kernel(q, k.keys, k.keys, k.log_weights, jnp.asarray(9.0), unit=True)

    def loss(kernel, method):
        tokens = (kernel.queries, kernel.keys, kernel.keys)  # the values are the keys
        same = Kernel(*tokens, kernel.log_weights, kernel.beta, unit=True)
        return (method(same).average() ** 3).sum()

    exact, expected = jax.value_and_grad(loss)(kernel, Exact())
    monkeypatch.setattr(_spectral, "transform_for", lambda d: FusedModes)
    found, gradient = jax.value_and_grad(loss)(kernel, Spectral())
    np.testing.assert_allclose(found, exact, rtol=1e-11)
    for a, b in zip(*map(jax.tree_util.tree_leaves, (gradient, expected)), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)
