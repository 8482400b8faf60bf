"""Hostile values for every option of every command: exit codes, never a traceback."""

import sys
import warnings

import numpy as np
import pytest
import typer.main
from typer.testing import CliRunner

from pushforward.cli._main import app
from pushforward.errors import PushforwardError

sys.path.insert(0, __file__.rsplit("/", 1)[0])
WORDS = [
    *[
        "nan",
        "inf",
        "-inf",
        "-1",
        "0",
        "1e308",
        "-1e308",
        "",
        " ",
        "a",
        "é",
        "../..",
        "/",
    ],
    *["999999999999999999999999", "1.5", "--", "-", "None", "[]", "{}", "0x10", "%s"],
    *["/dev/null/x", "nowhere.npy", "a.csv", "x" * 300, "1e-320", "true", "\n", "*"],
]
# Options that make a command cheap, so that what is fuzzed is the reading of values.
CHEAP = {
    "simulate": ["--dry-run"],
    "show": ["nowhere"],
    "sweep": ["nowhere.toml"],
    "npmle": ["nowhere.csv"],
    "gulp": ["nowhere.npy", "nowhere.npy"],
    "match": ["nowhere.csv", "nowhere.csv"],
    "cite": [],
}


def options():
    """(command, option) for every option of the cheap commands."""
    group = typer.main.get_command(app)
    return [
        (name, max(parameter.opts, key=len), getattr(parameter, "is_flag", False))
        for name in CHEAP
        for parameter in group.commands[name].params
        if parameter.opts[0].startswith("-") and "--help" not in parameter.opts
    ]


def fuzz(count: int, seed: int) -> list[str]:
    rng, runner, wrong = np.random.default_rng(seed), CliRunner(), []
    known = options()
    for k in range(count):
        command, option, flag = known[k % len(known)]
        word = WORDS[rng.integers(len(WORDS))]
        line = [command, *CHEAP[command], option, *([] if flag else [word])]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            done = runner.invoke(app, line)
        ours = isinstance(done.exception, PushforwardError | SystemExit | OSError)
        if done.exception is not None and not ours:
            wrong.append(f"{line}: {type(done.exception).__name__}: {done.exception}")
    return wrong


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_thousand_hostile_options():
    assert fuzz(1000, seed=0) == []


@pytest.mark.slow
def test_twenty_thousand_hostile_options():
    assert fuzz(20_000, seed=1) == []


def test_every_command_is_fuzzed_or_takes_no_values():
    group = typer.main.get_command(app)
    assert set(group.commands) - set(CHEAP) <= {
        "doctor",
        "study",
        "explore",
        "export",
        "site",
        "probe",
        "models",
    }
