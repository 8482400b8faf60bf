"""Whole journeys on a GPU in float32, against float64 on the host.

Needs nothing but JAX, diffrax, equinox and pytest. Without a GPU the same journeys run
small, with the fused kernels in interpret mode: `python -m pytest tests/gpu`.
"""

import importlib.util
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from thinned import thinned

import pushforward as pf
from pushforward.sums import Auto, Exact, FusedGPU, Ring

ON_GPU = jax.default_backend() == "gpu"
N = 3000 if ON_GPU else 40  # on a GPU more pairs than are summed densely
QUICK = Auto() if ON_GPU else FusedGPU(64, 64, 1)
HOST = jax.devices("cpu")[0]
only_on_gpu = pytest.mark.skipif(not ON_GPU, reason="no kernel of a GPU in it")


def tokens(d, n=N, seed=0):
    """Unit vectors, the same on every device."""
    x = np.random.default_rng(seed).normal(size=(n, d))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def particles(d, dtype="float32", n=N):
    return pf.Particles(pf.Sphere(d), tokens(d, n)).astype(dtype)


def end(field, mu, **settings):
    settings = {"save": 2, "solver": pf.Heun(0.05), **settings}
    return pf.flow(field, mu, 0.2, **settings).final.points


def on_host(journey, *arguments):
    with jax.default_device(HOST):
        return np.asarray(journey(Exact(), "float64", *arguments), float)


def weights(d, k, seed):
    rng = np.random.default_rng(seed)
    Q, K = (rng.normal(size=(k, d)) for _ in range(2))
    return Q, K, rng.normal(size=(d, d)) / np.sqrt(d)


def attention(sums, dtype, d):
    return end(pf.Attention(9.0, sums=sums), particles(d, dtype))


def causal(sums, dtype, d):
    return end(pf.CausalAttention(4.0, sums=sums), particles(d, dtype))


def unnormalized(sums, dtype, d):
    field = pf.UnnormalizedAttention(4.0, log_scale=-4.0, sums=sums)
    return end(field, particles(d, dtype))


def repelled(sums, dtype, d):
    return end(pf.Attention(-6.0, sums=sums), particles(d, dtype))


def general(sums, dtype, d):
    return end(pf.Attention(1.0, *weights(d, d, 1), sums=sums), particles(d, dtype))


def heads(sums, dtype, d):
    some = [pf.Attention(1.0, *weights(d, 3, s), sums=sums) for s in range(3)]
    return end(pf.Heads(some), particles(d, dtype))


def normalized(sums, dtype, d):
    mu = pf.Particles(pf.Euclidean(d), 2 * tokens(d)).astype(dtype)
    return end(pf.PreNorm(pf.Attention(4.0, sums=sums)), mu)


def gradient(sums, dtype, d):
    mu = particles(d, dtype)

    def spread(beta):
        x = end(pf.Attention(beta, sums=sums), mu, solver=pf.Heun(0.1))
        return (x.mean(axis=0) ** 2).sum() * 100

    value = jnp.asarray(4.0, dtype)
    return jnp.stack([spread(value), jax.grad(spread)(value)])


def ensemble(sums, dtype, d):
    clouds = jnp.stack([jnp.asarray(tokens(d, seed=s), dtype) for s in range(3)])
    mu = particles(d, dtype)

    def one(x, beta):
        return end(pf.Attention(beta, sums=sums), mu.moved(x), solver=pf.Heun(0.1))

    return jax.vmap(one)(clouds, jnp.asarray([1.0, 4.0, 9.0], dtype))


def tangent(sums, dtype, d):
    mu = particles(d, dtype)
    velocity = lambda x: pf.Attention(4.0, sums=sums)(0.0, mu.moved(x)).v  # noqa: E731
    return jax.jvp(velocity, (mu.points,), (jnp.flip(mu.points, axis=0),))[1]


def ring(sums, dtype, d):
    method = sums if isinstance(sums, Exact) else Ring()
    return end(pf.Attention(4.0, sums=method), particles(d, dtype))


DIMENSIONS = {
    attention: (2, 3, 4, 16, 64, 130),
    causal: (3, 20),
    unnormalized: (3, 16),
    repelled: (6,),
    general: (3, 64, 200),
    heads: (32,),
    normalized: (16,),
    gradient: (3, 16),
    ensemble: (3, 16),
    tangent: (2, 3, 64, 130),
    ring: (3,),
}
if not ON_GPU:  # compiling what stands for a kernel takes seconds: one of each kind
    DIMENSIONS = dict.fromkeys([attention, causal, general, gradient, ensemble], (5,))
JOURNEYS = [(journey, d) for journey, ds in DIMENSIONS.items() for d in ds]
if not ON_GPU:  # twenty seconds: in the soak
    JOURNEYS = thinned(
        JOURNEYS, *[case for case in JOURNEYS if case[0] is not gradient]
    )


@pytest.mark.parametrize(
    "journey, d", JOURNEYS, ids=lambda a: getattr(a, "__name__", a)
)
def test_a_journey_ends_where_float64_on_the_host_ends(journey, d):
    found = np.asarray(journey(QUICK, "float32", d))
    assert found.dtype == np.float32
    exact = on_host(journey, d)
    assert_allclose(found, exact, atol=1e-4 * max(1.0, np.abs(exact).max()))


