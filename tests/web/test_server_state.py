"""States: any JSON becomes one that can run, and everything changed is reported."""

import json

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import pushforward
import pushforward as pf
from pushforward.errors import InputError
from pushforward.measures import components
from pushforward.web import _caps
from pushforward.web.computing._record import Labels
from pushforward.web.server._files import shipped
from pushforward.web.state._experiment import cluster_radius, experiment_of, link_of
from pushforward.web.state._fit import parse
from pushforward.web.state._presets import all_presets
from pushforward.web.state._state import State, from_json, packed, unpacked

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
words = st.sampled_from(
    ["sa", "usa", "causal", "hardmax", "layer", "rescaled", "recorded", "uniform"]
    + ["clustered", "equispaced", "orthonormal", "gaussian", "file", "minus"]
    + ["identity", "file:" + "a" * 32, "heun", "layers", "float32", "log", "random"]
)
keys = st.sampled_from([key for key in State().as_json() if key != "experiment"])
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
    assert len(json.dumps(notes)) < 20_000


@hypothesis.settings(max_examples=25, deadline=None)
@hypothesis.given(states)
def test_a_link_opens_as_the_same_experiment(given):
    state = parse(given)[0]
    reopened, notes = parse(unpacked(link_of(state)))
    assert (experiment_of(reopened), notes) == (experiment_of(state), [])


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
        ({"t1": 0}, "t1", 1e-6),
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
        ({"v": 3}, "v", 1),
        ({"seed": 2**40}, "seed", 2**32 - 1),
        ({"t1": 1e-5, "solver": "heun"}, "t1", 1e-4),
        ({"h": 20.0, "solver": "heun"}, "h", 10.0),
        ({"wheels": 4}, "wheels", None),
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


@pytest.mark.parametrize(
    "text", ["", "%%%", "eyJ", "bnVsbA", "WzFd", "é", "eNoAAA", "eNplzTEKwzAM"]
)
def test_a_torn_link_is_refused(text):
    with pytest.raises(InputError, match="link"):
        unpacked(text)


# As the page wrote them before links held experiments.
OLD_LINKS = {
    "eyJ2IjoxLCJtb2RlbCI6ImhhcmQiLCJuIjo4fQ": {"model": "hardmax", "n": 8},
    "eyJ2IjoxLCJtb2RlbCI6ImxheWVyIiwiaCI6MC41LCJmcmFtZXMiOjIxfQ": {
        "model": "sa",
        "solver": "layers",
        "h": 0.5,
        "frames": 21,
    },
    "eyJ2IjoxLCJuIjo0LCJkIjoyLCJtb3ZlZCI6W1sxLFswLjYsMC44XV1dLCJWIjoibWludXMifQ": {
        "n": 4,
        "d": 2,
        "moved": [[1, [0.6, 0.8]]],
        "V": "minus",
    },
}


@pytest.mark.parametrize("text", OLD_LINKS)
def test_old_links_open(text):
    state, notes = parse(unpacked(text))
    assert (state, notes) == parse(OLD_LINKS[text])
    assert notes == []


def test_links_keep_every_digit_of_moved_tokens():
    point = [0.1234567890123456, 0.2345678901234567, 0.3456789012345678]
    state = parse({"moved": [[5, point]]})[0]
    assert parse(unpacked(link_of(state)))[0].moved == ((5, tuple(point)),)


LINKED = {"t1": 2.0, "start": {"kind": "Uniform"}, "field": {"kind": "Attention"}}
LINKED["field"] = {"kind": "Attention", "beta": 4.0}


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"start": {"kind": "Uniform", "n": 10**9}}, "n"),
        ({"start": {"kind": "Clustered", "centers": 10**9}}, "start"),
        ({"t1": 1e9, "start": {"kind": "Clustered", "centers": 7}}, "t1"),
        ({"t0": 1.0, "start": {"kind": "UniformDensity", "resolution": 10**9}}, "t0"),
        ({"t0": 1.0, "save": 10**7}, "frames"),
        ({"t0": 1.0, "solver": {"kind": "Heun", "h": 1e-9}}, "t0"),
        ({"t0": 1.0, "start": {"kind": "FromFile", "path": "/etc/passwd"}}, "init"),
    ],
)
def test_what_the_page_cannot_show_of_an_experiment_is_said(change, key):
    state, notes = parse({"v": 2, "experiment": LINKED | change})
    assert {"experiment", key} <= {note["key"] for note in notes}
    assert state.experiment is None
    assert parse({"v": 2, "experiment": LINKED})[1] == []


Q = [[1.0, 0, 0], [0, 2.0, 0], [0, 0, 1]]
GIVEN = [
    {"field": {"kind": "Attention", "beta": 4.0, "Q": Q}},
    {"t0": 1.0},
    {"start": {"kind": "Clustered", "centers": 7}},
    {"merge": {"kind": "Merge", "radius": 1e-3}},
    {"field": {"kind": "PreNorm", "field": {"kind": "Attention", "beta": 4.0}}}
    | {"start": {"kind": "Uniform", "space": "euclidean"}},
    {"start": {"kind": "UniformDensity", "amplitude": 0.1}, "save": [0.5, 1.0]},
    {
        "start": {
            "kind": "GivenGaussian",
            "center": [0, 1],
            "covariance": [[1, 0], [0, 1]],
        }
    },
]


