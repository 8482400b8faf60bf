"""Normalizations, observables by layer, spectra, weights as fields, saving."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny_folders
from scipy.linalg import eigh

import pushforward as pf
from pushforward import probe
from pushforward.observables import Clusters, mean_cosine
from pushforward.plot.probe_report import write_probe_report
from pushforward.probe.models._attention_weights import Rotary, attend, updated

IDS = np.array([7, 1, 3, 3, 44, 9, 20, 31, 2, 5])


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    found = {}
    for family in tiny_folders.FAMILIES:
        path = tmp_path_factory.mktemp(family)
        tiny_folders.folder(path, family)
        model = probe.load_model(path)
        found[family] = (model, probe.run(model, IDS))
    return found


def test_normalizations_put_tokens_where_they_say(recordings):
    _, recording = recordings["gpt2"]
    x = recording.hidden.astype(float)
    raw = recording.trajectory(probe.Raw())
    assert np.array_equal(raw.points, x)
    assert isinstance(raw.final.space, pf.Euclidean)
    rms = np.asarray(recording.trajectory(probe.Rms()).points)
    assert np.allclose(rms * np.linalg.norm(x, axis=2, keepdims=True), x)
    centered = np.asarray(recording.trajectory(probe.Centered()).points)
    shift = x - x.mean(axis=1, keepdims=True)
    cosine = (centered * shift).sum(axis=2) / np.linalg.norm(shift, axis=2)
    assert np.allclose(cosine, 1)
    layered = np.asarray(recording.trajectory(probe.LayerNormalized()).points)
    assert np.allclose(layered.sum(axis=2), 0)
    assert np.allclose(np.linalg.norm(layered, axis=2), 1)
    trained = recording.trajectory(probe.TrainedNorm())
    assert np.array_equal(trained.points[:-1], recording.inputs[:-1])
    for choice in probe.NORMALIZATIONS.values():
        said = str(recording.trajectory(choice).outcome)
        assert said.endswith(f"{choice.label}.")


def test_trained_norm_is_layernorm_with_the_gain_of_the_next_layer(recordings):
    model, recording = recordings["gpt2"]
    layered = np.asarray(recording.trajectory(probe.LayerNormalized()).points[1])
    norm = model.transformer.layers[1].norms[0]["before"]
    gain, bias = np.asarray(norm.gain), np.asarray(norm.bias)
    expected = layered * np.sqrt(16) * gain + bias  # eps = 1e-5 in the model
    assert np.allclose(recording.inputs[1], expected, atol=1e-4)


@pytest.mark.parametrize("n", [40, 1500])  # by a table, and above 2^21 pairs by tiles
def test_a_layer_without_its_matrices_adds_the_same(recordings, n):
    rng = np.random.default_rng(0)
    for family in tiny_folders.FAMILIES if n == 40 else ["llama"]:
        transformer = recordings[family][0].transformer
        layer, about = transformer.layers[0], transformer.about
        u = jnp.asarray(rng.normal(size=(n, len(layer.c))), jnp.float32)
        matrices, update = attend(layer.heads, u, causal=about.causal)
        assert matrices.shape == (len(layer.heads.Q), n, n)
        alone = updated(layer.heads, u, causal=about.causal)
        scale = float(jnp.abs(update).max())
        assert np.allclose(alone, update, atol=3e-6 * scale), family


def test_matrices_beyond_the_bound_are_not_made(recordings, monkeypatch, tmp_path):
    model, kept = recordings["gpt2"]
    monkeypatch.setattr("pushforward.probe._recording.MOST_ATTENTION", 1000)
    without = probe.run(model, IDS)
    assert kept.attention is not None and without.attention is None
    assert np.allclose(without.hidden, kept.hidden, atol=1e-5)
    assert np.allclose(without.update, kept.update, atol=1e-5)
    said: list[str] = []
    found = probe.examine(model, IDS, most_fitted=1, probes=0, tell=said.append)
    assert any("attention of so long a text is not kept" in line for line in said)
    assert found.heads is None and found.motion is not None
    known = json.loads(json.dumps(found.summary()))
    assert list(known["heads"]) == ["effective_beta"] and "sensitivity" not in known
    write_probe_report([found], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<i>attention is not known</i>: heads on the averaging side" in page


def test_a_recorded_trajectory_saves_loads_and_is_observed(recordings, tmp_path):
    trajectory = recordings["llama"][1].trajectory()
    trajectory.save(tmp_path / "run")
    again = pf.load(tmp_path / "run")
    assert np.array_equal(again.points, trajectory.points)
    assert again.field is None and again.outcome == trajectory.outcome
    assert np.array_equal(again.observed["norm"], trajectory.observed["norm"])
    x = np.asarray(trajectory.points)
    gram = np.einsum("lid,ljd->lij", x, x)
    pairs = (gram.sum(axis=(1, 2)) - 10) / 90
    assert np.allclose(trajectory.observe(mean_cosine), pairs)


def test_cluster_counts_by_tree_equal_those_by_radius():
    mu = pf.Particles.uniform(pf.Sphere(3), 60, key=jax.random.key(0))
    x = np.concatenate([mu.points, mu.points[:5]])  # coincident tokens too
    radii = (0.05, 0.15, 0.25, 0.4)
    doubled = pf.Particles(pf.Sphere(3), x)
    expected = [Clusters(r)(doubled).count for r in radii]
    assert probe.cluster_counts(x, radii).tolist() == expected
    assert len(set(expected)) > 2


def test_layer_table_of_a_collapsed_cloud():
    hidden = np.ones((2, 5, 4)) + 1e-9 * np.arange(5)[None, :, None]
    hidden[0] = np.concatenate([np.eye(4), -np.eye(4)[:1]])
    table = probe.layer_table(probe.recording_of(hidden, "x").trajectory(), beta=2.0)
    assert table.normalization == "rms"
    assert table.mean_cosine == pytest.approx([-1 / 10, 1.0])
    assert table.effective_rank[1] == pytest.approx(1.0, abs=1e-6)
    assert table.anisotropy == pytest.approx([2 / 5, 1.0])
    assert table.energy[1] == pytest.approx(1.0)
    assert table.margin == pytest.approx([0.0, 1.0], abs=1e-6)
    assert table.clusters[:, 0].tolist() == [5, 1]


@pytest.mark.parametrize("family", tiny_folders.FAMILIES)
def test_weights_as_fields_reproduce_the_attention_update(recordings, family):
    model, recording = recordings[family]
    for k in (0, 2):
        layer = probe.fields(model, k)
        push = layer.push(layer.attention, recording.inputs[k])
        assert np.abs(np.asarray(push) - recording.update[k]).max() < 1e-5


def test_weights_as_fields_run_the_whole_layer(recordings):
    """Attention and perceptron of the fields, with the norms, give the next state."""
    model, recording = recordings["llama"]
    layer = probe.fields(model, 1)
    x = recording.hidden[1] + np.asarray(
        layer.push(layer.attention, recording.inputs[1])
    )
    gain = np.asarray(model.transformer.layers[1].norms[1]["before"].gain)
    u = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5) * gain
    x = x + np.asarray(layer.push(layer.perceptron, u))
    assert np.abs(x - recording.hidden[2]).max() < 1e-5
    model, recording = recordings["gpt2"]
    layer = probe.fields(model, 0)
    x = recording.hidden[0] + np.asarray(
        layer.push(layer.attention, recording.inputs[0])
    )
    norm = model.transformer.layers[0].norms[1]["before"]
    gain, bias = np.asarray(norm.gain), np.asarray(norm.bias)
    u = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    x = x + np.asarray(layer.push(layer.perceptron, u * gain + bias))
    assert np.abs(x - recording.hidden[1]).max() < 1e-5


def test_rotary_products_depend_on_the_distance_alone():
    turn = Rotary(100.0 ** (-jnp.arange(0.0, 8.0, 2.0) / 8))
    a, b = np.random.default_rng(0).normal(size=(2, 8))
    a, b = (turn(jnp.broadcast_to(v, (1, 6, 8)))[0] for v in (a, b))
    x = a @ b.T
    for lag in range(-4, 5):
        diagonal = np.diagonal(x, lag)
        assert np.allclose(diagonal, diagonal[0])
    assert not np.isclose(x[0, 0], x[0, 3])


def test_spectra_through_small_matrices_equal_the_full_ones():
    rng = np.random.default_rng(1)
    Q, K, V = rng.normal(size=(3, 4, 9))
    O = rng.normal(size=(9, 4))
    found = probe.spectra(Q, K, V, O)
    full = np.linalg.eigvals(O @ V)
    largest = full[np.argsort(-np.abs(full))][:4]
    assert np.allclose(np.sort_complex(found.V), np.sort_complex(largest))
    B = Q.T @ K
    values = eigh((B + B.T) / 2, eigvals_only=True)
    assert np.allclose(found.B, np.sort(values[np.abs(values) > 1e-9])[::-1])
    assert found.beta == pytest.approx(np.linalg.norm(B) / 3)
    assert found.aligned == pytest.approx(np.trace(B) / 9)


def test_effective_beta_of_a_multiple_of_the_identity_is_the_multiple():
    """P2's definition, sqrt(|B|_F^2 d) for tokens of length sqrt(d)."""
    found = probe.spectra(7.0 * np.eye(6), np.eye(6), np.eye(6), np.eye(6))
    assert found.beta == pytest.approx(7.0) and found.aligned == pytest.approx(7.0)


