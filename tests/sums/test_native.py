"""The loops in C++: right for every shape, the same on one core, and dispensable."""

import contextlib
import dataclasses
import logging
import os
import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pushforward.sums import Exact, Kernel, Spectral, _exact, _native
from pushforward.sums._exact import all_at_once, compiled_rows, dense
from pushforward.sums._symmetric import compiled_pairs
from pushforward.sums.modes import _native_circle
from pushforward.sums.modes._circle import LARGEST_BETA, Modes
from pushforward.sums.modes._native_circle import NativeModes


def sphere(n, d, dtype=jnp.float64, seed=0):
    x = np.random.default_rng(seed).normal(size=(n, d))
    return jnp.asarray(x / np.linalg.norm(x, axis=1, keepdims=True), dtype)


def problem(n, d, k, beta, dtype=jnp.float64, **flags):
    rng = np.random.default_rng(n)
    w = jnp.asarray(np.log(rng.dirichlet(np.ones(n))), dtype)
    x = sphere(n, d, dtype)
    values = x if k == d else jnp.asarray(rng.normal(size=(n, k)), dtype)
    beta = jnp.asarray(beta, dtype)
    return Kernel(x, x, values, w, beta, own=True, unit=True, **flags)


def all_others(kernel):
    """sum_{j != i} w_j e^{beta (<x_i, x_j> - 1)} (f_j, 1), written out in float64."""
    parts = kernel.keys, kernel.values, kernel.log_weights
    x, f, log_w = (np.asarray(a, float) for a in parts)
    e = np.exp(float(kernel.beta) * (x @ x.T - 1) + log_w[None, :])
    np.fill_diagonal(e, 0.0)
    e = np.tril(e) if kernel.causal else e
    return e @ f, e.sum(axis=1)


# 192 tokens make a block, 48 a strip, and up to three vectors of columns a tile.
SIZES = [
    (1, 3, 3),
    (2, 2, 2),
    (191, 2, 2),
    (192, 3, 3),
    (193, 4, 4),
    (400, 3, 5),
    (400, 3, 0),
]
SIZES += [(577, 5, 5), (300, 16, 16), (385, 17, 17), (250, 40, 9), (210, 128, 128)]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("beta", [0.0, 9.0, 1e4])
@pytest.mark.parametrize("n, d, k", SIZES)
def test_pairs_are_summed_for_every_shape(n, d, k, beta, causal):
    kernel = problem(n, d, k, beta, causal=causal)
    moment, total = compiled_pairs(kernel)
    right = all_others(kernel)
    size = 1e-14 * max(1.0, beta)  # logits are rounded to this
    assert_allclose(moment, right[0], atol=size)
    assert_allclose(total, right[1], atol=size)


@pytest.mark.parametrize("n, d, k", SIZES)
def test_pairs_are_summed_in_single_precision(n, d, k):
    kernel = problem(n, d, k, 9.0, jnp.float32)
    moment, total = compiled_pairs(kernel)
    right = all_others(kernel)
    assert moment.dtype == total.dtype == jnp.float32
    assert_allclose(moment, right[0], atol=3e-6)
    assert_allclose(total, right[1], atol=3e-6)


