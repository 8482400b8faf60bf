"""Sweeps: every cell once, nothing twice, failures with their reason."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray
from thinned import thinned

import pushforward as pf
from pushforward.errors import InputError, StoreError
from pushforward.experiments import ensemble, options
from pushforward.observables import ClosePairs, ClusterCount, LargestMass, mean_cosine
from pushforward.sweeps import Design, cost, picture, sweep

# Transformer layers compile fast; the first axis is not structural.
CHEAP = {"n": 4, "d": 2, "t1": 1.0, "frames": 3, "layers": 0.5}


@pytest.fixture(scope="module")
def cheap(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    design = Design(CHEAP, {"beta": [0.5, 2.0, 8.0], "seed": [0, 1]}, "mean_cosine")
    return folder, design, sweep(design, folder)


def test_a_cell_is_the_run_of_its_experiment():
    made = options(n=6, d=3, beta=4.0, t1=3.0, frames=4)
    systems = [made.vary(seed=r) for r in (0, 1)]
    times, values, arrived = ensemble(systems, [ClosePairs(0.9)] * 2)
    assert arrived.all() and times.tolist() == [0.0, 1.0, 2.0, 3.0]
    for row, system in zip(values, systems, strict=True):
        expected = [float(ClosePairs(0.9)(m)) for m in system.run()]
        assert np.allclose(row, expected)


def test_a_system_gives_the_same_bits_whatever_runs_beside_it():
    made = options(**CHEAP)
    systems = [
        made.vary(**{"field.beta": b, "seed": r})
        for b in (0.5, 3.0, 8.0)
        for r in (0, 1)
    ]
    together = ensemble(systems, [mean_cosine] * 6).values
    alone = [ensemble([one], [mean_cosine]).values for one in systems]
    assert np.array_equal(together, np.concatenate(alone))


def test_clusters_count_alike_inside_compiled_code():
    made = options(n=24, d=2, layers=0.5, t1=2.0, frames=3)
    systems = [made.vary(seed=r) for r in range(4)]
    for observe in (ClusterCount(0.2), LargestMass(0.2)):
        values = ensemble(systems, [observe] * 4).values
        for row, system in zip(values, systems, strict=True):
            assert np.allclose(row, [observe(m) for m in system.run()], atol=1e-14)


def test_any_number_of_an_experiment_is_an_axis(tmp_path):
    base = options(**CHEAP).vary(field=pf.Attention(1.0) + 0.5 * pf.Attention(2.0))
    axes = {"field.fields[1].c": [-1.0, 1.0], "start.n": [3, 4]}
    result = sweep(Design(base, axes, "mean_cosine", replicas=2), tmp_path)
    assert not result.failed and result.mean.shape == (2, 2, 3)
    alone = base.vary(**{"field.fields[1].c": -1.0, "start.n": 4, "seed": 1}).run()
    other = base.vary(**{"field.fields[1].c": -1.0, "start.n": 4}).run()
    both = [float(mean_cosine(run.final)) for run in (alone, other)]
    assert result.mean[0, 1, -1] == pytest.approx(np.mean(both), abs=1e-12)
    assert result.mean[1, 1, -1] > result.mean[0, 1, -1]  # repulsion against attraction


def test_one_axis_may_set_two_numbers(tmp_path):
    base = options(**CHEAP)
    axes = {"field.beta, observe.energy.beta": [1.0, 4.0]}
    result = sweep(Design(base, axes, "energy"), tmp_path)
    mu = base.measure
    found = [float(pf.InteractionEnergy(b)(mu)) for b in (1.0, 4.0)]
    assert result.mean[:, 0] == pytest.approx(found, abs=1e-13)


def spread(mu):
    """A statistic of one's own that only numpy can compute."""
    return float(np.asarray(mu.points).std())


def test_statistics_of_ones_own_run_on_the_host(tmp_path):
    design = Design(CHEAP, {"beta": [1.0, 4.0]}, spread, classes=(spread,))
    result = sweep(design, tmp_path)
    assert not result.failed
    run = options(rtol=1e-6, beta=4.0, **CHEAP).run()
    assert result.mean[1, -1] == pytest.approx(spread(run.final), abs=1e-12)


def test_merging_runs_can_be_swept(tmp_path):
    base = options(n=4, d=2, t1=50.0, frames=2, merge=True)
    axes = {"field.beta": [0.5, 1.0]}
    result = sweep(Design(base, axes, "clusters"), tmp_path)
    assert not result.failed and result.mean[:, -1].tolist() == [1.0, 1.0]


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
    from pushforward.sweeps._cells import Ledger

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


EXPERIMENT = """
[experiment]
t1 = 1.0
save = 2
start = {kind = "Uniform", n = 6, d = 3}
field = {kind = "Attention", beta = 4.0}
noise = {kind = "Brownian", sigma = 0.1}
solver = {kind = "Heun", h = 0.25}
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grid = 3", "must be a table"),
        ("[run]\nn = 3", r"no \[grid\]"),
        ("nonsense", "not TOML"),
        ("[grid]\nbeta = {from = 2.0, to = 1.0, count = 3}", "from < to"),
        ("[grid]\nbeta = [1.0, 1.0]", "distinct"),
        ('statistic = "no"\n[grid]\nbeta = [1.0]', "no statistic.*no 'no'"),
        ('statistic = "energi"\n[grid]\nbeta = [1.0]', "mean 'energy'"),
        ("[run]\nbta = 1.0\n[grid]\nn = [3]", "no 'bta'. Did you mean 'beta'"),
        ("[grd]\nbeta = [1.0]", "no 'grd'. Did you mean 'grid'"),
        (EXPERIMENT + '[grid]\n"field.bta" = [1.0]', "Did you mean 'beta'"),
        ("[picture]\nz = 1\n[grid]\nbeta = [1.0]", "a picture has no 'z'"),
        (
            '[picture]\ncurves = [{function = "stability.noize"}]\n'
            "[grid]\nbeta = [1.0]",
            "stability.noize",
        ),
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


def test_the_plane_of_temperature_and_noise_with_both_thresholds(tmp_path):
    path = tmp_path / "noise.toml"
    path.write_text(
        'statistic = "order_parameter"\n'
        + EXPERIMENT
        + """[grid]
"field.beta" = [1.0, 2.0, 4.0]
"noise.sigma" = [0.1, 0.5, 1.0]
[picture]
x = "noise.sigma"
y = "field.beta"
curves = [
  {function = "stability.critical_noise", label = "SA"},
  {function = "stability.critical_noise_unnormalized", label = "USA"},
]
"""
    )
    result = sweep(Design.from_toml(path), tmp_path / "out")
    assert not result.failed and result.mean.shape == (3, 3, 2)
    figure = picture(result)
    (ax,) = [ax for ax in figure.axes if ax.get_title(loc="left")]
    assert ax.get_title(loc="left") == "t = 1"
    sa, usa = ax.lines[:2]
    for line, theory in (
        (sa, pf.theory.stability.critical_noise),
        (usa, pf.theory.stability.critical_noise_unnormalized),
    ):
        x, y = line.get_data()
        assert x[-1] == pytest.approx(theory(float(y[-1]), 3), rel=1e-12)


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


@pytest.mark.parametrize("kills", thinned([1, 3, 10], 1))
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
