"""The conversation with the page: frames, numbers, flow control, files."""

import base64
import csv
import dataclasses
import io
import json
import time
import zipfile

import jax.numpy as jnp
import numpy as np
import pytest
from explorer_client import Frame, follow, send

import pushforward as pf
from pushforward.observables import Clusters, attention_matrix, mean_cosine
from pushforward.web import _caps
from pushforward.web.computing import _draw
from pushforward.web.state._experiment import experiment_of
from pushforward.web.state._fit import parse

SMALL = {"n": 12, "t1": 6.0, "frames": 13}
PLAIN = {"X-Pushforward": "1"}


@pytest.fixture(scope="module")
def small(client):
    return client.run(SMALL)


@pytest.fixture(scope="module")
def small_run():
    mu = pf.Particles.uniform(pf.Sphere(3), 12, key=pf.key_for(0, "tokens"))
    return pf.flow(pf.Attention(9.0), mu, 6.0, save=13)


def test_numbers_equal_the_library(small, small_run):
    energy = small_run.observe(pf.InteractionEnergy(9.0))
    cosine = small_run.observe(mean_cosine)
    found = [Clusters(0.05)(small_run[k]) for k in range(13)]
    assert np.allclose(small.column("t"), small_run.times, rtol=1e-15)
    assert np.allclose(small.column("energy"), energy, rtol=1e-11)
    assert np.allclose(small.column("cosine"), cosine, rtol=0, atol=1e-10)
    assert small.column("clusters").tolist() == [c.count for c in found]
    assert np.allclose(small.column("largest"), [c.largest for c in found], rtol=1e-12)
    points = np.stack([frame.points for frame in small.frames])
    assert np.abs(points - np.asarray(small_run.points)).max() < 1e-7  # float32
    assert small.end["steps"] == int(small_run.steps)
    assert small.end["outcome"]["kind"] == small_run.outcome.kind
    assert small.end["norm_drift"] < 1e-14
    assert np.diff(small.column("energy")).min() >= -1e-12


def test_frames_are_in_order_and_the_last_says_so(small):
    assert [frame.k for frame in small.frames] == list(range(13))
    assert [frame.flags for frame in small.frames] == [0] * 12 + [1]
    assert {frame.id for frame in small.frames} == {1}
    assert small.accepted["frames"] == small.end["frames"] == 13
    for before, after in zip(small.frames, small.frames[1:], strict=False):
        assert set(after.labels) <= set(before.labels), "merging makes no new names"
    counts = [len(set(frame.labels.tolist())) for frame in small.frames]
    assert counts == small.column("clusters").tolist()


def test_a_known_run_is_sent_again_byte_for_byte(client, small):
    start = time.perf_counter()
    again = client.run(SMALL, request=7)
    assert time.perf_counter() - start < 5.0
    assert again.end["run"] == small.end["run"] and again.end["seconds"]
    assert {frame.id for frame in again.frames} == {7}
    assert np.array_equal(again.column("energy"), small.column("energy"))


def test_a_run_is_read_back_from_disk(client, server, small):
    name = small.end["run"]
    deadline = time.monotonic() + 20
    manifest = server.explorer.runs.root / name / "manifest.json"
    while not manifest.is_file() and time.monotonic() < deadline:
        time.sleep(0.05)
    server.explorer.runs.kept.pop(name)
    before = server.explorer.worker.numbers.__reduce__()[1]
    again = client.run(SMALL)
    assert server.explorer.worker.numbers.__reduce__()[1] == before, "not computed"
    assert np.array_equal(again.column("energy"), small.column("energy"))


