"""Symmetries and the energy law on thousands of random clouds.

Every example draws one seed and one parameter; arrays come from the seed, on fixed
shapes, so that each property compiles once per model and runs on a batch of clouds.
2,000 clouds in all.
"""

import equinox as eqx
import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf

BATCH = 20  # clouds per drawn example
SHAPES = [(5, 3), (4, 2)]
MODELS = {"SA": pf.Attention, "USA": pf.UnnormalizedAttention}
SETTINGS = hypothesis.settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
SEEDS = st.integers(0, 2**31 - 1)
BETAS = st.floats(-4.0, 4.0)
CASES = [(m, *s) for m in MODELS for s in SHAPES]
EACH = pytest.mark.parametrize(
    ("model", "n", "d"), CASES, ids=[f"{m}-{n}x{d}" for m, n, d in CASES]
)


@eqx.filter_jit
@eqx.filter_vmap(in_axes=(None, 0))
def push(field, mu):
    return field(0.0, mu).v


@eqx.filter_jit
@eqx.filter_vmap(in_axes=(None, 0))
def run(field, mu):
    return pf.flow(field, mu, 0.5, save=5, solver=pf.Heun(1 / 32)).measures


@eqx.filter_jit
@eqx.filter_vmap(in_axes=(None, 0))
def energy(F, mu):
    return eqx.filter_vmap(F)(mu)


def clouds(seed, n, d):
    """A batch of weighted clouds; some coordinates coincide, some nearly."""
    keys = jax.random.split(jax.random.key(seed), 2)
    x = jax.random.normal(keys[0], (BATCH, n, d))
    x = x.at[: BATCH // 4, 1].set(x[: BATCH // 4, 0])  # coincident pairs
    x = x.at[BATCH // 4 : BATCH // 2, 1].multiply(1e-3)
    x = x / jnp.linalg.norm(x, axis=-1, keepdims=True)
    log_weights = jax.nn.log_softmax(jax.random.normal(keys[1], (BATCH, n)))
    one = pf.Particles(pf.Sphere(d), x[0])
    return jax.vmap(one.moved)(x, log_weights)


@EACH
@SETTINGS
@hypothesis.given(seed=SEEDS, beta=BETAS)
def test_permutation(model, n, d, seed, beta):
    mu, field = clouds(seed, n, d), MODELS[model](beta)
    order = np.random.default_rng(seed).permutation(n)
    shuffled = mu.moved(mu.points[:, order], mu.log_weights[:, order])
    a, b = push(field, shuffled), push(field, mu)[:, order]
    np.testing.assert_allclose(a, b, atol=1e-13 * np.exp(max(beta, 0.0)))


@EACH
@SETTINGS
@hypothesis.given(seed=SEEDS, beta=BETAS)
def test_rotation(model, n, d, seed, beta):
    mu, field = clouds(seed, n, d), MODELS[model](beta)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
    a = push(field, mu.moved(mu.points @ turn))
    b = push(field, mu) @ turn
    np.testing.assert_allclose(a, b, atol=1e-13 * np.exp(abs(beta)))


@EACH
@SETTINGS
@hypothesis.given(seed=SEEDS, beta=BETAS, share=st.floats(0.05, 0.95))
def test_duplication_is_weight(model, n, d, seed, beta, share):
    """A token split into two of masses s w and (1 - s) w is the same token."""
    mu, field = clouds(seed, n, d), MODELS[model](beta)
    log_w = mu.log_weights.at[:, 0].add(np.log(share))
    twin = mu.log_weights[:, :1] + np.log1p(-share)
    split = mu.moved(
        jnp.concatenate([mu.points, mu.points[:, :1]], axis=1),
        jnp.concatenate([log_w, twin], axis=1),
    )
    a, b = push(field, split), push(field, mu)
    atol = 1e-13 * np.exp(abs(beta))
    np.testing.assert_allclose(a[:, :n], b, atol=atol)
    np.testing.assert_allclose(a[:, n], b[:, 0], atol=atol)


@EACH
@SETTINGS
@hypothesis.given(seed=SEEDS, beta=BETAS)
def test_time_splits_and_energy_is_monotone(model, n, d, seed, beta):
    """E grows for V = I; flowing to 1/4 twice is flowing to 1/2."""
    hypothesis.assume(abs(beta) > 1e-3)
    mu, field = clouds(seed, n, d), MODELS[model](beta)
    frames = run(field, mu)
    E = np.asarray(energy(pf.InteractionEnergy(beta), frames))
    assert (np.sign(beta) * np.diff(E, axis=1) > -1e-13).all()
    middle = mu.moved(frames.points[:, 2])
    again = run(field, middle)
    np.testing.assert_allclose(again.points[:, 2], frames.points[:, 4], atol=1e-13)


@EACH
@SETTINGS
@hypothesis.given(seed=SEEDS, beta=BETAS)
def test_stays_on_the_sphere_and_keeps_mass(model, n, d, seed, beta):
    mu, field = clouds(seed, n, d), MODELS[model](beta)
    v = push(field, mu)
    assert np.abs(jnp.sum(v * mu.points, axis=-1)).max() < 1e-13 * np.exp(abs(beta))
    frames = run(field, mu)
    assert np.abs(jnp.linalg.norm(frames.points, axis=-1) - 1).max() < 1e-14
    np.testing.assert_array_equal(frames.log_weights[:, -1], mu.log_weights)


@SETTINGS
@hypothesis.given(
    seed=SEEDS,
    beta=st.sampled_from([0.0, -0.0, 1e-300, -1e-300, 700.0, -710.0, 1e6, -1e6])
    | st.floats(-1e6, 1e6),
)
def test_any_beta_is_finite(seed, beta):
    mu = clouds(seed, 5, 3)
    assert np.isfinite(push(pf.Attention(beta), mu)).all()
    bounded = pf.UnnormalizedAttention(beta, log_scale=-abs(beta))
    assert np.isfinite(push(bounded, mu)).all()
    value = eqx.filter_vmap(pf.InteractionEnergy(beta))(mu)
    assert np.isfinite(value).all() and (value >= 0).all() and (value <= 1 + 1e-9).all()