@pytest.mark.parametrize(
    ("V", "sign", "expected"),
    [
        (np.eye(3), 1.0, "polytope"),
        (-np.eye(3), 1.0, "origin"),
        (np.diag([2.0, 1.0, -1.0]), 1.0, "hyperplanes"),
        (np.diag([2.0, 1.0, -1.0]), -1.0, "subspaces"),
        (np.diag([-2.0, 1.0, 0.5]), 1.0, "subspaces"),
        (np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, -0.5]]), 1.0, "outside"),
        (np.diag([-1.0, -2.0, -3.0]), 1.0, "outside"),
    ],
)
def test_regimes_are_rows_of_the_table_of_limits(V, sign, expected):
    """The table of P2 section 2.3, one row at a time."""
    found = probe.spectra(sign * np.eye(3), np.eye(3), V, np.eye(3))
    assert found.regime == expected


def test_seen_beta_finds_the_inverse_temperature_of_plain_attention():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(20, 5))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    for causal in (False, True):
        logits = 3.5 * unit @ unit.T + rng.normal(size=(20, 1))
        if causal:
            logits = np.where(np.tri(20, dtype=bool), logits, -np.inf)
        A = np.exp(logits - logits.max(axis=1, keepdims=True))
        A = A / A.sum(axis=1, keepdims=True)
        base = probe.recording_of(np.stack([x, x]), "plain")
        recording = probe.Recording(
            "plain", base.tokens, base.hidden, base.hidden, A[None, None], None, causal
        )
        assert probe.seen_beta(recording) == pytest.approx(3.5)
        table = probe.head_table(recording)
        rows = A[1:] if causal else A
        assert table.first == pytest.approx(rows[:, 0].mean())
        assert 0 < table.entropy[0, 0] < 1


def test_words_average_their_tokens():
    base = probe.recording_of(np.random.default_rng(0).normal(size=(2, 5, 4)), "x")
    spans = ((0, 0), (0, 3), (3, 7), (7, 9), (9, 10))  # [CLS], The, " riv", er, .
    tokens = probe.Tokens(np.arange(5), ("",) * 5, spans, "The river.")
    recording = probe.Recording("x", tokens, base.hidden)
    names, points = recording.words(probe.Raw())
    assert names == ("The", "river.")
    assert np.allclose(points[:, 1], base.hidden[:, 2:5].mean(axis=1))