RICH = {
    "n": 9,
    "d": 2,
    "beta": 20.0,
    "t1": 50.0,
    "clock": "log",
    "frames": 9,
    "weights": "random",
    "moved": [[2, [0.6, 0.8]]],
    "V": "minus",
    "seed": 3,
}
HEADS = {
    "n": 6,
    "d": 4,
    "heads": 2,
    "model": "causal",
    "solver": "layers",
    "t1": 2.0,
    "frames": 5,
    "init": "clustered",
}
NOISE = {"n": 8, "noise": 0.3, "solver": "heun", "h": 0.05, "t1": 1.0, "frames": 3}
MERGING = {
    "n": 5,
    "d": 2,
    "merge": True,
    "model": "usa",
    "beta": 30.0,
    "t1": 1e14,
    "clock": "log",
    "frames": 12,
    "init": "gaussian",
}
slow = pytest.mark.slow


@pytest.mark.parametrize(
    "state",
    [
        pytest.param(SMALL, id="small"),
        pytest.param(RICH, id="rich"),
        pytest.param(HEADS, id="heads", marks=slow),
        pytest.param(NOISE, id="noise", marks=slow),
        pytest.param(MERGING, id="merging", marks=slow),
    ],
)
def test_copied_python_runs_and_gives_the_numbers_of_the_page(client, state):
    answer = client.run(state)
    assert answer.end["type"] == "done" and answer.accepted["clamped"] == []
    names: dict = {}
    exec(compile(answer.accepted["python"], "copied", "exec"), names)
    count, run = len(answer.frames), names["trajectory"]
    assert np.allclose(answer.column("t"), run.times[:count], rtol=1e-12)
    found = run.observed
    assert np.allclose(answer.column("energy"), found["energy"], rtol=1e-9)
    assert answer.column("clusters").tolist() == found["clusters"].tolist()
    assert np.allclose(answer.column("largest"), found["largest_mass"], rtol=1e-9)
    cosine = found["mean_cosine"]
    assert np.allclose(answer.column("cosine"), cosine, rtol=0, atol=1e-9)
    kind = run.outcome.kind
    assert pf.Experiment.from_toml(answer.accepted["toml"]) == names["experiment"]
    assert answer.end["outcome"]["kind"].startswith(kind)


@pytest.mark.parametrize(
    "state",
    [
        {"dtype": "float32", "model": "usa"},
        {"model": "hardmax", "V": [1.0, -2.0, 0.5]},
        {"model": "rescaled", "d": 2, "V": [[1.0, 0.5], [0.0, 0.3]]},
        {"init": "orthonormal", "n": 3, "heads": 2, "V": "minus"},
        {"solver": "layers", "h": 0.2},
    ],
)
def test_every_state_is_a_program(state):
    from pushforward.web.state._words import accepted

    about = accepted(parse(state)[0], None)
    compile(about["python"], "copied", "exec")
    assert about["command"].startswith("pushforward ")
    assert about["words"]


