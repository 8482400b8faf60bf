"""`pushforward probe` and `pushforward models`, on a tiny folder, offline."""

import json
import pathlib
import pickle
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from pushforward import probe
from pushforward.cli._main import app
from pushforward.errors import InputError

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "probe"))
import tiny_folders

runner = CliRunner()


def _tokenizer(path):
    """One token per word, for texts of the words w0 ... w49."""
    tokenizers = pytest.importorskip("tokenizers")
    words = {f"w{k}": k for k in range(tiny_folders.WORDS)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="w0"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(path / "tokenizer.json"))


def test_a_folder_is_probed_and_the_page_needs_nothing_else(tmp_path):
    folder = tmp_path / "model"
    tiny_folders.folder(folder, "bert")
    _tokenizer(folder)
    text = tmp_path / "text.txt"
    text.write_text(" ".join(f"w{k * 7 % 50}" for k in range(20)) + " w3<b>")
    page, run = tmp_path / "report.html", tmp_path / "run"
    arguments = ["probe", str(folder), "--text", str(text), "--out", str(page)]
    done = runner.invoke(app, [*arguments, "--run", str(run), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    one = found["models"][0]
    assert one["layers"] == 3 and one["tokens"] == 24
    assert len(one["table"]["mean_cosine"]) == 4
    assert one["table"]["normalization"] == "rms"
    assert sum(one["regimes"].values()) == 3 * tiny_folders.HEADS
    html = page.read_text()
    assert html.startswith("<!doctype html>") and html.rstrip().endswith("</html>")
    assert "http://" not in html and "https://" not in html and "<script" not in html
    assert "w3&lt;b&gt;" in html and "w3<b>" not in html
    assert html.count("<img ") >= 9
    assert "Why tokens moved" in html and "Layer " in html and "Head " in html
    assert "<i>norms after each sublayer set the length</i>: how the length" in html
    assert "layer<sup>p</sup>" in html
    assert len(one["motion"]["moves"]) == 6 and len(one["theory"]) == 10
    assert (
        set(one["collapse"]) >= {"all"}
        and len(one["collapse"]["all"]["dirichlet"]) == 4
    )
    assert np.shape(one["heads"]["critical_beta"]) == (3,)
    shown = runner.invoke(app, ["show", str(run), "--json"])
    assert "recorded: hidden states of model" in json.loads(shown.stdout)["outcome"]


def test_a_file_of_hidden_states_is_probed(tmp_path):
    hidden = np.random.default_rng(0).normal(size=(3, 12, 6))
    np.save(tmp_path / "states.npy", hidden)
    done = runner.invoke(app, ["probe", str(tmp_path / "states.npy")])
    assert done.exit_code == 0, done.output
    assert "motion explained by a linear map" in done.stdout
    both = np.stack([hidden, hidden[::-1]], axis=1)
    np.save(tmp_path / "two.npy", both)
    again = runner.invoke(app, ["probe", str(tmp_path / "two.npy"), "--sample", "0"])
    assert again.stdout == done.stdout.replace("states", "two")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--text", " "], "empty"),
        (["--text", "missing-file.txt"], "no file 'missing-file.txt'"),
        (["--normalization", "l1"], "must be one of"),
        (["--depth", "9", "--text", "w1 w2"], "shared weights"),
        (["--text", "w1 " * 40], "at most 32"),
        (["--out", "page.pdf"], "must end in .html"),
        (["--seed", "-1", "--text", "w1 w2"], "at least 0, got -1"),
    ],
)
def test_bad_options_are_refused_and_nothing_is_written(tmp_path, arguments, message):
    folder = tmp_path / "model"
    tiny_folders.folder(folder, "bert")
    _tokenizer(folder)
    out = tmp_path / "page.html"
    done = runner.invoke(app, ["probe", str(folder), "--out", str(out), *arguments])
    assert done.exit_code != 0 and message in str(done.exception)
    assert not out.exists()


def _states(**changes):
    hidden = np.random.default_rng(0).normal(size=(3, 12, 6))
    return {"hidden": hidden} | changes


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "nan.npz",
            _states(hidden=np.full((3, 12, 6), np.nan)),
            "not finite in layers",
        ),
        ("two.npz", _states(hidden=np.ones((3, 2, 12, 6))), "2 texts"),
        ("short.npz", _states(words=np.array(["a"])), "name the 12 tokens"),
        ("head.safetensors", b"\x00" * 4, "not a safetensors file"),
        ("pickle.npy", pickle.dumps([1.0]), "the magic string is not correct"),
        ("pickle.pt", pickle.dumps([1.0]), "can run code and are refused"),
    ],
)
def test_bad_states_are_refused_and_nothing_is_written(
    tmp_path, name, content, message
):
    path, page, run = tmp_path / name, tmp_path / "page.html", tmp_path / "run"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.savez(path, **content)
    written = ["--out", str(page), "--run", str(run)]
    done = runner.invoke(app, ["probe", str(path), *written])
    assert isinstance(done.exception, InputError) and message in str(done.exception)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"intermediate_size": 99}, "config.json says"),
        ({"num_attention_heads": 0}, "incomplete or wrong"),
        ({"num_hidden_layers": 9}, "no tensor"),
        ({"model_type": "mixtral"}, "most like llama"),
    ],
)
def test_weights_that_do_not_fit_are_refused_and_nothing_is_written(
    tmp_path, change, message
):
    folder, page = tmp_path / "model", tmp_path / "page.html"
    config, _ = tiny_folders.folder(folder, "llama")
    _tokenizer(folder)
    (folder / "config.json").write_text(json.dumps(config | change))
    written = ["--out", str(page), "--run", str(tmp_path / "run")]
    done = runner.invoke(app, ["probe", str(folder), "--text", "w1 w2 w3", *written])
    assert isinstance(done.exception, InputError) and message in str(done.exception)
    assert list(tmp_path.iterdir()) == [folder]


def test_models_are_listed_and_a_missing_one_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PUSHFORWARD_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    done = runner.invoke(app, ["models", "list", "--json"])
    rows = json.loads(done.stdout)
    assert [row["name"] for row in rows] == ["minilm", "smollm2"]
    assert not any(row["present"] for row in rows)
    done = runner.invoke(app, ["probe"])
    assert "pushforward models get minilm" in str(done.exception)


def test_a_model_in_the_hub_cache_is_listed_and_opened_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("PUSHFORWARD_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    kept = tmp_path / "hub" / "models--some--bert"
    tiny_folders.folder(kept / "snapshots" / "abc", "bert")
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("abc")
    rows = json.loads(runner.invoke(app, ["models", "list", "--json"]).stdout)
    assert rows[-1]["name"] == "some/bert" and rows[-1]["present"]
    checks = json.loads(runner.invoke(app, ["doctor", "--json"]).stdout)
    line = next(check for check in checks if check["what"] == "models")
    assert line["ok"] and line["detail"] == "some/bert"
    assert probe.load_model("some/bert").name == "some/bert"