@pytest.mark.parametrize("change", GIVEN)
def test_an_experiment_without_controls_is_run_as_it_is(change):
    given = LINKED | change
    state, notes = parse({"experiment": given, "view": {}})
    assert notes == [] and state.model == "experiment"
    assert experiment_of(state) == pf.Experiment.from_dict(given)
    assert parse(unpacked(link_of(state))) == (state, [])
    assert parse(json.loads(json.dumps(state.as_json()))) == (state, [])


def test_controls_change_what_a_given_experiment_has_and_no_more():
    state = parse({"experiment": LINKED | {"t0": 1.0}})[0]
    changed, notes = parse({**state.as_json(), "beta": 7.0, "seed": 3, "frames": 9})
    experiment = experiment_of(changed)
    assert notes == [] and (float(experiment.field.beta), experiment.t0) == (7.0, 1.0)
    assert (experiment.seed, experiment.save, changed.frames) == (3, 9, 9)
    same, notes = parse({**state.as_json(), "heads": 3, "d": 5, "n": 10**6})
    assert {note["key"] for note in notes} == {"heads", "d", "n"}
    assert (same.heads, same.d, same.n) == (1, 3, _caps.MOST_TOKENS)
    plain, notes = parse({**state.as_json(), "model": "usa"})
    assert (plain.model, plain.experiment, notes) == ("usa", None, [])


@pytest.mark.parametrize("given", [{}, {"d": 2, "model": "usa", "noise": 0.3}])
def test_a_state_becomes_its_mean_field_density(given):
    state, notes = parse({**given, "measure": "density"})
    rho = experiment_of(state).measure
    assert isinstance(rho, pf.Density) and abs(float(rho.mass) - 1) < 1e-12
    tokens = experiment_of(parse(given)[0]).measure
    assert np.linalg.norm(rho.mean() - tokens.mean()) < 0.05
    with pytest.raises(InputError, match="density on the circle"):
        parse({"d": 8, "measure": "density"})


def test_controls_change_an_experiment_of_a_link():
    state, notes = parse({"experiment": LINKED, "beta": 7.0, "view": {}})
    assert (state.beta, state.t1, state.frames, notes) == (7.0, 2.0, 101, [])


@pytest.mark.parametrize(
    "tree",
    [3, {}, [], {**LINKED, "start": {"kind": "Density"}}, {**LINKED, "bta": 1}]
    + [{**LINKED, "t1": "soon"}, {**LINKED, "field": {"kind": ["Attention"]}}],
)
def test_experiments_that_are_none_are_refused(tree):
    with pytest.raises(InputError):
        parse({"experiment": tree})
    with pytest.raises(InputError):
        parse(unpacked(packed({"experiment": tree})))


def test_default_state_is_the_contract():
    assert State().differences() == {"v": 1}
    assert parse({})[0] == State()
    assert parse({"view": {"axis": "log"}, "preset": "x"}) == (State(), [])


def test_presets_run_as_they_are():
    found = all_presets()
    assert len({preset["id"] for preset in found}) == len(found)
    for preset in found:
        state, notes = parse(json.loads(json.dumps(preset["state"])), shipped)
        assert notes == [], (preset["id"], notes)
        assert len(link_of(state)) < 2000
        assert preset["title"] and preset["claim"] and preset["reference"]
    studies = {p["study"] for p in found if p["group"] == "figures"}
    assert {"clusters", "causal", "metastability", "perspective"} <= studies
    failures = {p["id"] for p in found if p["group"] == "failures"}
    assert {"overflow", "slow-clock", "frozen", "float32"} <= failures


def test_presets_are_kept_while_no_module_changes(tmp_path, monkeypatch):
    from pushforward.web.state import _presets

    made = _presets.kept_presets(tmp_path)
    assert made == json.loads(json.dumps(all_presets()))
    monkeypatch.setattr(_presets, "all_presets", lambda: [{"id": "anew"}])
    assert _presets.kept_presets(tmp_path) == made
    monkeypatch.setattr(pushforward, "__version__", "another")
    assert _presets.kept_presets(tmp_path) == [{"id": "anew"}]
    (tmp_path / "presets.json").write_bytes(b"{torn")
    assert _presets.kept_presets(tmp_path) == [{"id": "anew"}]


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


@pytest.mark.parametrize(("n", "d"), [(4096, 2), (4096, 3), (64, 2), (4, 3)])
def test_tokens_spread_at_random_are_never_one_cluster(n, d):
    mu = pf.Uniform(n, d)(0)
    sizes = np.bincount(
        components(mu.space, np.asarray(mu.points), cluster_radius(n, d))
    )
    assert len(sizes) > 0.4 * n and sizes.max() < max(2, 0.2 * n)


def test_few_tokens_are_counted_at_the_usual_radius():
    assert cluster_radius(64, 2) == cluster_radius(1024, 3) == 0.05
    assert cluster_radius(4096, 64) == 0.05
