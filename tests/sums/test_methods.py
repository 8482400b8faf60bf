"""Every way of summing agrees with the dense sum and with the oracles."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import pushforward as pf
from pushforward.sums import Auto, Exact, Kernel, Nystrom, Spectral, _exact
from pushforward.sums._blocks import Tiles, blocked
from pushforward.sums._exact import dense
from pushforward.sums._kernel import AbstractSum
from pushforward.sums._symmetric import (
    compiled_pairs,
    differentiated_by_rows,
    symmetric,
    tiled_pairs,
)
from pushforward.sums.modes._circle import LARGEST_BETA, Modes
from pushforward.sums.modes._spectral import SAFETY, _spectral


class Tiled(AbstractSum):
    """The tiles of `Exact`, however small the problem."""

    def __call__(self, kernel):
        return blocked(kernel, Tiles(3, 5))


class ByPairs(AbstractSum):
    """The symmetric sum of `Exact` by XLA, however small the problem."""

    def __call__(self, kernel):
        by_pairs = partial(symmetric, pairs=partial(tiled_pairs, width=3))
        return differentiated_by_rows(
            kernel, by_pairs, partial(blocked, tiles=Tiles(3, 5))
        )


class Compiled(AbstractSum):
    """The symmetric sum of `Exact` in C++, however small the problem."""

    def __call__(self, kernel):
        return differentiated_by_rows(
            kernel, partial(symmetric, pairs=compiled_pairs), direct
        )


class ByXLA(AbstractSum):
    """The spectral sum as it is where there is no compiler."""

    def __call__(self, kernel):
        if kernel.keys.shape[1] != 2:
            return Spectral()(kernel)
        modes = Modes(SAFETY * 1e-10, LARGEST_BETA)
        return _spectral(kernel, modes, 1e-10, 0, kernel.values is kernel.keys)


METHODS = {
    "exact": Exact(),
    "tiles": Tiled(),
    "pairs": ByPairs(),
    "compiled": Compiled(),
    "spectral": Spectral(),
    "spectral by XLA": ByXLA(),
    "nystrom": Nystrom(8, tol=1e-10),  # as many landmarks as the oracles have tokens
    "auto": Auto(),
}
TILED_AND_SPECTRAL = ("tiles", "pairs", "compiled", "spectral", "spectral by XLA")
BETAS = (0.1, 1.0, 9.0, 100.0, 1000.0)


def cloud(kind: str, n: int, d: int, seed: int = 0) -> jax.Array:
    rng = np.random.default_rng(seed)
    x, center = rng.normal(size=(n, d)), rng.normal(size=(3, d))
    center /= np.linalg.norm(center, axis=1, keepdims=True)
    if kind == "clustered":
        x = center[np.arange(n) % 3] + 0.02 * x
    elif kind == "outlier":
        x = center[0] + 0.02 * x
        x[n // 2] = -center[0]
    elif kind == "antipodal":
        x = center[0] * np.where(np.arange(n) % 2, 1.0, -1.0)[:, None]
    return jnp.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def itself(x, beta, log_weights=None, **flags) -> Kernel:
    if log_weights is None:
        log_weights = jnp.full(len(x), -np.log(len(x)), x.dtype)
    beta = jnp.asarray(beta, x.dtype)
    return Kernel(x, x, x, log_weights, beta, own=True, unit=True, **flags)


def direct(kernel: Kernel):
    return dense(kernel, kernel.queries, jnp.arange(len(kernel.queries)))


@pytest.mark.parametrize("name", METHODS)
def test_p1_o1_velocities(name, sine):
    mu = pf.Particles(pf.Sphere(3), sine(8, 3))
    v, _ = pf.Attention(4.0, sums=METHODS[name])(0.0, mu)
    row_0 = (-0.117983717862, -0.012080290962, 0.171049808834)
    row_7 = (0.180144462942, 0.010565177596, -0.046013685805)
    assert_allclose(v[0], row_0, atol=1e-11)
    assert_allclose(v[7], row_7, atol=1e-11)
    v, _ = pf.UnnormalizedAttention(4.0, sums=METHODS[name])(0.0, mu)
    assert_allclose(
        v[0], (-1.325973168634, -0.135765696960, 1.922362349008), atol=1e-10
    )


@pytest.mark.parametrize("name", ["tiles", "spectral", "nystrom", "auto"])
def test_p1_o3_trajectory(name, sine):
    mu = pf.Particles(pf.Sphere(3), sine(8, 3))
    sums = METHODS[name]
    energy = pf.InteractionEnergy(4.0, sums=sums)
    field, observe = pf.Attention(4.0, sums=sums), {"energy": energy.plain}
    run = pf.flow(field, mu, 5.0, save=[0.0, 1.0, 5.0], observe=observe)
    expected = (1.4478460411, 1.7665296085, 2.7779303071)
    assert_allclose(run.observed["energy"], expected, atol=1e-8)
    x_7 = (0.180843012270, -0.938990491907, -0.292562234443)
    assert_allclose(run.measures.points[1, 7], x_7, atol=1e-8)


@pytest.mark.parametrize("kind", ["uniform", "clustered", "outlier", "antipodal"])
@pytest.mark.parametrize(
    "d, method", [(2, Spectral()), (2, ByXLA()), (3, Spectral())], ids=str
)
def test_spectral_agrees_with_exact_to_the_tolerance(d, method, kind):
    x = cloud(kind, 301, d)
    for beta in (*BETAS, 0.0, -9.0):
        found, exact = method(itself(x, beta)), direct(itself(x, beta))
        # At beta = 1000 the dense logits themselves are rounded to 1e-13 of beta.
        assert_allclose(found.log_total, exact.log_total, atol=1e-10 + 1e-15 * beta)
        assert_allclose(found.average(), exact.average(), atol=1e-10)
        assert_allclose(found.log_own, exact.log_own, atol=1e-12 * max(1, abs(beta)))


@pytest.mark.parametrize("d", [2, 3])
def test_a_loose_tolerance_recomputes_nothing_and_stays_true(d):
    x = cloud("uniform", 500, d)
    found = Spectral(1e-4)(itself(x, 9.0))
    error = jnp.abs(found.average() - direct(itself(x, 9.0)).average()).max()
    assert error < 1e-4


@pytest.mark.parametrize("d", [2, 3])
def test_spectral_beyond_its_largest_beta_is_exact(d):
    x = cloud("clustered", 301, d)
    found, exact = Spectral()(itself(x, 1e5)), direct(itself(x, 1e5))
    # Logits of 1e5 are rounded to 1e-11.
    assert_allclose(found.average(), exact.average(), atol=1e-9)


@pytest.mark.parametrize("d", [2, 3])
def test_spectral_at_other_points_and_with_other_values(d):
    x, y = cloud("uniform", 120, d), cloud("clustered", 150, d, seed=1)
    rng = np.random.default_rng(2)
    w = rng.random(150)
    log_weights = jnp.asarray(np.log(w / w.sum()))
    values = jnp.asarray(rng.normal(size=(150, 5)))
    kernel = Kernel(x, y, values, log_weights, jnp.asarray(20.0), unit=True)
    found, exact = Spectral()(kernel), direct(kernel)
    assert_allclose(found.log_total, exact.log_total, atol=1e-9)
    assert_allclose(found.average(), exact.average(), atol=1e-9)


FLAGS = {
    "own": {"own": True, "unit": True},
    "causal": {"own": True, "unit": True, "causal": True},
    "others": {},
    "causal others": {"causal": True},
}


@pytest.mark.parametrize("beta", [0.0, 4.0, -4.0, 1e4])
@pytest.mark.parametrize("flags", FLAGS)
def test_tiles_agree_with_dense(flags, beta):
    x = cloud("clustered", 53, 3)
    q = x if "others" not in flags else 1.3 * x[::-1]
    rng = np.random.default_rng(3)
    w = rng.random(53)
    log_weights = jnp.asarray(np.log(w / w.sum()))
    kernel = Kernel(q, x, x, log_weights, jnp.asarray(beta), **FLAGS[flags])
    for tiles in (Tiles(7, 11), Tiles(53, 53), Tiles(8, 64)):
        found, exact = blocked(kernel, tiles), direct(kernel)
        size = 1e-14 * max(1.0, abs(beta))
        assert_allclose(found.log_total, exact.log_total, atol=4 * size + 1e-13)
        assert_allclose(found.average(), exact.average(), atol=40 * size)


@pytest.mark.parametrize("width", [8, 11, 53, 64])
@pytest.mark.parametrize("beta", [0.0, 4.0, 1e4])
def test_pairs_looked_at_once_agree_with_dense(beta, width):
    x = cloud("clustered", 53, 5)
    rng = np.random.default_rng(3)
    log_weights = jnp.asarray(np.log(rng.dirichlet(np.ones(53))))
    values = jnp.asarray(rng.normal(size=(53, 2)))
    beta = jnp.asarray(beta)
    kernel = Kernel(x, x, values, log_weights, beta, own=True, unit=True)
    by_tiles = partial(tiled_pairs, width=width)
    found, exact = symmetric(kernel, by_tiles), direct(kernel)
    size = 1e-14 * max(1.0, float(beta))
    assert_allclose(found.log_total, exact.log_total, atol=4 * size + 1e-13)
    assert_allclose(found.average(), exact.average(), atol=40 * size)


@pytest.mark.parametrize("beta, least", [(9.0, 0.0), (-9.0, 0.0), (9.0, -1500.0)])
def test_a_large_exact_sum_is_right_whichever_way_it_goes(beta, least, monkeypatch):
    monkeypatch.setattr(_exact, "FEW_PAIRS", 0)
    monkeypatch.setattr(_exact, "DENSE_PAIRS", 0)
    x = cloud("uniform", 90, 3)
    kernel = itself(x, beta, log_weights=jnp.linspace(least, -1.0, 90))
    found, exact = Exact()(kernel), direct(kernel)
    assert_allclose(found.log_total, exact.log_total, rtol=1e-13, atol=1e-13)
    assert_allclose(found.average(), exact.average(), atol=1e-13)


def test_tiles_keep_what_others_pull_far_below_the_self_term():
    x = jnp.asarray(np.stack([np.cos([0.0, 2.0]), np.sin([0.0, 2.0])], axis=1))
    kernel = itself(x, -1.0, log_weights=jnp.log(jnp.asarray([0.5, 0.5])))
    far = Kernel(x, x, x, kernel.log_weights, jnp.asarray(2000.0), own=True)
    out = blocked(far, Tiles(2, 2))
    assert_allclose(out.moment, x[::-1], atol=1e-12)  # scaled apart: it did not vanish
    assert_allclose(out.log_scale, 2000 * np.cos(2.0) + np.log(0.5), rtol=1e-12)


def test_tiny_weights_are_not_lost():
    x = cloud("uniform", 40, 3)
    log_weights = jnp.linspace(-1500.0, -1.0, 40)
    kernel = itself(x, 5.0, log_weights=log_weights)
    found, exact = blocked(kernel, Tiles(8, 16)), direct(kernel)
    assert_allclose(found.log_total, exact.log_total, rtol=1e-13)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("name", TILED_AND_SPECTRAL)
def test_gradients_agree_with_dense(name, d):
    x = cloud("uniform", 60, d)
    w = jnp.full(60, -np.log(60.0))

    def loss(method, x, w, beta):
        total = method(itself(x, beta, log_weights=w))
        return jnp.sum(jnp.sin(3 * total.average())) + jnp.sum(total.log_total**2)

    arguments = (x, w, jnp.asarray(6.0))
    found = jax.grad(loss, argnums=(1, 2, 3))(METHODS[name], *arguments)
    exact = jax.grad(loss, argnums=(1, 2, 3))(direct, *arguments)
    for a, b in zip(found, exact, strict=True):
        assert_allclose(a, b, atol=1e-9 * float(jnp.abs(b).max()))
    tangents = tuple(jnp.cos(jnp.arange(a.size).reshape(a.shape)) for a in arguments)
    _, forward = jax.jvp(lambda *a: loss(METHODS[name], *a), arguments, tangents)
    expected = sum(jnp.vdot(g, t) for g, t in zip(exact, tangents, strict=True))
    assert_allclose(forward, expected, rtol=1e-8)


@pytest.mark.parametrize("name", TILED_AND_SPECTRAL)
def test_float32_stays_float32_and_is_accurate(name):
    x = cloud("uniform", 300, 3)
    kernel = itself(x.astype(jnp.float32), 9.0)
    found, exact = METHODS[name](kernel), direct(itself(x, 9.0))
    assert found.moment.dtype == jnp.float32
    assert_allclose(found.average(), exact.average(), atol=3e-6)


def test_vmap_over_temperatures():
    x = cloud("uniform", 40, 2)
    betas = jnp.asarray([0.5, 9.0, 200.0])
    many = jax.vmap(lambda b: Spectral()(itself(x, b)).average())(betas)
    for beta, average in zip(betas, many, strict=True):
        assert_allclose(average, direct(itself(x, beta)).average(), atol=1e-10)


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_of_the_exact_sum_where_pairs_are_compiled(causal):
    x = cloud("uniform", 400, 3)  # more pairs than are summed densely whatever there is

    def loss(method, x, beta):
        total = method(itself(x, beta, causal=causal))
        return jnp.sum(jnp.sin(3 * total.average())) + jnp.sum(total.log_total**2)

    found = jax.grad(loss, argnums=(1, 2))(Exact(), x, jnp.asarray(6.0))
    exact = jax.grad(loss, argnums=(1, 2))(direct, x, jnp.asarray(6.0))
    for a, b in zip(found, exact, strict=True):
        assert_allclose(a, b, atol=1e-11 * float(jnp.abs(b).max()))


@pytest.mark.parametrize("d", [2, 3, 16])
@pytest.mark.parametrize("beta", [1e6, 1e300])
def test_the_coldest_sums_are_finite(beta, d):
    found = Exact()(itself(cloud("uniform", 400, d), beta))
    assert bool(jnp.isfinite(found.average()).all())
    assert bool(jnp.isfinite(found.log_total).all())


@pytest.mark.parametrize("d", [2, 3])
def test_repulsion_beyond_all_modes_is_exact(d):
    # Every row is summed again, at scales far below e^{|beta|}.
    kernel = itself(cloud("uniform", 150, d), -1e6)
    found, exact = Spectral()(kernel), direct(kernel)
    assert_allclose(found.log_total, exact.log_total, rtol=1e-12)
    assert_allclose(found.average(), exact.average(), atol=1e-8)
