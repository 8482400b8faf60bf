"""The front door: what is chosen, when, and what it promises."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.sums import (
    Auto,
    Exact,
    FusedGPU,
    Kernel,
    KernelSum,
    Spectral,
    _native,
    choose,
    describe,
)
from pushforward.sums._auto import spectral_limit
from pushforward.sums.gpu._circle import FusedModes
from pushforward.sums.gpu._sphere import FusedHarmonics
from pushforward.sums.modes._native_circle import NativeModes
from pushforward.sums.modes._spectral import transform_for
from pushforward.sums.modes._sphere import Harmonics


def kernel(n, d, beta=9.0, **flags):
    x = np.random.default_rng(0).normal(size=(n, d))
    x = jnp.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))
    return Kernel(
        x, x, x, jnp.full(n, -np.log(n)), jnp.asarray(beta), own=True, **flags
    )


@pytest.mark.parametrize("d", [2, 3, 16])
def test_small_systems_are_bitwise_those_of_exact(d):
    problem = kernel(200, d, unit=True)
    for a, b in zip(Auto()(problem), Exact()(problem), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize(
    "n, d, plain, kind",
    [
        (1448, 2, True, Exact),
        (1449, 2, True, Spectral),
        (5000, 3, True, Spectral),
        (5000, 3, False, Exact),
        (5000, 4, True, Exact),
    ],
)
def test_choice_by_size_and_space(n, d, plain, kind):
    assert isinstance(choose(n, n, d, plain=plain), kind)


def test_large_systems_agree_with_exact():
    for d in (2, 3):
        problem = kernel(1600, d, unit=True)
        found, exact = Auto()(problem), Exact()(problem)
        np.testing.assert_allclose(found.average(), exact.average(), atol=1e-10)


def test_description_follows_beta():
    assert describe(64, 3, 9.0) == "exact, dense"
    assert describe(1000, 16, 9.0) == "exact, pair by pair, compiled"
    assert describe(100_000, 16, 9.0) == "exact, pair by pair, compiled"
    assert "Fourier" in describe(100_000, 2, 9.0)
    assert "harmonics" in describe(100_000, 3, 9.0)
    colder = 2 * spectral_limit(2000, 3)
    assert describe(2000, 3, colder) == "exact, pair by pair, compiled"
    assert describe(1000, 2, 9.0, plain=False) == "exact, dense"
    assert describe(100_000, 2, 9.0, causal=True) == "exact, pair by pair, compiled"
    assert describe(100_000, 2, 9.0, plain=False) == "exact, in tiles"


def test_without_a_compiler_the_choice_is_another(monkeypatch):
    compiled = spectral_limit(3000, 2), spectral_limit(3000, 3)
    monkeypatch.setattr(_native, "available", lambda: False)
    assert describe(1000, 16, 9.0) == "exact, dense"
    assert describe(100_000, 16, 9.0) == "exact, in tiles"
    assert spectral_limit(3000, 2) < compiled[0]
    assert spectral_limit(3000, 3) > compiled[1]


def test_a_gpu_sums_the_circle_by_fused_modes(monkeypatch):
    assert transform_for(2) is NativeModes
    assert transform_for(3) is Harmonics
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert transform_for(2) is FusedModes
    assert isinstance(choose(5000, 5000, 2, plain=True), Spectral)
    assert transform_for(3) is FusedHarmonics
    assert isinstance(choose(5000, 5000, 3, plain=True), Spectral)
    assert "Fourier modes on the circle, fused" in describe(100_000, 2, 9.0)


def chosen_on_a_gpu(problem, monkeypatch) -> str:
    """Which sums `Auto` traces where the backend calls itself a GPU."""
    zeros = lambda m: KernelSum(*(jnp.zeros(s, m.keys.dtype) for s in (  # noqa: E731
        len(m.keys), len(m.keys), m.keys.shape, len(m.keys))))  # fmt: skip
    called = []
    for kind in (Exact, FusedGPU):
        called_by = lambda self, k: called.append(type(self).__name__) or zeros(k)  # noqa: E731
        monkeypatch.setattr(kind, "__call__", called_by)
    within = lambda self, kernel, limit: called.append("Spectral") or zeros(kernel)  # noqa: E731
    monkeypatch.setattr(Spectral, "within", within)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    Auto()(problem)
    return " ".join(sorted(called))


@pytest.mark.parametrize(
    "n, d, dtype, flags, expected",
    [
        (5000, 2, jnp.float64, {"unit": True}, "Spectral"),
        (5000, 2, jnp.float32, {"unit": True}, "FusedGPU Spectral"),  # beta decides
        (5000, 3, jnp.float32, {"unit": True}, "FusedGPU"),  # too few for harmonics
        (30_000, 3, jnp.float32, {"unit": True}, "FusedGPU Spectral"),
        (5000, 2, jnp.float32, {"unit": True, "causal": True}, "FusedGPU"),
        (5000, 3, jnp.float64, {"unit": True}, "Spectral"),
        (5000, 4, jnp.float64, {"unit": True}, "Exact"),
        (100, 2, jnp.float32, {"unit": True}, "Exact"),
    ],
)
def test_choice_on_a_gpu(n, d, dtype, flags, expected, monkeypatch):
    problem = jax.tree_util.tree_map(lambda a: a.astype(dtype), kernel(n, d, **flags))
    assert chosen_on_a_gpu(problem, monkeypatch) == expected


def test_one_transform_does_for_tokens_in_a_branch(monkeypatch):
    """Totals and moments from one set of modes, where Auto may choose either sum."""
    x = kernel(5000, 2, unit=True).keys.astype(jnp.float32)
    weights = jnp.zeros(5000, jnp.float32)
    problem = Kernel(x, x, x, weights, jnp.float32(9.0), own=True, unit=True)
    seen = []

    def within(self, kernel, limit):
        seen.append(kernel.values is kernel.keys)
        return Exact()(kernel)

    monkeypatch.setattr(Spectral, "within", within)
    monkeypatch.setattr(FusedGPU, "__call__", lambda self, kernel: Exact()(kernel))
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    jax.eval_shape(Auto(), problem)
    assert seen == [False]  # the problem came in as two arrays
    jax.eval_shape(lambda x: Auto()(dataclasses.replace(
        problem, queries=x, keys=x, values=x)), x)  # fmt: skip
    assert seen == [False, True]


def test_changing_beta_does_not_recompile():
    x = kernel(1500, 2, unit=True).keys
    log_weights = jnp.full(1500, -np.log(1500))
    traced = []

    @jax.jit
    def total(beta):
        traced.append(beta)
        problem = Kernel(x, x, x, log_weights, beta, own=True, unit=True)
        return Auto()(problem).log_total.sum()

    for beta in (1.0, 50.0):
        total(jnp.asarray(beta))
    assert len(traced) == 1


@pytest.mark.parametrize("tol", [0.0, -1e-3, 1.0, "small"])
def test_tolerance_must_be_a_small_number(tol):
    with pytest.raises(InputError, match="`tol` must be a number between 0 and 1"):
        Spectral(tol)


def test_spectral_refuses_what_it_cannot_sum():
    with pytest.raises(InputError, match="dimension 5"):
        Spectral()(kernel(10, 5, unit=True))
    with pytest.raises(InputError, match="causal mask"):
        Spectral()(kernel(10, 3, unit=True, causal=True))


def test_check_passes_on_good_rows_and_stops_on_bad_ones(monkeypatch):
    problem = kernel(400, 2, unit=True)
    Spectral(check=20)(problem)
    from pushforward.sums.modes import _circle

    monkeypatch.setattr(_circle, "ROUNDING", 0.0)
    wrong = _circle.coefficients
    monkeypatch.setattr(_circle, "coefficients", lambda beta: 1.001 * wrong(beta))
    with pytest.raises(Exception, match="spectral sum is off"):
        jax.block_until_ready(Spectral(check=21)(problem))


def test_energy_is_near_linear_and_agrees():
    mu = pf.Particles.uniform(pf.Circle(), 1600, key=jax.random.key(0))
    exact = pf.InteractionEnergy(9.0, sums=Exact())(mu)
    np.testing.assert_allclose(pf.InteractionEnergy(9.0)(mu), exact, rtol=1e-10)
