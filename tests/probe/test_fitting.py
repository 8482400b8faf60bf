"""The theory's layer fitted to layers, gradients of the last token, tiny models."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny_folders

import pushforward as pf
from pushforward import probe
from pushforward.errors import InputError
from pushforward.probe.measured import _regression

KEY = jax.random.key(3)


@pytest.fixture(scope="module")
def attention_run():
    """Three layers of attention with a matrix V, which a fit must find again."""
    mu = pf.Particles.clustered(
        pf.Sphere(4), 60, centers=10, scale=0.3, key=jax.random.key(0)
    )
    V = np.random.default_rng(0).normal(size=(4, 4))
    V = V * 2 / np.linalg.norm(V)
    field = pf.Attention(12.0, V=V)
    return V, pf.flow(field, mu, 0.6, solver=pf.Layers(0.3), save=3)


def test_a_fit_finds_the_field_that_made_the_layers(attention_run):
    V, trajectory = attention_run
    found = probe.fit(trajectory, key=KEY, layers=(1,)).layers[0]
    assert found.attention > 0.999
    assert found.attention > found.linear + 0.01
    assert found.shuffled < 0.5
    assert found.beta == pytest.approx(12.0, rel=0.1)
    assert found.step == pytest.approx(0.3, rel=0.05)
    assert np.abs(found.V - V).max() < 0.1
    start = trajectory[1]
    end = pf.flow(found.field, start, 1.0, solver=pf.Layers(1.0), save=2).final
    motion = np.linalg.norm(trajectory.points[2] - start.points)
    assert np.linalg.norm(end.points - trajectory.points[2]) < 0.2 * motion


def test_plain_attention_is_found_with_two_numbers():
    mu = pf.Particles.uniform(pf.Sphere(4), 80, key=jax.random.key(1))
    trajectory = pf.flow(
        pf.CausalAttention(5.0), mu, 0.4, solver=pf.Layers(0.4), save=2
    )
    found = probe.fit(trajectory, key=KEY, causal=True).layers[0]
    assert found.plain == pytest.approx(1.0, abs=1e-4)
    assert found.plain_beta == pytest.approx(5.0, rel=1e-2)
    full = probe.fit(trajectory, key=KEY, causal=False).layers[0]
    assert full.plain < 0.9  # the mask matters


@pytest.mark.slow
def test_a_linear_layer_is_not_mistaken_for_attention():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(100, 6))
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    y = x @ (np.eye(6) + 0.4 * rng.normal(size=(6, 6)))
    trajectory = probe.recording_of(np.stack([x, y]), "linear").trajectory()
    found = probe.fit(trajectory, key=KEY).layers[0]
    assert found.linear > 0.8
    assert found.attention < found.linear + 0.01
    assert found.both - found.linear < 0.02
    assert found.shuffled < 0.2


@pytest.mark.slow
def test_a_perceptron_explains_what_a_linear_map_cannot():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(160, 3))
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    y = x + 0.8 * np.abs(x)
    trajectory = probe.recording_of(np.stack([x, y]), "bent").trajectory()
    found = probe.fit(trajectory, key=KEY, perceptron=32).layers[0]
    assert found.perceptron > found.attention + 0.1


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_of_the_descents_are_those_of_their_errors(causal):
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(2, 14, 5))
    x, y = (a / np.linalg.norm(a, axis=1, keepdims=True) for a in (x, y))
    train = np.arange(0, 14, 2)
    mask = np.tri(14, dtype=bool) if causal else np.ones((14, 14), bool)
    gram, ahead, motion = x @ x.T, y @ x.T, (y - x)[train]
    errors = [
        lambda p: _regression._plain_error(p, gram, ahead, train, mask),
        lambda p: _regression._attention_error(p, gram, motion, train, mask, False),
        lambda p: _regression._attention_error(p, gram, motion, train, mask, True),
    ]
    for error in errors:
        at = np.array([0.7, -0.4])
        slope = error(at)[1]
        for k in range(2):
            step = 1e-5 * np.eye(2)[k]
            rise = (error(at + step)[0] - error(at - step)[0]) / 2e-5
            assert slope[k] == pytest.approx(rise, rel=1e-6, abs=1e-9)


def test_fits_refuse_what_they_cannot_use():
    flat = probe.recording_of(np.random.default_rng(0).normal(size=(2, 9, 4)), "x")
    with pytest.raises(InputError, match=r"Record with Rms\(\)"):
        probe.fit(flat.trajectory(probe.Raw()), key=KEY)
    with pytest.raises(InputError, match="layers are 0"):
        probe.fit(flat.trajectory(), key=KEY, layers=(1,))
    few = probe.recording_of(flat.hidden[:, :5], "few").trajectory()
    with pytest.raises(InputError, match="at least 8 tokens"):
        probe.fit(few, key=KEY)


def test_own_attention_is_all_where_there_is_nothing_else():
    rng = np.random.default_rng(6)
    x, update = rng.normal(size=(2, 1, 7, 4))
    base = probe.recording_of(np.concatenate([x, x + update]), "x")
    recording = probe.Recording("x", base.tokens, base.hidden, update=update)
    assert probe.own_attention(recording) == pytest.approx(1.0)
    still = probe.Recording("x", base.tokens, base.hidden, update=0 * update)
    assert probe.own_attention(still) == pytest.approx(0.0)


def test_sensitivity_equals_the_norm_of_the_jacobian(tmp_path):
    tiny_folders.folder(tmp_path, "llama")
    model = probe.load_model(tmp_path)
    ids = np.arange(6)
    found = probe.sensitivity(model, ids, key=KEY, probes=500)
    from pushforward.probe.models._transformer import through

    transformer = model.transformer

    def last(x):
        end = through(transformer, x)[-1]
        return end / jnp.linalg.norm(end)

    x = transformer.embed(jnp.asarray(ids))
    J = np.asarray(jax.jacrev(last)(x), float)  # (d, n, d)
    exact = np.linalg.norm(J, axis=(0, 2)) * np.linalg.norm(np.asarray(x), axis=1)
    # standard errors are given, and five of them are beyond chance
    assert (np.abs(found.values - exact) < 5 * found.errors + 1e-6).all()
    assert found.share.mean() == pytest.approx(1.0)


@pytest.mark.slow
def test_deep_random_models_collapse_sooner_with_norms_after():
    text = probe.counting_text(KEY)
    ends = []
    for make in (probe.tiny_post_norm, probe.tiny_pre_norm):
        model = probe.Model(make(24, key=jax.random.key(0)), None)
        trajectory = probe.run(model, text).trajectory()
        ends.append(float(pf.observables.mean_cosine(trajectory.final)))
    assert ends[0] > 0.99 and ends[1] < 0.9


@pytest.mark.slow
def test_a_tiny_model_learns():
    pytest.importorskip("optax")
    start = probe.tiny_pre_norm(1, 16, 2, key=jax.random.key(0))
    found = probe.train_tiny(start, 60, key=jax.random.key(1))
    assert found.losses[-5:].mean() < 0.9 * found.losses[:5].mean()
    assert found.accuracy > found.chance
    with pytest.raises(InputError, match="must divide"):
        probe.tiny_post_norm(1, 10, 4, key=KEY)