@pytest.mark.parametrize("own, causal", [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize(
    "m, n, d, k", [(1, 1, 2, 2), (250, 250, 5, 9), (193, 193, 17, 0)]
)
def test_rows_of_any_weights_are_summed(m, n, d, k, own, causal):
    rng = np.random.default_rng(n)
    q, keys, f = (jnp.asarray(3 * rng.normal(size=s)) for s in ((m, d), (n, d), (n, k)))
    w = (
        jnp.asarray(np.log(rng.dirichlet(np.ones(n))))
        .at[n // 2]
        .set(-jnp.inf if n > 1 else 0.0)
    )
    for beta in (0.0, 2.0, -30.0):
        flags = {"own": bool(own), "causal": bool(causal)}
        kernel = Kernel(q, keys, f, w, jnp.asarray(beta), **flags)
        found, exact = compiled_rows(kernel), all_at_once(kernel)
        size = 1e-13 * max(1.0, abs(beta))
        assert_allclose(found.average(), exact.average(), atol=30 * size)
        assert_allclose(found.log_total, exact.log_total, atol=30 * size)
    few = dataclasses.replace(kernel, queries=q[: m // 2 + 1], own=False)
    assert_allclose(
        compiled_rows(few).average(), all_at_once(few).average(), atol=1e-10
    )


def test_rows_beyond_a_few_have_tangents_like_the_dense_ones(monkeypatch):
    kernel = dataclasses.replace(problem(60, 4, 4, 3.0), unit=False)
    moved = jax.tree_util.tree_map(jnp.sin, kernel)
    average = lambda k: Exact()(k).average()  # noqa: E731
    right = jax.jvp(average, (kernel,), (moved,))
    monkeypatch.setattr(_exact, "FEW_PAIRS", 0)
    assert_allclose(jax.jvp(average, (kernel,), (moved,)), right, atol=1e-12)


def test_far_tokens_at_a_huge_beta_weigh_nothing_and_make_no_nan():
    moment, total = compiled_pairs(problem(500, 3, 3, 1e9))
    assert bool(jnp.isfinite(moment).all())
    assert float(total.max()) == 0.0


@pytest.mark.parametrize("beta", [-50.0, 0.0, 0.1, 9.0, 300.0, 1e4])
@pytest.mark.parametrize("n", [1, 31, 5000])
def test_modes_in_c_and_by_xla_are_the_same(n, beta):
    q, k = sphere(37, 2), sphere(n, 2, seed=1)
    rng = np.random.default_rng(2)
    u, beta = jnp.asarray(rng.normal(size=(n, 5)) / n), jnp.asarray(beta)
    ours, theirs = (kind(1e-15, LARGEST_BETA) for kind in (NativeModes, Modes))
    found, expected = ours.evaluate(q, k, u, beta), theirs.evaluate(q, k, u, beta)
    # The argument k theta is known to k times the rounding of theta.
    bound = 2e-15 + 2e-16 * np.sqrt(abs(float(beta))) * np.abs(u).sum()
    assert_allclose(found, expected, atol=bound)
    w = jnp.abs(u[:, :1])
    moments, right = (t.of_points(q, k, w, beta) for t in (ours, theirs))
    assert_allclose(moments, right, atol=bound)


@pytest.mark.parametrize("modes", [64, 1152])
def test_the_grid_is_right_at_every_angle(modes):
    # On the axes, beside them, and where the angle jumps.
    steps = np.arange(-8, 9)[:, None] * np.pi / 8 + np.array([[-1e-9, 0.0, 1e-9, 0.1]])
    theta = np.append(steps.ravel(), [np.pi, -np.pi, 5e-324])
    x = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    x[-3], x[-2] = (-1.0, 0.0), (-1.0, -0.0)
    w = np.random.default_rng(0).dirichlet(np.ones(len(x)))
    e = np.exp(20.0 * (x @ x.T - 1)) * w[None, :]
    expected = e.sum(axis=1), e @ x
    x, w = jnp.asarray(x), jnp.asarray(w)[:, None]
    total, moment = _native_circle.moments(x, 3 * x, w, jnp.asarray(20.0), modes)
    assert_allclose(total, expected[0], atol=4e-15)
    assert_allclose(moment, expected[1], atol=4e-15)


def test_the_window_and_its_transform():
    s = np.linspace(-1, 1, 101)
    even, odd = _native_circle.window_polynomials()
    horner = lambda c: np.polynomial.polynomial.polyval(s**2, c[::-1])  # noqa: E731
    found = horner(even) + s * horner(odd)
    exact = _native_circle.window(np.arange(8)[:, None] - 8 + (s + 1)[None, :] / 2)
    assert_allclose(found, exact, atol=2e-15)
    x = np.linspace(-8, 8, 4001)
    phase = 2 * np.pi * 100 * x / (4 * 288)
    fine = np.trapezoid(_native_circle.window(x) * np.cos(phase), x)
    assert_allclose(_native_circle.transformed(288)[100], fine, rtol=1e-13)


@pytest.mark.parametrize("beta", [9.0, 300.0])
def test_a_token_that_is_nowhere_makes_nan_and_no_crash(beta):
    k = sphere(50, 2).at[7].set(0.0).at[20].set(jnp.nan)
    w = jnp.full((50, 1), 0.02)
    found = NativeModes(1e-15, LARGEST_BETA).of_points(k, k, w, jnp.asarray(beta))
    assert bool(jnp.isnan(found).all())


def confine(cores):
    """Every thread of this process: XLA calls the sums from its own."""
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(ProcessLookupError):  # it has ended since
            os.sched_setaffinity(int(thread), cores)


def test_results_do_not_depend_on_the_number_of_cores():
    kernel, circle = problem(3000, 16, 16, 9.0), problem(200_000, 2, 2, 9.0)
    colder = problem(200_000, 2, 2, 100.0)

    def sums():
        near_linear = (Spectral()(k).moment for k in (circle, colder))
        return Exact()(kernel).moment, *near_linear

    cores, many = os.sched_getaffinity(0), sums()
    try:
        confine({min(cores)})
        one = sums()
    finally:
        confine(cores)
    for a, b in zip(many, one, strict=True):
        assert_array_equal(a, b)


def test_half_precision_is_left_to_xla():
    kernel = problem(400, 3, 3, 9.0, jnp.float16)
    exact = problem(400, 3, 3, 9.0)
    found = Exact()(kernel).average()
    assert found.dtype == jnp.float16
    assert_allclose(found, Exact()(exact).average(), atol=0.05)


def test_batches():
    xs = jnp.stack([sphere(100, 3, seed=s) for s in range(3)])

    def moment(x, beta):
        w = jnp.full(100, -np.log(100.0))
        return compiled_pairs(Kernel(x, x, x, w, beta, own=True, unit=True))[0]

    betas = jnp.asarray([1.0, 9.0, 20.0])
    batch = jax.jit(jax.vmap(moment))(xs, betas)
    for x, beta, found in zip(xs, betas, batch, strict=True):
        assert_array_equal(found, moment(x, beta))


@pytest.fixture
def unprepared(monkeypatch, tmp_path):
    """A machine on which nothing has been compiled yet."""
    monkeypatch.setenv("PUSHFORWARD_CACHE", str(tmp_path))
    _native.available.cache_clear()
    yield tmp_path
    _native.available.cache_clear()


def sums_without_a_compiler(monkeypatch):
    monkeypatch.setattr(_exact, "FEW_PAIRS", 0)
    monkeypatch.setattr(_exact, "DENSE_PAIRS", 0)
    for d, method, causal in (
        (3, Exact(), False),
        (3, Exact(), True),
        (2, Spectral(), False),
    ):
        kernel = problem(150, d, d, 9.0, causal=causal)
        exact = dense(kernel, kernel.queries, jnp.arange(150))
        assert_allclose(method(kernel).average(), exact.average(), atol=1e-12)


@pytest.mark.parametrize("command", ["no-such-compiler", "false"])
def test_without_a_working_compiler_xla_does_it(
    command, unprepared, monkeypatch, caplog
):
    monkeypatch.setenv("CXX", command)
    with caplog.at_level(logging.INFO, "pushforward"):
        assert not _native.available()
        sums_without_a_compiler(monkeypatch)
    lines = [r.message for r in caplog.records if "using the XLA sums" in r.message]
    assert len(lines) == 1
    with pytest.raises(RuntimeError, match="not on this machine"):
        compiled_pairs(problem(10, 3, 3, 1.0))


def test_a_cache_that_cannot_be_written_costs_speed_not_results(
    unprepared, monkeypatch
):
    blocked = unprepared / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("PUSHFORWARD_CACHE", str(blocked))
    assert not _native.available()
    sums_without_a_compiler(monkeypatch)


def test_a_broken_library_in_the_cache_costs_speed_not_results(unprepared, monkeypatch):
    monkeypatch.setattr(_native, "built", lambda *_: str(unprepared / "sums.so"))
    (unprepared / "sums.so").write_bytes(b"torn")
    assert not _native.available()
    sums_without_a_compiler(monkeypatch)


def test_this_machine_compiles():
    assert shutil.which("c++"), "sudo apt-get install g++"
    assert _native.available()
