"""Hostile values for every public call: an answer without NaN, or one of our errors."""

import contextlib
import faulthandler
import io
import sys
import warnings

import numpy as np
import pytest
import shape_checks

import pushforward as pf
from pushforward.errors import PushforwardError

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from hostile import has_nan, hostile
from targets import TARGETS


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # `flow(store="a")` is a good call


GROUPS = 8  # shares of the names, so that workers divide them


def attempt(call, arguments) -> str | None:
    """None if all is well, else what went wrong."""
    faulthandler.dump_traceback_later(120, exit=True)  # a call that never returns
    try:
        # one of the hostile values is `print`
        silence = contextlib.redirect_stdout(io.StringIO())
        unchecked = shape_checks.suspended(np.errstate(all="ignore"))
        with silence, warnings.catch_warnings(), unchecked:
            warnings.simplefilter("ignore")
            answer = call(**arguments)
            if not callable(answer) and has_nan(answer):
                return "a silent NaN"
    except PushforwardError as error:
        text = str(error)
        if len(text) < 20:
            return f"an error that explains nothing: {text!r}"
        return None
    except (MemoryError, RecursionError, Exception) as error:
        return f"{type(error).__name__}: {str(error)[:150]}"
    finally:
        faulthandler.cancel_dump_traceback_later()
    return None


def shown(arguments) -> str:
    return ", ".join(f"{k}={repr(v)[:40]}" for k, v in arguments.items())


def fuzz(names, count: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    wrong: dict[str, str] = {}
    for k in range(count):
        name = names[k % len(names)]
        call, good = TARGETS[name]
        arguments = dict(good)
        changed = rng.permutation(list(good))[: 1 + (rng.random() < 0.2)]
        for parameter in changed:
            arguments[str(parameter)] = hostile(rng)
        found = attempt(call, arguments)
        # a function that the user hands over may raise what it likes
        own = any(callable(arguments[str(p)]) for p in changed)
        if found is not None and not own:
            told = {p: arguments[p] for p in map(str, changed)}
            wrong.setdefault(f"{name}: {found[:60]}", f"{name}({shown(told)}): {found}")
    return list(wrong.values())


def test_the_good_arguments_are_good():
    """A fuzz whose other arguments are refused tests nothing."""
    with shape_checks.suspended():
        failed = {n: attempt_good(*TARGETS[n]) for n in TARGETS}
    bad = {name: why for name, why in failed.items() if why}
    files = {"from_file", "load", "read_table", "read_representation", "FromFile"}
    files |= {"WeightsFromFile", "Experiment.of_run"}
    assert set(bad) == files, bad


def attempt_good(call, arguments):
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            call(**arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("group", range(GROUPS))
def test_four_thousand_hostile_calls(group):
    names = sorted(TARGETS)[group::GROUPS]
    wrong = fuzz(names, 500, seed=group)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_two_hundred_thousand_hostile_calls(seed):
    wrong = fuzz(sorted(TARGETS), 10_000, seed=1000 + seed)
    assert not wrong, "\n".join(wrong)


def test_every_public_class_and_function_is_fuzzed():
    results = {
        "Outcome",
        "Trajectory",
        "OnlyObservables",
        "LogTimes",
        "FusedGPU",
        "HalfGPU",
        "Ring",
    }
    bare = {
        "Circle",
        "Entropy",
        "FisherRao",
        "Wasserstein",
        "StandardNormal",
        "UnitCube",
    }
    assert set(pf.public_names()) - set(TARGETS) == results | bare