def test_copied_command_gives_the_numbers_of_the_page(small):
    import shlex

    from typer.testing import CliRunner

    from pushforward.cli._main import app

    words = shlex.split(small.accepted["command"])
    assert words[0] == "pushforward"
    done = CliRunner().invoke(app, [*words[1:], "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout.strip().splitlines()[-1])
    last = small.frames[-1].numbers
    assert found["energy"] == pytest.approx(last["energy"], rel=1e-10)
    assert found["clusters"] == last["clusters"]


def test_a_page_that_does_not_read_gets_no_more_than_the_window(client):
    state = {**SMALL, "frames": 101, "seed": 5}
    client.run(state)  # known from here on: it streams at full speed
    with client.socket() as socket:
        send(socket, type="run", id=4, state=state)
        json.loads(socket.recv(timeout=30))
        frames = [Frame.read(socket.recv(timeout=30)) for _ in range(_caps.WINDOW)]
        with pytest.raises(TimeoutError):
            while True:
                frames.append(Frame.read(socket.recv(timeout=1.0)))
        assert len(frames) == _caps.WINDOW
        send(socket, type="ack", id=4, frame=9)
        more = [Frame.read(socket.recv(timeout=10)).k for _ in range(10)]
        assert more == list(range(_caps.WINDOW, _caps.WINDOW + 10))
        with pytest.raises(TimeoutError):
            socket.recv(timeout=0.5)


def test_a_new_run_replaces_the_one_before(client):
    with client.socket() as socket:
        send(socket, type="run", id=1, state={**SMALL, "n": 10, "frames": 201})
        answer = follow(socket, {**SMALL, "n": 11}, request=2)
    assert len(answer.frames) >= 13
    mine = [frame for frame in answer.frames if frame.id == 2]
    assert [frame.k for frame in mine] == list(range(13))
    assert answer.end["type"] == "done"


def test_stop_stops_the_computation(client, server):
    with client.socket() as socket:
        state = {"n": 16, "frames": 1001, "t1": 1e4, "seed": 9}
        send(socket, type="run", id=3, state=state)
        assert json.loads(socket.recv(timeout=30))["type"] == "accepted"
        send(socket, type="stop", id=3)
        answer = follow(socket, SMALL, request=4)
        assert answer.end["type"] == "done"
    deadline = time.monotonic() + 30
    kept = server.explorer.runs.kept
    while any(run.state.seed == 9 for run in list(kept.values())):
        assert time.monotonic() < deadline, "still there"
        time.sleep(0.05)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "null", '{"type":"run"}', '{"type":"run","id":-1}', "1e999"]
    + ['{"type":"fly","id":1}', '{"type":"run","id":1,"state":[]}', "[" * 5000],
)
def test_nonsense_is_answered_and_survived(client, text):
    with client.socket() as socket:
        socket.send(text)
        found = json.loads(socket.recv(timeout=30))
        assert found["type"] == "error" and found["message"] and found["fix"]


def test_about_presets_and_manifest(client, small):
    about = client.http.get("/api/about").json()
    assert about["version"] == pf.__version__ and about["device"]
    assert len(client.http.get("/api/presets").json()) > 30
    manifest = client.http.get(f"/api/runs/{small.end['run']}").json()
    assert manifest["outcome"] == small.end["outcome"] and manifest["frames"] == 13
    assert client.http.get("/api/runs/" + "0" * 32).status_code == 404
    wrong = client.http.get("/api/nothing")
    assert wrong.status_code == 404 and wrong.json()["error"]["fix"]


def test_attention_equals_the_library(client, small, small_run):
    name = small.end["run"]
    A = np.asarray(attention_matrix(small_run[4], 9.0))
    found = client.http.get(f"/api/runs/{name}/attention?frame=4&order=cluster").json()
    order = np.array(found["order"])
    raw = np.frombuffer(base64.b64decode(found["values"]), "<f4")
    assert np.allclose(raw.reshape(12, 12), A[np.ix_(order, order)], atol=1e-7)
    assert found["binned"] is False and len(found["entropy"]) == 12
    labels = small.frames[4].labels[order]
    assert (np.diff(labels.astype(int)) >= 0).all()
    row = client.http.get(f"/api/runs/{name}/row?frame=4&token=3").json()["values"]
    assert np.allclose(row, A[3], rtol=1e-9)
    for query in ("frame=99", "frame=-1", "frame=x", "frame=1&order=up", "head=3"):
        bad = client.http.get(f"/api/runs/{name}/attention?{query}")
        assert bad.status_code == 400 and bad.json()["error"]["message"], query


def test_a_binned_matrix_still_has_rows_that_sum_to_one():
    from pushforward.web._attention import _binned

    A = np.random.default_rng(0).dirichlet(np.ones(300), size=300)
    B = _binned(A, 256)
    assert B.shape == (256, 256) and np.allclose(B.sum(axis=1), 1.0)
    assert B[0, 0] == A[0, 0] and not np.allclose(B[-1, -1], A[-1, -1])


def test_csv_reads_back(client, small):
    text = client.http.get(f"/api/runs/{small.end['run']}/csv").text
    first, *rows = text.splitlines()
    assert first.startswith("# reached t1")
    table = list(csv.DictReader(io.StringIO("\n".join(rows))))
    assert [float(row["energy"]) for row in table] == small.column("energy").tolist()
    assert [int(row["clusters"]) for row in table] == small.column("clusters").tolist()


