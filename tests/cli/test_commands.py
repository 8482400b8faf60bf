"""The command line as a person uses it: output, files, exit codes."""

import filecmp
import json
import pathlib
import sys

import numpy as np
import pytest
import xarray

import pushforward as pf
from pushforward.cli import main


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run `pushforward ...` in a fresh folder; returns (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def call(line: str):
        monkeypatch.setattr(sys, "argv", ["pushforward", *line.split()])
        with pytest.raises(SystemExit) as stop:
            main()
        printed = capsys.readouterr()
        return int(stop.value.code or 0), printed.out, printed.err

    return call


SMALL = "simulate --n 16 --d 3 --beta 4 --t1 2 --frames 5"


def files_of(folder: pathlib.Path) -> list[str]:
    found = folder.rglob("*")
    return sorted(str(p.relative_to(folder)) for p in found if p.is_file())


def test_simulate_twice_gives_bitwise_equal_runs(run):
    assert run(f"{SMALL} --out r1")[0] == 0
    assert run(f"{SMALL} --out r2")[0] == 0
    assert files_of(pathlib.Path("r1")) == files_of(pathlib.Path("r2"))
    assert not filecmp.cmpfiles("r1", "r2", files_of(pathlib.Path("r1")), False)[1]
    assert xarray.open_zarr("r1").points.shape == (5, 16, 3)


def test_simulate_again_into_the_same_run_is_the_same_run(run):
    run(f"{SMALL} --out r1")
    before = {
        f: pathlib.Path("r1", f).read_bytes() for f in files_of(pathlib.Path("r1"))
    }
    assert run(f"{SMALL} --out r1")[0] == 0
    after = {
        f: pathlib.Path("r1", f).read_bytes() for f in files_of(pathlib.Path("r1"))
    }
    assert before == after


def test_simulate_refuses_to_replace_another_run(run):
    run(f"{SMALL} --out r1")
    code, _, err = run(f"{SMALL} --seed 1 --out r1")
    assert code == 6
    assert "another run" in err


def test_the_summary_is_that_of_the_library(run):
    code, out, err = run(f"{SMALL} --out r1 --json")
    assert code == 0
    summary = json.loads(out)
    final = pf.load("r1").final
    assert summary["energy"] == pytest.approx(float(pf.InteractionEnergy(4.0)(final)))
    assert summary["clusters"] == pf.observables.Clusters(0.05)(final).count
    assert summary["off_sphere"] < 1e-15
    assert "time" in err and "energy" in err  # the live table is on stderr


def test_every_frame_is_measured_once(run, monkeypatch):
    """The live table, the summary and the picture show what the run observed."""
    measured = []
    energy, labels = pf.InteractionEnergy.__call__, pf.Particles.labels

    def counted(F, mu):
        measured.append("energy")
        return energy(F, mu)

    def partition(mu, radius):
        if radius > 1e-3:  # the outcome asks for coincident tokens
            measured.append(f"clusters at {radius}")
        return labels(mu, radius)

    monkeypatch.setattr(pf.InteractionEnergy, "__call__", counted)
    monkeypatch.setattr(pf.Particles, "labels", partition)
    code, _, err = run(f"{SMALL} --out r1 --json")
    assert code == 0
    assert len(err.splitlines()) >= 5
    # five frames, the first one also before anything is written; clusters count twice,
    # by their number and by the largest mass
    once = {"energy": 6, "clusters at 0.05": 12}
    assert {name: measured.count(name) for name in set(measured)} == once
    del measured[:]
    assert run("show r1 --picture r1.png")[0] == 0
    # the colors alone: the numbers are in the run
    assert measured == ["clusters at 0.05"]


def test_picture_and_film_are_written_and_named_last(run):
    code, out, _ = run(f"{SMALL} --picture a.png --movie a.gif")
    assert code == 0
    assert out.strip().splitlines()[-2:] == ["picture a.png", "movie   a.gif"]
    assert pathlib.Path("a.png").stat().st_size > 10_000
    assert pathlib.Path("a.gif").read_bytes()[:6] == b"GIF89a"


def test_dry_run_says_what_it_would_cost_and_writes_nothing(run):
    code, out, _ = run("simulate --n 5000 --d 3 --out r9 --dry-run --json")
    cost = json.loads(out)
    assert code == 0
    assert cost["pairs"] == 25_000_000
    assert cost["run_bytes"] == 8 * 5000 * 3 * 101
    assert not pathlib.Path("r9").exists()


def test_noise_is_compared_with_the_threshold_of_its_own_model(run):
    words = "simulate --beta 4 --noise 0.3 --dry-run"
    assert "0.3, below the critical 0.6126 of this model" in run(words)[1]
    assert "above the critical 0.2166" in run(f"{words} --model usa")[1]
    assert "critical" not in run(f"{words} --model causal")[1]


@pytest.mark.parametrize(
    "line, code, words",
    [
        ("simulate --n 0", 3, "`n` must be an integer of at least 1, got 0"),
        ("simulate --d 1", 3, "`d` must be an integer of at least 2, got 1"),
        ("simulate --beta nan", 3, "`beta` must be finite"),
        ("simulate --n 1000000000", 3, "GB are free"),
        ("simulate --t1 -1", 3, "`t1` must not be before `t0`"),
        ("simulate --tokens nowhere.npy", 3, "no file at nowhere.npy"),
        ("simulate --weights nowhere.safetensors", 3, "no file at"),
        ("simulate --noise -1", 3, "must not be negative, got -1.0"),
        ("simulate --heads 0", 3, "`heads` must be an integer of at least 1"),
        ("simulate --model magic", 3, "no 'magic'"),
        ("simulate --n many", 2, "--n"),
        ("show nowhere", 6, "nowhere is not a run"),
        ("study verify nothing", 3, "no study called 'nothing'"),
        ("cite Nothing", 3, "no public name 'Nothing'"),
        ("npmle nowhere.csv", 6, "nowhere.csv"),
    ],
)
def test_bad_input_has_an_exit_code_and_a_sentence(run, line, code, words):
    found, _, err = run(line)
    assert (found, words in err.replace("\n", " ")) == (code, True), err


def test_divergence_is_a_numerical_failure_with_the_fix(run):
    from safetensors.numpy import save_file

    save_file({"V": 1e300 * np.eye(3)}, "w.safetensors")
    line = "simulate --n 4 --model usa --weights w.safetensors --t1 1 --frames 3"
    code, out, err = run(line)
    assert code == 4
    assert "check the weights V" in err.replace("\n", " ")


@pytest.mark.parametrize("beta", [9.0, -2.0])
def test_usa_is_one_physics_on_the_command_line_in_sweeps_and_on_the_page(run, beta):
    """Scaled by e^{-|beta|} everywhere, so that the time of all three is one."""
    from pushforward.experiments import options
    from pushforward.web.state._experiment import experiment_of
    from pushforward.web.state._state import State

    line = f"simulate --n 4 --model usa --beta {beta} --t1 1 --frames 3 --out r"
    assert run(line)[0] == 0
    stored = pf.load("r")
    bounded = pf.UnnormalizedAttention(beta, log_scale=-abs(beta))
    assert _same(stored.field, bounded)
    page = experiment_of(State(model="usa", beta=beta, n=4))
    assert _same(page.field, bounded)
    assert _same(options(model="usa", beta=beta).field, bounded)


def _same(field, other):
    return repr(field) == repr(other) and field.log_scale == other.log_scale


@pytest.mark.parametrize("model", ["usa", "causal", "hardmax"])
def test_every_model_runs(run, model):
    code, out, _ = run(
        f"simulate --n 8 --beta 1 --t1 0.5 --frames 3 --model {model} --json"
    )
    assert code == 0
    assert json.loads(out)["n"] == 8


def test_tokens_and_weights_come_from_files(run):
    from safetensors.numpy import save_file

    rng = np.random.default_rng(0)
    x = rng.normal(size=(8, 4))
    np.save("x.npy", x / np.linalg.norm(x, axis=1, keepdims=True))
    weights = {"Q": np.eye(4), "K": np.eye(4), "V": rng.normal(size=(2, 4, 4))}
    save_file(weights, "w.safetensors")
    line = "simulate --tokens x.npy --weights w.safetensors --beta 2 --t1 1 --frames 3"
    code, out, _ = run(f"{line} --json --out r3")
    assert code == 0
    field = pf.load("r3").field
    assert isinstance(field, pf.Heads)
    np.testing.assert_allclose(field.heads[1].V, weights["V"][1])
    code, _, err = run("simulate --tokens x.npy --weights x.npy --t1 1")
    assert code == 3
    assert "not a file of weights" in err


def test_noise_and_layers_are_reproducible(run):
    for options in ("--noise 0.1", "--layers 0.1"):
        first = json.loads(run(f"{SMALL} {options} --json")[1])
        again = json.loads(run(f"{SMALL} {options} --json")[1])
        first.pop("seconds"), again.pop("seconds")
        assert first == again


def test_show_describes_a_run(run):
    run(f"{SMALL} --out r1")
    code, out, _ = run("show r1 --json")
    shown = json.loads(out)
    assert code == 0
    assert shown["field"] == "Attention(beta=4.0)"
    assert shown["frames"] == 5
    assert shown["first_and_last"]["energy"][1] > shown["first_and_last"]["energy"][0]


def test_doctor_knows_this_machine(run):
    code, out, _ = run("doctor --json")
    checks = {check["what"]: check for check in json.loads(out)}
    assert code == 0
    assert checks["float64"]["ok"]
    assert all(check["fix"] for check in checks.values() if not check["ok"])


def test_cite_prints_the_papers(run):
    assert "2312.10794" in run("cite Attention")[1]
    assert run("cite")[1].count("@") > 5


def test_statistics_on_files(run):
    from pushforward.statistics.galaxies import galaxy_velocities

    np.savetxt("v.csv", galaxy_velocities() / 1000, header="v", comments="")
    code, out, _ = run("npmle v.csv --json")
    fit = json.loads(out)
    assert code == 0
    assert fit["loss"] == pytest.approx(2.431004409472182, abs=1e-9)
    assert fit["gap"] < 1e-9
    np.save("a.npy", np.random.default_rng(0).normal(size=(50, 4)))
    code, out, _ = run("gulp a.npy a.npy --json")
    assert np.max(json.loads(out)["distances"]) < 1e-7
