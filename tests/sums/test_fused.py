"""The fused GPU kernels, in interpret mode on the CPU, against float64."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ive
from thinned import thinned

from pushforward.sums import Exact, Kernel, Spectral
from pushforward.sums._blocks import Tiles
from pushforward.sums.gpu import _sphere as _gpu_sphere
from pushforward.sums.gpu._circle import FusedModes, circle_sums
from pushforward.sums.gpu._fused import FusedGPU, HalfGPU
from pushforward.sums.gpu._sphere import FusedHarmonics
from pushforward.sums.gpu._wide import wide_sum
from pushforward.sums.modes import _spectral, _sphere


def problem(n, d, beta, causal, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    x = jnp.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))
    log_w = jnp.asarray(np.log(rng.dirichlet(np.ones(n))))
    return Kernel(x, x, x, log_w, jnp.asarray(beta), own=True, causal=causal, unit=True)


def single(kernel):
    return jax.tree_util.tree_map(lambda a: a.astype(jnp.float32), kernel)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("beta", thinned([0.0, 9.0, 300.0], 9.0))
@pytest.mark.parametrize(
    "n, d",
    thinned([(1, 2), (33, 3), (200, 2), (97, 16), (70, 40)], (1, 2), (33, 3), (97, 16)),
)
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


@pytest.mark.parametrize("d", [2, 3, 16, 130])
def test_totals_alone_have_values_without_columns(d):
    kernel = problem(40, d, 4.0, False, 0)
    alone = dataclasses.replace(kernel, values=kernel.keys[:, :0])
    fused = FusedGPU(16, 32, 1)(single(alone))
    np.testing.assert_allclose(fused.log_total, Exact()(kernel).log_total, atol=2e-5)
    assert fused.moment.shape == (40, 0)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("beta", thinned([0.0, 9.0], 9.0))
@pytest.mark.parametrize("n, d", thinned([(97, 16), (70, 40)], (97, 16)))
def test_one_pass_of_halves_has_three_digits(n, d, beta, causal):
    exact = Exact()(problem(n, d, beta, causal, n))
    coarse = HalfGPU()(single(problem(n, d, beta, causal, n)))
    error = np.abs(np.asarray(coarse.average()) - np.asarray(exact.average())).max()
    assert error < 1e-3 * (1 + beta / 4)
    assert beta == 0 or error > 1e-5  # one pass, and not the three of FusedGPU


def test_few_dimensions_need_no_halves():
    kernel = single(problem(60, 3, 9.0, False, 0))
    np.testing.assert_array_equal(
        HalfGPU()(kernel).average(), FusedGPU()(kernel).average()
    )


@pytest.mark.parametrize("d", thinned([2, 16], 16))
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


@pytest.mark.parametrize("beta", [0.0, 0.3, 9.0, -9.0, 60.0, 2000.0])
def test_drift_on_s2_by_fused_harmonics_equals_the_exact_one(beta, monkeypatch):
    """Poles, where longitude has no meaning, among the tokens; beyond 900 exact."""
    monkeypatch.setattr(_spectral, "transform_for", lambda d: FusedHarmonics)
    monkeypatch.setattr(_spectral, "largest_beta", lambda d: 900.0)
    kernel = problem(301, 3, beta, False, 3)
    points = kernel.keys.at[:2].set(jnp.asarray([[0, 0, 1.0], [0, 0, -1.0]]))
    kernel = dataclasses.replace(kernel, queries=points, keys=points, values=points)
    found, exact = Spectral()(kernel), Exact()(kernel)
    np.testing.assert_allclose(found.average(), exact.average(), atol=1e-10)
    slack = 1e-10 + 1e-15 * abs(beta)
    np.testing.assert_allclose(found.log_total, exact.log_total, atol=slack)


@pytest.mark.parametrize("beta", [1e-9, 1e-3, 9.0, -9.0, 900.0])
def test_harmonic_coefficients_are_spherical_bessel_functions(beta):
    found = _gpu_sphere.coefficients(jnp.asarray(beta))
    known = _sphere.coefficients(beta, len(found))
    np.testing.assert_allclose(found, known, atol=2e-15)


@pytest.mark.parametrize(
    ("d", "fused"), thinned([(2, FusedModes), (3, FusedHarmonics)], (2, FusedModes))
)
def test_fused_modes_at_other_queries_and_their_gradient(d, fused, monkeypatch):
    q, k = problem(40, d, 0.0, False, 4).queries, problem(70, d, 0.0, False, 5)
    kernel = Kernel(q, k.keys, k.keys, k.log_weights, jnp.asarray(9.0), unit=True)

    def loss(kernel, method):
        tokens = (kernel.queries, kernel.keys, kernel.keys)  # the values are the keys
        same = Kernel(*tokens, kernel.log_weights, kernel.beta, unit=True)
        return (method(same).average() ** 3).sum()

    exact, expected = jax.value_and_grad(loss)(kernel, Exact())
    monkeypatch.setattr(_spectral, "transform_for", lambda d: fused)
    found, gradient = jax.value_and_grad(loss)(kernel, Spectral())
    np.testing.assert_allclose(found, exact, rtol=1e-11)
    for a, b in zip(*map(jax.tree_util.tree_leaves, (gradient, expected)), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)


def general(n, d, k, m=None, own=True, causal=False, seed=0, beta=2.0):
    """Queries, keys and values of no particular length, in float64."""
    rng = np.random.default_rng(seed)
    array = lambda rows, columns, size: jnp.asarray(  # noqa: E731
        size * rng.normal(size=(rows, columns))
    )
    log_w = jnp.asarray(np.log(rng.dirichlet(np.ones(n))))
    q, keys = array(m or n, d, 3 / np.sqrt(d)), array(n, d, 1.0)
    values = array(n, k, 1e3)
    return Kernel(q, keys, values, log_w, jnp.asarray(beta), own=own, causal=causal)


def assert_same_sums(found, exact, slack):
    size = float(np.abs(exact.average()).max()) or 1.0
    np.testing.assert_allclose(found.average(), exact.average(), atol=slack * size)
    np.testing.assert_allclose(
        found.log_total, exact.log_total, atol=10 * slack, rtol=3e-7
    )


@pytest.mark.parametrize(
    "n, d, k",
    thinned([(60, 2, 2), (60, 3, 3), (50, 2, 3), (40, 3, 20)], (60, 2, 2), (40, 3, 20)),
)
def test_the_fused_sum_uses_the_values_that_it_is_given(n, d, k):
    kernel = problem(n, d, 4.0, False, 0)
    values = jnp.asarray(np.random.default_rng(1).normal(size=(n, k)))
    kernel = dataclasses.replace(kernel, values=values)
    assert_same_sums(FusedGPU()(single(kernel)), Exact()(kernel), 3e-6)


@pytest.mark.parametrize(
    "own, causal", thinned([(1, 0), (1, 1), (0, 0), (0, 1)], (1, 0), (0, 1))
)
@pytest.mark.parametrize(
    "n, d, k",
    thinned(
        [(1, 2, 2), (150, 3, 3), (130, 16, 5), (70, 5, 40)], (150, 3, 3), (130, 16, 5)
    ),
)
def test_fused_sums_of_any_queries_keys_and_values(n, d, k, own, causal):
    kernel = general(n, d, k, own=bool(own), causal=bool(causal), seed=n)
    found = FusedGPU(16, 32, 1)(single(kernel))
    assert_same_sums(found, Exact()(kernel), 2e-6)


def test_fused_sums_at_other_points_and_at_a_negative_beta():
    elsewhere = general(90, 6, 6, m=37, own=False, beta=-5.0)
    assert_same_sums(FusedGPU()(single(elsewhere)), Exact()(elsewhere), 3e-6)
    repelled = problem(90, 6, -20.0, False, 0)
    assert_same_sums(FusedGPU()(single(repelled)), Exact()(repelled), 1e-5)


def test_a_token_without_mass_is_seen_by_nobody():
    kernel = problem(80, 4, 9.0, False, 0)
    kernel = dataclasses.replace(
        kernel, log_weights=kernel.log_weights.at[3].set(-jnp.inf)
    )
    assert_same_sums(FusedGPU()(single(kernel)), Exact()(kernel), 5e-6)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize(
    "n, d, k",
    thinned(
        [(100, 130, 130), (33, 20, 200), (90, 300, 7), (20, 130, 7)],
        (100, 130, 130),
        (20, 130, 7),  # rows are padded beyond the last column
    ),
)
def test_wide_sums(n, d, k, running, causal):
    kernel = problem(n, d, 9.0, causal, n)
    values = jnp.asarray(np.random.default_rng(1).normal(size=(n, k)))
    kernel = dataclasses.replace(kernel, values=values)
    shift, total, moment = wide_sum(single(kernel), Tiles(16, 32), running)
    scale = np.exp(np.asarray(shift, float) - 9.0) * np.ones(n)
    e = np.exp(9.0 * (kernel.keys @ kernel.keys.T - 1) + kernel.log_weights[None, :])
    e = np.tril(e, -1) if causal else e - np.diag(np.diag(e))
    total, moment = np.asarray(total, float), np.asarray(moment, float)
    np.testing.assert_allclose(scale * total, e.sum(axis=1), atol=1e-6)
    np.testing.assert_allclose(scale[:, None] * moment, e @ values, atol=3e-6)


@pytest.mark.parametrize(
    "d, unit", thinned([(2, True), (16, True), (6, False), (140, True)], (2, True))
)
def test_fused_sums_have_tangents_gradients_and_batches(d, unit):
    kernel = problem(50, d, 3.0, False, 0) if unit else general(50, d, d)
    rng = np.random.default_rng(3)
    moved = jax.tree_util.tree_map(
        lambda a: jnp.asarray(0.1 * rng.normal(size=a.shape)), kernel
    )
    size = float(jnp.abs(Exact()(kernel).average()).max())
    average = lambda method: lambda k: method(k).average() / size  # noqa: E731
    exact, tangent = jax.jvp(average(Exact()), (kernel,), (moved,))
    f = average(FusedGPU())
    both = jax.jvp(f, (single(kernel),), (single(moved),))
    np.testing.assert_allclose(both[0], exact, atol=4e-6)
    np.testing.assert_allclose(both[1], tangent, atol=2e-5)
    cotangent = jnp.asarray(rng.normal(size=tangent.shape), jnp.float32)
    (pulled,) = jax.vjp(f, single(kernel))[1](cotangent)
    paired = jax.tree_util.tree_map(jnp.vdot, pulled, single(moved))
    paired = sum(map(float, jax.tree_util.tree_leaves(paired)))
    np.testing.assert_allclose(paired, np.vdot(cotangent, tangent), rtol=1e-3)
    twice = jax.tree_util.tree_map(lambda a, b: jnp.stack([a, a + b]), kernel, moved)
    batch = jax.vmap(f)(single(twice))
    np.testing.assert_allclose(batch[0], both[0], atol=4e-6)
    np.testing.assert_allclose(batch, jax.vmap(average(Exact()))(twice), atol=1e-5)
