"""Any experiment: its texts are itself, and the run of a copy is its run, bitwise."""

import inspect
import json
import os
import pathlib
import subprocess
import sys

import own_parts as own
import pytest
import random_experiments as random

import pushforward as pf
from pushforward.io import to_json

HERE = pathlib.Path(__file__).parent
SOME, MANY = range(24), range(1000, 1600)
RUNS, MANY_RUNS = (3, 11, 13), range(2000, 2120)

# Public classes that are no part of an experiment, and why.
NO_PART = {
    "Experiment": "the whole",
    "Trajectory": "what comes out",
    "Outcome": "what comes out",
    "Particles": "made by a start",
    "Density": "made by a start",
    "Gaussian": "made by a start",
    "TangentBundle": "the space of tokens with velocities, made by a start",
    "Harmonics": "the basis of a density, as is Fourier",
    "Zonal": "the basis of a density, as is Fourier",
    "NormalizingFlow": "trained, and run by itself",
    "StandardNormal": "a law of normalizing flows",
    "UnitCube": "a law of normalizing flows",
    "FusedGPU": "refused where there is no GPU",
    "HalfGPU": "refused where there is no GPU",
}

DRIVER = """
import contextlib, io, json, pathlib, sys
import random_experiments as random
found = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.py")):
    made = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(path.read_text().split("trajectory =")[0], made)
        found[path.stem] = random.digest(made["experiment"])
print(json.dumps(found))
"""


def check_texts(e):
    text = e.to_toml()
    copy = pf.Experiment.from_toml(text, classes=own.CLASSES)
    assert copy == e and copy.to_toml() == text
    data = json.dumps(e.to_dict())
    copy = pf.Experiment.from_dict(json.loads(data), classes=own.CLASSES)
    assert copy == e and json.dumps(copy.to_dict()) == data
    script, made = e.to_python(), {}
    exec(script.split("trajectory =")[0], made)
    assert made["experiment"] == e and made["experiment"].to_python() == script


def check_runs(seeds, folder):
    """A copy from TOML in this process, one from Python text in another."""
    before = {}
    for seed in seeds:
        e = random.experiment(seed, folder)
        before[str(seed)] = random.digest(e)
        copy = pf.Experiment.from_toml(e.to_toml(), classes=own.CLASSES)
        assert random.digest(copy) == before[str(seed)], seed
        (folder / f"{seed}.py").write_text(e.to_python())
    after = subprocess.run(
        [sys.executable, "-c", DRIVER, str(folder)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert after.returncode == 0, after.stderr
    assert json.loads(after.stdout) == before
    refused = [text for text in before.values() if "Error:" in text]
    assert len(refused) <= len(before) / 10, refused


def environment():
    paths = [str(HERE), str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def kinds(value):
    """The names of all classes that stand in what `to_json` wrote."""
    if isinstance(value, dict):
        own_name = {value[k] for k in ("type", "class", "observable") if k in value}
        return own_name.union(*map(kinds, value.values()))
    return set().union(*map(kinds, value)) if isinstance(value, list) else set()


def test_texts_are_the_experiment(tmp_path):
    for seed in SOME:
        check_texts(random.experiment(seed, tmp_path))


def test_runs_of_copies_are_the_runs(tmp_path):
    check_runs(RUNS, tmp_path)


@pytest.mark.slow
def test_texts_of_many(tmp_path):
    for seed in MANY:
        check_texts(random.experiment(seed, tmp_path))


@pytest.mark.slow
def test_runs_of_many(tmp_path):
    check_runs(MANY_RUNS, tmp_path)


def test_no_exported_class_is_left_out(tmp_path):
    seen = set().union(*(kinds(to_json(part)) for part in random.parts(tmp_path)))
    public = {n for n in pf.public_names() if inspect.isclass(getattr(pf, n))}
    assert public - seen == set(NO_PART)
    assert {c.__name__ for c in own.CLASSES if inspect.isclass(c)} <= {
        name.partition(":")[2] for name in seen
    }