def test_picture_film_and_store(client, small, small_run, tmp_path):
    base = f"/api/runs/{small.end['run']}"
    picture = client.http.get(f"{base}/png?frame=6")
    assert picture.content.startswith(b"\x89PNG") and len(picture.content) > 10_000
    packed = client.http.get(f"{base}/zip").content
    zipfile.ZipFile(io.BytesIO(packed)).extractall(tmp_path)
    loaded = pf.load(tmp_path / "run")
    assert np.allclose(loaded.points, small_run.points, atol=1e-9)
    assert np.allclose(loaded.observed["energy"], small.column("energy"))
    film = client.http.get(f"{base}/mp4")
    assert film.headers["content-type"] == "video/mp4"
    (tmp_path / "film.mp4").write_bytes(film.content)
    from imageio_ffmpeg import count_frames_and_secs

    assert count_frames_and_secs(str(tmp_path / "film.mp4"))[0] == 13
    assert client.http.get(f"{base}/exe").status_code == 404


def upload(client, name: str, data: bytes):
    return client.http.post("/api/upload", files={"file": (name, data)}, headers=PLAIN)


def npy(array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_tokens_from_a_file_run(client):
    x = np.random.default_rng(1).standard_normal((11, 3))
    about = upload(client, "mine.npy", npy(x)).json()
    assert (about["kind"], about["n"], about["d"]) == ("tokens", 11, 3)
    assert "length one" in about["note"]
    answer = client.run({"init": "file", "file": about["file"], "t1": 1.0, "frames": 3})
    assert answer.accepted["n"] == 11
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    assert np.abs(answer.frames[0].points - unit).max() < 1e-7


def test_hidden_states_are_shown_layer_by_layer(client):
    x = np.random.default_rng(2).standard_normal((4, 5, 20))
    about = upload(client, "hidden.npy", npy(x)).json()
    assert (about["kind"], about["n"], about["layers"]) == ("hidden", 5, 4)
    answer = client.run({"model": "recorded", "file": about["file"], "beta": 2.0})
    assert answer.column("t").tolist() == [0.0, 1.0, 2.0, 3.0]
    unit = x / np.linalg.norm(x, axis=2, keepdims=True)
    mu = pf.Particles(pf.Sphere(20), unit[2])
    energy = float(pf.InteractionEnergy(2.0)(mu))
    assert answer.frames[2].numbers["energy"] == pytest.approx(energy, rel=1e-12)
    assert answer.end["outcome"]["kind"] == "recorded"
    assert sum(answer.end["variance"]) <= 1 + 1e-12
    assert answer.frames[0].cosines.sum() == pytest.approx(1.0)


def test_a_trained_model_says_who_moved_a_token(client, server, tmp_path):
    """Recorded pulls are what the stage draws as arrows, not attention at some beta."""
    x = np.random.default_rng(5).standard_normal((3, 4, 6))
    x = x / np.linalg.norm(x, axis=2, keepdims=True)
    sources, shares = np.zeros((2, 3, 4, 2))
    sources[0, 1], shares[0, 1] = (3, 2), (0.5, -0.25)
    seen = {"pull_source": sources, "pull_share": shares}
    run = pf.Trajectory.recorded(pf.Sphere(6), x, observed=seen)
    run.save(tmp_path / "run")
    kept = server.explorer.files.recorded(pf.load(tmp_path / "run"), "model")
    about = client.run({"model": "recorded", "file": kept["file"]}).accepted
    row = f"/api/runs/{about['run']}/row?frame=0&token="
    answer = client.http.get(row + "1").json()
    assert answer == {"values": [0.0, 0.0, -0.25, 0.5], "moved": True}
    assert client.http.get(row + "9").status_code == 400


def test_weights_from_a_file_run(client, tmp_path, monkeypatch):
    from safetensors.numpy import save

    rng = np.random.default_rng(3)
    matrices = {name: rng.standard_normal((3, 3)) for name in ("Q", "K", "V")}
    about = upload(client, "w.safetensors", save(matrices)).json()
    assert (about["kind"], about["d"], about["heads"]) == ("weights", 3, 1)
    state = {"V": f"file:{about['file']}", "n": 6, "t1": 1.0, "frames": 3}
    state |= {"solver": "heun", "h": 0.05}
    answer = client.run(state)
    mu = pf.Particles.uniform(pf.Sphere(3), 6, key=pf.key_for(0, "tokens"))
    field, solver = pf.Attention(9.0, **matrices), pf.Heun(0.05)
    run = pf.flow(field, mu, 1.0, save=3, solver=solver)
    last = np.asarray(run.final.points)
    assert np.abs(answer.frames[-1].points - last).max() < 1e-6
    np.savez(tmp_path / "weights.npz", **matrices)  # of shape (d, d), as people save
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(answer.accepted["python"], "copied", "exec"), names)
    assert np.allclose(names["trajectory"].final.points, last, atol=1e-12)


def bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("points.npy", npy(np.zeros(2**24)))
    return buffer.getvalue()


def claims_more() -> bytes:
    data = npy(np.zeros((100, 3)))
    return data.replace(b"(100, 3), }", b"(10**9,3)}", 1).replace(
        b"'shape': (100, 3)", b"'shape': (900000, 3)"
    )


def pickled() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return buffer.getvalue()


REFUSED = {
    "a.exe": b"MZ",
    "empty.npy": b"",
    "noise.npy": b"\x93NUMPY nonsense",
    "pickle.npy": pickled(),
    "claims.npy": claims_more(),
    "bomb.npz": bomb(),
    "noise.npz": b"PK\x03\x04 nonsense",
    "words.csv": b"a,b\nc,d\n",
    "latin.csv": b"\xff\xfe\xff",
    "nan.csv": b"1,2,3\nnan,1,2\n",
    "zero.csv": b"1,2,3\n0,0,0\n",
    "flat.npy": npy(np.ones(5)),
    "line.npy": npy(np.ones((5, 1))),
    "many.npy": npy(np.ones((5000, 3))),
    "one-layer.npy": npy(np.ones((1, 4, 3))),
    "text.npy": npy(np.array([["a", "b"]])),
    "noise.safetensors": b"\xff" * 64,
    "huge-header.safetensors": (2**60).to_bytes(8, "little") + b"{}",
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_files_are_refused_with_the_reason(client, name):
    answer = upload(client, name, REFUSED[name])
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error["message"] and error["fix"], error
    assert error["argument"] in ("file", "Q", "K", "V")


def test_a_stored_run_is_shown(server, client, small_run, tmp_path):
    small_run.save(tmp_path / "mine")
    from pushforward.web.state._state import unpacked

    link, words = server.show(tmp_path / "mine")
    assert words == []
    state = unpacked(link)
    answer = client.run(state)
    energy = small_run.observe(pf.InteractionEnergy(9.0))
    assert np.allclose(answer.column("energy"), energy, rtol=1e-11)
    assert answer.end["outcome"]["kind"] == small_run.outcome.kind
    assert answer.end["steps"] == int(small_run.steps)


def test_masses_of_a_stored_run_count_in_its_matrix_and_its_files(server, client):
    x = np.random.default_rng(7).standard_normal((3, 4, 3))
    x /= np.linalg.norm(x, axis=2, keepdims=True)
    masses = np.array([0.1, 0.2, 0.3, 0.4])
    run = pf.Trajectory.recorded(pf.Sphere(3), x, weights=masses)
    files = server.explorer.files
    kept = files.recorded(run, "heavy")
    about = client.run(
        {"model": "recorded", "file": kept["file"], "beta": 2.0}
    ).accepted
    row = client.http.get(f"/api/runs/{about['run']}/row?frame=1&token=2").json()
    shares = masses * np.exp(2.0 * x[1] @ x[1, 2])
    assert np.allclose(row["values"], shares / shares.sum(), atol=1e-7)
    folder = server.explorer.runs.root / about["run"]
    assert np.allclose(_draw.stored_run(folder, files.root)[1].weights, masses)


def test_phase_diagrams_grow_in_the_background(client):
    ask = "/api/phase?kind=t-beta&statistic=close&n=2&d=2"
    found = client.http.get(ask).json()
    assert found["x"]["name"] == "t1" and found["cell"] == {"x": "t1", "y": "beta"}
    assert len(found["values"]) == len(found["y"]["values"])
    assert found["theory"]["x"] and found["running"]
    deadline = time.monotonic() + 60
    while found["values"][0][0] is None and time.monotonic() < deadline:
        time.sleep(0.3)
        found = client.http.get(ask).json()
    assert 0 < found["done"] <= 1 and all(0 <= v <= 1 for v in found["values"][0])
    for query in ("kind=x", "statistic=x", "n=1", "d=1000", "statistic=time", "n=a"):
        bad = client.http.get(f"/api/phase?{query}")
        assert bad.status_code == 400 and bad.json()["error"]["message"], query


def test_a_cell_is_the_statistic_of_the_state_it_loads():
    from pushforward.web.computing._phase import Diagram, computed

    diagram = Diagram("t-beta", "close", 8, 3)
    row, column = diagram.axes[1].values.index(4.0), 9
    value = computed(diagram, [4.0])[0][column]
    assert 0 < value < 1 and len(diagram.axes[1].values) > row
    shares = []
    for seed in (0, 1, 2):
        mu = pf.Particles.uniform(pf.Sphere(3), 8, key=pf.key_for(seed, "tokens"))
        t1 = diagram.axes[0].values[column]
        run = pf.flow(pf.Attention(4.0), mu, t1, save=2)
        shares.append(float(pf.observables.ClosePairs(0.999)(run.final)))
    assert value == pytest.approx(np.mean(shares))


def test_every_cell_of_a_row_is_its_own_state():
    """Cells without noise are solved adaptively, the others by Heun: two programs."""
    from pushforward.web.computing import _phase

    diagram = _phase.Diagram("noise-beta", "order_parameter", 4, 2)
    values = _phase.computed(diagram, [2.0])[0]
    for column in (0, 3):
        noise = diagram.axes[0].values[column]
        cell = dataclasses.replace(diagram.base, beta=2.0, noise=noise)
        if noise == 0:
            cell = dataclasses.replace(cell, solver="adaptive")
        ends = []
        for seed in _phase.SEEDS:
            mine = experiment_of(dataclasses.replace(cell, seed=seed))
            run = mine.vary(observe={"r": pf.observables.order_parameter}, save=2).run()
            ends.append(run.observed["r"][-1])
        assert values[column] == pytest.approx(np.mean(ends), abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("given", [{"model": "causal"}, {"model": "usa", "d": 2}])
def test_padding_moves_nobody(given, tmp_path):
    """Copies of the last token without mass: the same flow, token by token."""
    from pushforward.web.state._experiment import run_of

    state = parse({"n": 9, "t1": 3.0, "frames": 3, **given})[0]
    wide, narrow = run_of(state, tmp_path, None), experiment_of(state).run()
    assert wide.final.n == 16
    assert jnp.abs(wide.points[:, :9] - narrow.points).max() < 1e-10
    assert int(wide.steps) == int(narrow.steps)


def test_frozen_is_never_called_converged(client):
    answer = client.run({**SMALL, "beta": 1e4})
    assert answer.end["outcome"]["kind"] == "frozen at machine precision"


@pytest.mark.slow
def test_the_frozen_preset_freezes(client):
    from pushforward.web.state._presets import FAILURES

    state = next(f["state"] for f in FAILURES if f["id"] == "frozen")
    answer = client.run(state)
    assert answer.end["outcome"]["kind"] == "frozen at machine precision"
    assert answer.frames[-1].numbers["clusters"] == 3
