"""`pushforward simulate` runs any experiment, from options, a file or a run."""

import json
import pathlib
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import pushforward as pf
from pushforward.cli._main import app

SPEC = pathlib.Path(__file__).parents[2] / "examples" / "spec.toml"
SMALL = ["--set", "t1=0.5", "--set", "save=3", "--set", "start.n=6"]


def called(*arguments):
    return CliRunner().invoke(app, ["simulate", *map(str, arguments)])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spec") / "run"
    done = called(SPEC, *SMALL, "--out", folder, "--json")
    assert done.exit_code == 0, done.output
    return folder, json.loads(done.stdout.strip().splitlines()[-1])


def test_a_file_is_run_with_its_changes(run):
    folder, summary = run
    assert summary["n"] == 6 and summary["t"] == 0.5 and "rank" in summary
    experiment = pf.Experiment.from_toml(SPEC.read_text())
    small = experiment.vary(**{"t1": 0.5, "save": 3, "start.n": 6})
    assert pf.Experiment.of_run(folder) == small
    assert np.array_equal(pf.load(folder).points, small.run().points)


def test_a_run_is_an_experiment_to_go_on_from(run):
    folder, _ = run
    text = called(folder, "--set", "noise.sigma=0.25", "--toml").stdout
    again = pf.Experiment.from_toml(text)
    assert float(again.noise.sigma) == 0.25 and again.start.n == 6


def test_options_are_printed_as_toml_and_python():
    options = ["--n", 5, "--beta", 2.5, "--start", "clustered", "--merge"]
    options += ["--observe", "effective_rank", "--observe", "ClusterCount(radius=0.3)"]
    made = pf.Experiment.from_toml(called(*options, "--toml").stdout)
    assert isinstance(made.start, pf.Clustered) and made.merge is not None
    assert made.observe["ClusterCount"].radius == 0.3
    assert "effective_rank" in made.observe
    script: dict = {}
    text = called(*options, "--python").stdout
    exec(text.split("trajectory =")[0], script)
    assert script["experiment"] == made


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([SPEC, "--beta", "3"], "SPEC describes the experiment, and `--beta`"),
        ([SPEC, "--set", "field.bta=3"], "PreNorm has no 'bta'"),
        ([SPEC, "--set", "nonsense"], "must be NAME=VALUE"),
        (["--model", "cusal"], "Did you mean 'causal'"),
        (["--start", "unifrm"], "Did you mean 'uniform'"),
        (["no-such.toml"], "cannot read no-such.toml"),
        ([SPEC, "--classes", "os"], "must be module:Name"),
        (["--observe", "mean_cosin"], "Did you mean 'mean_cosine'"),
    ],
)
def test_what_is_wrong_is_named_before_anything_is_written(arguments, words, tmp_path):
    out = tmp_path / "run"
    done = called(*arguments, "--out", out)
    assert done.exit_code != 0 and not out.exists()
    assert isinstance(done.exception, pf.errors.InputError)
    assert words in str(done.exception)


def test_a_sweep_takes_classes_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "my_fields.py").write_text(
        "import jax\nimport pushforward as pf\n"
        "class Pull(pf.fields.AbstractField):\n"
        "    strength: jax.Array\n"
        "    def drive(self, t, mu):\n"
        "        return pf.fields.Drive(self.strength * mu.points)\n"
    )
    design = tmp_path / "design.toml"
    design.write_text(
        'statistic = "mean_cosine"\n[grid]\n"t1" = [1.0, 2.0]\n[experiment]\nt1 = 1.0\n'
        '[experiment.start]\nkind = "Uniform"\nn = 4\n'
        '[experiment.field]\nkind = "my_fields:Pull"\nstrength = [1.0]\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    words = ["sweep", str(design), "--dry-run", "--json"]
    done = CliRunner().invoke(app, [*words, "--classes", "my_fields:Pull"])
    assert done.exit_code == 0 and json.loads(done.stdout)["cells"] == 2
    refused = CliRunner().invoke(app, words)
    assert "--classes" in str(refused.exception)


def test_the_help_knows_every_model_and_every_start():
    from pushforward.cli import _simulate
    from pushforward.experiments import MODELS, STARTS

    words = set(re.findall(r"\w+", _simulate.MODEL + _simulate.START))
    assert {*MODELS, *STARTS} <= words