@pytest.mark.parametrize("d", [3, 64] if ON_GPU else [5])
def test_a_flow_with_its_own_steps_says_how_it_ended(d):
    field = pf.Attention(4.0, sums=QUICK)
    solver = pf.Adaptive(rtol=1e-5, atol=1e-6)
    run = pf.flow(field, particles(d), 0.5, save=2, solver=solver)
    assert run.outcome.kind == "reached t1"
    with jax.default_device(HOST):
        exact = pf.flow(
            pf.Attention(4.0, sums=Exact()), particles(d, "float64"), 0.5, save=2
        )
    assert_allclose(run.final.points, exact.final.points, atol=1e-4)


@only_on_gpu
def test_tokens_merge_into_as_many_atoms_as_on_the_host():
    rng = np.random.default_rng(1)
    x = tokens(3, 5)[rng.integers(5, size=60)] + 1e-3 * rng.normal(size=(60, 3))
    mu = pf.Particles.normalized(pf.Sphere(3), x)
    run = pf.flow(pf.Attention(30.0), mu, 20.0, save=2, merge=pf.Merge())
    with jax.default_device(HOST):
        exact = pf.flow(pf.Attention(30.0), mu, 20.0, save=2, merge=pf.Merge())
    assert_allclose(run.final.points, exact.final.points, atol=1e-6)
    assert len(run.final.merge(1e-6).points) == len(exact.final.merge(1e-6).points) <= 5


@only_on_gpu
def test_close_tokens_are_counted():
    x = tokens(16, 12)[np.arange(N) % 12]
    mu = pf.Particles(pf.Sphere(16), x).astype("float32")
    assert mu.merge(1e-3).n == 12


@only_on_gpu
def test_a_density_moves_as_on_the_host():
    field = pf.Attention(4.0)
    tilt = lambda x: jnp.exp(x[..., 0])  # noqa: E731

    def moved():
        rho = pf.Density.from_function(pf.Circle(), 32, tilt)
        return np.asarray(pf.flow(field, rho, 0.5, save=2).final.coefficients)

    found = moved()
    with jax.default_device(HOST):
        assert_allclose(found, moved(), atol=1e-8)


@only_on_gpu
def test_a_trained_model_is_run_as_on_the_host():
    from pushforward import probe

    def hidden():
        model = probe.Model(probe.tiny_pre_norm(4, key=jax.random.key(0)), None)
        return probe.run(model, probe.counting_text(jax.random.key(1))).hidden

    found = hidden()
    with jax.default_device(HOST):
        exact = hidden()
    assert_allclose(found, exact, atol=1e-4 * np.abs(exact).max())


@pytest.mark.parametrize("causal", [False, True])
def test_heads_of_a_trained_layer_are_summed_without_their_matrices(
    causal, monkeypatch
):
    """As `probe` runs long texts: grouped keys and values, biases, rotary positions."""
    from pushforward.probe.models import _attention_weights as layer

    monkeypatch.setattr(layer, "Auto", lambda: QUICK)
    rng = np.random.default_rng(3)
    d, k = 32, 16
    shapes = {"Q": (4, k, d), "K": (2, k, d), "V": (2, k, d), "O": (4, d, k)}
    shapes |= {"q": (4, k), "k": (2, k), "v": (2, k), "o": (d,)}
    drawn = {n: rng.normal(size=s) / s[-1] ** 0.5 for n, s in shapes.items()}
    u = rng.normal(size=(N, d))

    def added(update, dtype):
        arrays = {name: jnp.asarray(a, dtype) for name, a in drawn.items()}
        turned = layer.Rotary(jnp.asarray(0.1 ** np.arange(4.0)))
        heads = layer.HeadWeights(**arrays, rotary=turned)
        return update(heads, jnp.asarray(u, dtype), causal=causal)

    found = np.asarray(added(layer.updated, jnp.float32))
    with jax.default_device(HOST):
        exact = np.asarray(added(layer.attend, jnp.float64)[1])
    assert_allclose(found, exact, atol=3e-5 * np.abs(exact).max())


@only_on_gpu
def test_an_ensemble_observes_what_single_runs_do():
    pytest.importorskip("zarr", reason="experiments are stored by zarr")
    from pushforward.experiments import ensemble as ensemble_of

    start = pf.Uniform(32, 8)
    one = pf.Experiment(start=start, field=pf.Attention(4.0), t1=2.0, save=3)
    many = [one.vary(**{"field.beta": 1.0 + k, "seed": k}) for k in range(6)]
    seen = ensemble_of(many, [pf.observables.mean_cosine] * 6)
    for k in (0, 5):
        alone = many[k].run().observe(pf.observables.mean_cosine)
        assert_allclose(seen.values[k], alone, atol=1e-6)


@pytest.mark.skipif(
    any(importlib.util.find_spec(m) is None for m in ("typer", "rich", "zarr")),
    reason="the command line needs typer, rich and zarr",
)
@only_on_gpu
def test_simulate_on_the_command_line(tmp_path):
    run = "from pushforward.cli import main; main()"
    words = "simulate --n 2000 --d 3 --beta 9 --t1 1 --seed 0 --out".split()
    command = [sys.executable, "-c", run, *words, str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
