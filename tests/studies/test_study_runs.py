"""Runs of the studies: named experiments, said once, that anybody can take away."""

import json

import pytest
from typer.testing import CliRunner

import pushforward as pf
from pushforward import studies
from pushforward.cli._main import app
from pushforward.errors import InputError
from pushforward.studies import _runner, within
from pushforward.studies.homogenized.runs import Modified
from pushforward.studies.momentum.runs import met

OWN = [Modified, pf.functionals.exact_gelu, met]
WITH_RUNS = (
    "causal clusters empirical_bayes frank_wolfe gaussian_tokens homogenized landscape "
    "lost_in_the_middle mean_field metastability momentum negative_beta "
    "noise_transition normalization perspective sinkhorn_attention"
).split()


def said(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception:
        raise done.exception
    return done.stdout


def test_every_study_has_runs_or_says_why_not():
    for name in set(studies.names()) - set(WITH_RUNS):
        assert studies.part(name, "study").NO_RUNS.startswith("No runs: ")
        assert studies.experiments(name) == {}
    assert "Riccati" in said("study", "runs", "turnpike")


@pytest.mark.parametrize("name", WITH_RUNS)
def test_runs_are_experiments_and_figures_and_claims_name_them(name):
    found = studies.experiments(name)
    for experiment in found.values():
        text = experiment.to_toml()
        assert pf.Experiment.from_toml(text, classes=OWN).to_toml() == text
        assert "pf.Experiment(" in experiment.to_python()
    figures = set(studies.part(name, "figures").FIGURES)
    claims = {claim.__name__ for claim in studies.part(name, "claims").CLAIMS}
    shown = studies.part(name, "runs").SHOWN
    named = [name for seen in shown.values() for name in seen]
    assert set(named) <= figures | claims and set(shown) <= set(found)
    assert len(named) == len(set(named))


def test_a_claim_carries_the_name_of_its_experiment():
    def caps_collapse(parameters):
        return within("metastability", "c", "r", "theorem", 1.0, 1.0, 0.0)

    claim = _runner._run("metastability", caps_collapse, None)
    assert claim.experiment == claim.as_dict()["experiment"] == "caps"


def test_commands_list_print_and_take_them():
    mine = studies.experiments("metastability")["escape-8"]
    assert "escape-8 " in said("study", "runs", "metastability")
    words = ["study", "runs", "metastability", "escape-8"]
    assert said(*words, "--toml") == said(*words) == mine.to_toml()
    assert said(*words, "--python") == mine.to_python()
    assert pf.Experiment.from_dict(json.loads(said(*words, "--json"))) == mine
    assert said("simulate", "metastability/escape-8", "--toml") == mine.to_toml()
    with pytest.raises(InputError, match="no 'escpe-8'. Did you mean 'escape-8'"):
        said("study", "runs", "metastability", "escpe-8")
    with pytest.raises(InputError, match="no study called 'metastabilty'"):
        said("study", "runs", "metastabilty")
