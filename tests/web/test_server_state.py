"""States: any JSON becomes one that can run, and everything changed is reported."""

import json

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from pushforward.errors import InputError
from pushforward.web import _caps
from pushforward.web._fit import parse
from pushforward.web._labels import Labels
from pushforward.web._presets import all_presets
from pushforward.web._record import plateaus
from pushforward.web._state import State, from_json, from_link

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
words = st.sampled_from(
    ["sa", "usa", "causal", "hard", "layer", "rescaled", "recorded", "uniform"]
    + ["clustered", "equispaced", "orthonormal", "gaussian", "file", "minus"]
    + ["identity", "file:" + "a" * 32, "heun", "layers", "float32", "log", "random"]
)
keys = st.sampled_from(list(State().as_json()))
numbers = st.floats(-10, 200) | st.integers(-5, 5000)
states = st.dictionaries(keys, anything | words | numbers, max_size=12)


@hypothesis.settings(max_examples=150, deadline=None)
@hypothesis.given(states)
def test_any_json_becomes_a_state_in_range(given):
    state, notes = parse(given)
    assert 1 <= state.n <= _caps.MOST_TOKENS and 2 <= state.d <= _caps.MOST_DIMENSIONS
    assert abs(state.beta) <= 1e4 and 0 < state.t1 <= 1e300
    assert state.n**2 * state.d <= _caps.MOST_WORK
    assert 8 * state.n * state.d * state.frames <= _caps.RUN_BYTES
    assert all(set(note) == {"key", "asked", "used", "why"} for note in notes)
    again, more = parse(json.loads(json.dumps(state.as_json())))
    assert (again, more) == (state, []), "a state in range is left alone"
    assert from_json(json.loads(json.dumps(state.as_json()))) == state
    assert parse(from_link(state.link()))[0] == state
    assert len(json.dumps(notes)) < 20_000


@pytest.mark.parametrize(
    ("given", "key", "used"),
    [
        ({"n": 1e9}, "n", 4096),
        ({"n": 10**400}, "n", 4096),
        ({"n": "many"}, "n", 64),
        ({"n": 2.5}, "n", 2),
        ({"d": 1}, "d", 2),
        ({"beta": float("nan")}, "beta", 9.0),
        ({"beta": 1e9}, "beta", 1e4),
        ({"beta": True}, "beta", 9.0),
        ({"t1": 1e30}, "t1", _caps.LONGEST_TIME),
        ({"t1": 0}, "t1", 1e-4),
        ({"n": 4096, "d": 512}, "n", 441),
        ({"init": "orthonormal", "n": 9, "d": 4}, "n", 4),
        ({"init": "equispaced", "d": 5}, "d", 2),
        ({"noise": 0.5}, "solver", "heun"),
        ({"merge": True, "noise": 0.5}, "merge", False),
        ({"merge": True, "model": "causal"}, "merge", False),
        ({"merge": True, "dtype": "float32"}, "merge", False),
        ({"model": "sas"}, "model", "sa"),
        ({"model": "recorded"}, "model", "sa"),
        ({"V": [1.0, 2.0]}, "V", None),
        ({"V": "file:../../etc"}, "V", None),
        ({"file": "../secret", "init": "file"}, "file", None),
        ({"moved": [[99, [1.0, 0, 0]]]}, "moved", ()),
        ({"moved": [[0, [0.0, 0, 0]]]}, "moved", None),
        ({"v": 2}, "v", 1),
    ],
)
def test_what_does_not_fit_is_changed_and_said(given, key, used):
    _, notes = parse(given)
    assert [note["used"] for note in notes if note["key"] == key] == [used]
    assert all(note["why"] for note in notes)


@pytest.mark.parametrize("given", [None, 3, "x", [], True])
def test_a_state_that_is_no_object_is_refused(given):
    with pytest.raises(InputError, match="state"):
        parse(given)


@pytest.mark.parametrize("text", ["", "%%%", "eyJ", "bnVsbA", "WzFd", "é"])
def test_a_torn_link_is_refused(text):
    with pytest.raises(InputError, match="link"):
        from_link(text)


def test_default_state_is_the_contract():
    assert State().differences() == {"v": 1}
    assert parse({})[0] == State()
    assert parse({"view": {"axis": "log"}, "preset": "x"}) == (State(), [])


def test_presets_run_as_they_are():
    found = all_presets()
    assert len({preset["id"] for preset in found}) == len(found)
    for preset in found:
        state, notes = parse(json.loads(json.dumps(preset["state"])))
        assert notes == [], (preset["id"], notes)
        assert len(state.link()) < 2000
        assert preset["title"] and preset["claim"] and preset["reference"]
    studies = {p["study"] for p in found if p["group"] == "figures"}
    assert {"clusters", "causal", "metastability", "perspective"} <= studies
    assert [p["story"] for p in found if p["group"] == "story"] == list(range(1, 9))
    failures = {p["id"] for p in found if p["group"] == "failures"}
    assert {"overflow", "slow-clock", "frozen", "float32"} <= failures


def test_a_cluster_keeps_the_label_of_its_heaviest_ancestor():
    labels = Labels()
    equal = np.full(6, 1 / 6)
    first = labels.follow(np.array([0, 0, 1, 1, 1, 2]), equal)
    assert first.tolist() == [1, 1, 0, 0, 0, 2], "the heaviest is 0"
    merged = labels.follow(np.array([0, 0, 0, 0, 0, 1]), equal)
    assert merged.tolist() == [0, 0, 0, 0, 0, 2]
    split = labels.follow(np.array([0, 0, 1, 1, 1, 2]), equal)
    assert split.tolist() == [3, 3, 0, 0, 0, 2], "the lighter part gets a new name"


def test_labels_weigh_by_mass_not_by_number():
    labels = Labels()
    weights = np.array([0.1, 0.1, 0.1, 0.7])
    assert labels.follow(np.array([0, 0, 0, 1]), weights).tolist() == [1, 1, 1, 0]
    assert labels.follow(np.zeros(4, int), weights).tolist() == [0, 0, 0, 0]


def test_plateaus_are_stretches_of_equal_counts():
    from pushforward.web._frames import Reading

    counts = [5, 5, 3, 3, 3, 3, 2, 1, 1, 1]
    rows = [Reading(float(k), 0.0, 0.0, c, 0.0, 0.0, 0.0) for k, c in enumerate(counts)]
    found = [(p["from"], p["to"], p["clusters"]) for p in plateaus(rows, 5)]
    assert found == [(2, 5, 3), (7, 9, 1)]
    assert [p["lifetime"] for p in plateaus(rows, 5)] == [3.0, 2.0]
