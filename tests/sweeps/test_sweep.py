"""Sweeps: every cell once, nothing twice, failures with their reason."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import jax
import numpy as np
import pytest
import xarray

import pushforward as pf
from pushforward.errors import InputError, StoreError
from pushforward.observables import ClosePairs, ClusterCount
from pushforward.sweeps import Design, cost, picture, sweep
from pushforward.sweeps._lanes import lanes
from pushforward.sweeps._parameters import split

# Transformer layers compile fast; the first axis is not structural.
CHEAP = {"n": 4, "d": 2, "t1": 1.0, "frames": 3, "layers": 0.5}


@pytest.fixture(scope="module")
def cheap(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    design = Design(CHEAP, {"beta": [0.5, 2.0, 8.0], "seed": [0, 1]}, "mean_cosine")
    return folder, design, sweep(design, folder)


def test_a_cell_is_the_flow_of_the_library():
    parameters = {"n": 6, "d": 3, "beta": 4.0, "t1": 3.0, "frames": 4, "rtol": 1e-8}
    structure, numbers = split(parameters)
    statistic = (("name", "close"), ("threshold", 0.9))
    values, arrived = lanes(structure, statistic, [(numbers, 0)])
    key = jax.random.split(pf.key_for(0, "replica 0"))[0]
    mu = pf.Particles.uniform(pf.Sphere(3), 6, key=key)
    run = pf.flow(pf.Attention(4.0), mu, 3.0, save=4)
    expected = [float(ClosePairs(0.9)(m)) for m in run]
    assert arrived.all()
    assert np.allclose(values[0], expected)


def test_a_system_gives_the_same_bits_whatever_runs_beside_it():
    structure, _ = split(CHEAP)
    statistic = (("name", "mean_cosine"),)
    numbers = [split(CHEAP | {"beta": b})[1] for b in (0.5, 3.0, 8.0)]
    together, _ = lanes(structure, statistic, [(m, r) for m in numbers for r in (0, 1)])
    alone = [lanes(structure, statistic, [(m, r)])[0] for m in numbers for r in (0, 1)]
    assert np.array_equal(together, np.concatenate(alone))


def test_clusters_count_as_the_observable_does():
    structure, numbers = split({"n": 24, "d": 2, "layers": 0.5, "t1": 2.0, "frames": 3})
    statistic = (("name", "clusters"), ("radius", 0.2))
    values, _ = lanes(structure, statistic, [(numbers, r) for r in range(4)])
    for r in range(4):
        key = jax.random.split(pf.key_for(0, f"replica {r}"))[0]
        mu = pf.Particles.uniform(pf.Circle(), 24, key=key)
        run = pf.flow(pf.Attention(9.0), mu, 2.0, save=3, solver=pf.Layers(0.5))
        assert list(values[r]) == [ClusterCount(0.2)(m) for m in run]


def test_a_second_run_computes_nothing_and_more_values_only_what_is_new(cheap):
    folder, design, first = cheap
    again = sweep(design, folder)
    assert (first.computed, again.computed) == (6, 0)
    assert np.array_equal(first.mean, again.mean)
    more = Design(CHEAP, {"beta": [0.5, 2.0, 8.0, 9.0], "seed": [0, 1]}, "mean_cosine")
    assert cost(more, folder)["missing"] == 2
    assert sweep(more, folder).computed == 2


def test_the_table_opens_in_xarray(cheap):
    folder, design, result = cheap
    sweep(design, folder)
    table = xarray.open_zarr(folder / "result.zarr")
    assert table["mean"].dims == ("beta", "seed", "time")
    assert np.array_equal(table["mean"].values, result.mean)
    assert list(table["beta"].values) == [0.5, 2.0, 8.0]


def test_failed_cells_keep_their_reason_and_are_retried_on_request(tmp_path):
    design = Design(CHEAP, {"noise": [0.0, -1.0]}, "mean_cosine")
    result = sweep(design, tmp_path)
    ((parameters, why),) = result.failed
    assert parameters["noise"] == -1.0
    assert "must not be negative" in why
    assert np.isfinite(result.mean[0]).all() and np.isnan(result.mean[1]).all()
    assert sweep(design, tmp_path).computed == 0
    assert sweep(design, tmp_path, retry=True).computed == 1


def test_random_designs_are_reproducible():
    axes = {"beta": {"from": 1.0, "to": 100.0, "scale": "log"}, "seed": [3, 4]}
    one, two = (Design(CHEAP, axes, "energy", random=(5, 7)).cells() for _ in range(2))
    assert one == two and len(one) == 5
    assert all(1.0 <= cell["beta"] <= 100.0 for cell in one)


def test_a_claim_can_be_the_statistic(tmp_path):
    statistic = {"study": "perspective", "claim": "no_such_claim"}
    with pytest.raises(InputError, match="no claim 'no_such_claim'"):
        Design({}, {"seed": [0]}, statistic)
    from pushforward.studies.perspective.claims import CLAIMS

    name = CLAIMS[0].__name__
    result = sweep(Design({}, {"seed": [0]}, statistic | {"claim": name}), tmp_path)
    assert not result.failed and np.isfinite(result.mean).all()


def test_a_folder_serves_one_sweep_at_a_time(cheap):
    from pushforward.sweeps._ledger import Ledger

    folder, design, _ = cheap
    with Ledger(folder), pytest.raises(StoreError, match="another sweep is writing"):
        sweep(design, folder)


def test_a_damaged_cell_is_refused(tmp_path):
    design = Design(CHEAP, {"beta": [1.0]}, "mean_cosine")
    sweep(design, tmp_path)
    (path,) = (tmp_path / "cells").glob("*.json")
    path.write_text(path.read_text()[:-20])
    with pytest.raises(StoreError, match="is damaged"):
        sweep(design, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grid = 3", "must be a table"),
        ("[run]\nn = 3", r"no \[grid\]"),
        ("nonsense", "not TOML"),
        ("[grid]\nbeta = {from = 2.0, to = 1.0, count = 3}", "from < to"),
        ("[grid]\nbeta = [1.0, 1.0]", "distinct"),
        ('statistic = "no"\n[grid]\nbeta = [1.0]', "no statistic 'no'"),
        ("replicas = 0\n[grid]\nbeta = [1.0]", "replicas"),
        ("[run]\nbeta = 1.0\n[grid]\nbeta = [1.0]", "both fixed and an axis"),
    ],
)
def test_bad_designs_say_what_is_wrong(tmp_path, text, message):
    path = tmp_path / "spec.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        Design.from_toml(path)


def test_the_picture_has_a_panel_per_value_and_the_theory_on_top(tmp_path):
    grid = {"beta": [1.0, 2.0, 4.0], "seed": [0, 1]}
    design = Design(CHEAP | {"t1": 4.0, "frames": 5}, grid, "close")
    figure = picture(sweep(design, tmp_path))
    maps = [ax for ax in figure.axes if ax.get_title(loc="left")]
    assert [ax.get_title(loc="left") for ax in maps] == ["seed = 0", "seed = 1"]
    assert all(len(ax.lines) == 1 for ax in maps)


SPEC = """statistic = "mean_cosine"
replicas = 2
[run]
n = 4
t1 = 1.0
frames = 3
layers = 0.5
[grid]
d = [2, 3]
beta = {from = 0.0, to = 9.5, count = 20}
noise = [0.0, 0.0625, 0.125, 0.25, -1.0]
"""


def run_sweep(spec, out, *more, kill_after=None):
    """`pushforward sweep` in a process of its own, killed after some seconds."""
    command = [sys.executable, "-c", "from pushforward.cli import main; main()"]
    command += ["sweep", str(spec), "--out", str(out), "--json", *more]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    if kill_after is not None:
        deadline = time.monotonic() + 120
        cells = pathlib.Path(out) / "cells"
        before = len(list(cells.glob("*.json"))) if cells.exists() else 0
        while time.monotonic() < deadline and process.poll() is None:
            now = len(list(cells.glob("*.json"))) if cells.exists() else 0
            if now > before:  # it is computing: strike at a random moment
                time.sleep(kill_after)
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    out_text, _ = process.communicate(timeout=300)
    return process.returncode, out_text


@pytest.mark.parametrize("kills", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_a_sweep_of_200_cells_survives_kills(kills, tmp_path, monkeypatch):
    """40 of 200 cells are bad (a negative noise); the sweep is killed again and again.

    At the end each cell is done once or failed with its reason, and a second run
    computes nothing.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # compile once
    spec, out = tmp_path / "phase.toml", tmp_path / "out"
    spec.write_text(SPEC)
    strike = random.Random(0)
    for _ in range(int(os.environ.get("PUSHFORWARD_KILLS", kills))):
        code, _ = run_sweep(spec, out, kill_after=strike.uniform(0.0, 0.05))
        assert code in (-signal.SIGKILL, 4)  # killed, or done before the blow
    code, text = run_sweep(spec, out)
    summary = json.loads(text)
    assert code == 4  # some cells failed, and it says which
    assert summary["cells"] == 200 and summary["failed"] == 40
    assert {why for _, why in summary["failures"]} == {
        "InputError: `noise` and `layers` must not be negative, got -1.0 and 0.5."
    }
    assert len(list((out / "cells").glob("*.json"))) == 200
    code, text = run_sweep(spec, out)
    assert json.loads(text)["computed"] == 0
    whole = sweep(Design.from_toml(spec), tmp_path / "undisturbed")
    broken = sweep(Design.from_toml(spec), out)
    assert np.array_equal(whole.mean, broken.mean, equal_nan=True)
