"""A state is an experiment: declared controls, copied programs, opened texts."""

import functools
import json
import pathlib

import numpy as np
import preview_cases
import pytest

import pushforward as pf
from pushforward.errors import InputError
from pushforward.experiments import CONTROLS, MODELS, STARTS, options
from pushforward.web._attention import matrix, picture
from pushforward.web._site import recorded_state
from pushforward.web.computing._frames import numbers_of
from pushforward.web.computing._record import Recorder
from pushforward.web.computing._runs import Run
from pushforward.web.state._experiment import experiment_of, run_of, texts_of
from pushforward.web.state._fit import of_experiment, parse
from pushforward.web.state._state import packed, unpacked
from pushforward.web.state._words import accepted

PAGE = pathlib.Path(__file__).parents[2] / "web" / "page" / "src" / "declared.json"


def test_the_page_has_what_python_declares():
    from pushforward.web.state import _declared

    found = PAGE.read_text(encoding="utf-8")
    assert found == _declared.text(), (
        "write it again: "
        "python -m pushforward.web.state._declared web/page/src/declared.json"
    )


def test_controls_say_everything_of_themselves():
    for key, control in CONTROLS.items():
        assert control.key == key and control.label and control.help.endswith(".")
        assert control.brought(control.default) == (control.default, "")
        assert bool(control.choices) == (control.kind in ("choice", "flag"))
    names = {choice.value for choice in CONTROLS["model"].choices}
    assert names == {*MODELS, "recorded", "experiment"}
    assert {c.value for c in CONTROLS["init"].choices} == {*STARTS, "file"}


def test_every_dotted_name_of_a_control_is_in_the_experiment():
    given = {"noise": 0.1, "solver": "heun", "heads": 2, "merge": False}
    experiment = experiment_of(parse(given)[0])
    for control in CONTROLS.values():
        name = control.name
        if name == "field.beta":
            name = "field.field.beta"  # of the heads
        experiment.read(name)


NOT_DRAWN = ("recorded", "experiment", "file", True)


def drawn_state(k: int) -> dict:
    """A small state with every control somewhere in its range."""
    rng = np.random.default_rng(k)
    given = {}
    for key, control in CONTROLS.items():
        if control.choices:
            values = [c.value for c in control.choices]
            values = [v for v in values if v not in NOT_DRAWN]
            given[key] = values[rng.integers(len(values))]
    given |= {"n": 5, "d": int(rng.integers(2, 4)), "t1": float(rng.uniform(0.2, 1))}
    given |= {"beta": float(rng.normal(0, 5)), "seed": int(rng.integers(2**32))}
    given |= {"h": 0.05, "frames": 3, "heads": int(rng.integers(1, 3))}
    if rng.random() < 0.3:
        given["noise"] = float(rng.uniform(0.1, 1))
    given["V"] = [None, "minus", rng.normal(size=given["d"]).tolist()][rng.integers(3)]
    given["moved"] = [[1, rng.normal(size=given["d"]).tolist()]]
    return given


SLOW = [pytest.param(k, marks=pytest.mark.slow) for k in range(2, 22)]


@pytest.mark.parametrize("k", [0, 1, *SLOW])
def test_copied_python_gives_the_last_numbers_of_the_page(k, tmp_path, capsys):
    state = parse(drawn_state(k))[0]
    shown = run_of(state, tmp_path, None)
    names: dict = {}
    exec(compile(texts_of(state)["python"], "copied", "exec"), names)
    copied = names["trajectory"]
    last, mine = np.asarray(shown.final.points)[: state.n], copied.final.points
    scale = 1e-5 if state.dtype == "float32" else 1e-10
    assert np.abs(last - mine).max() <= scale * max(1.0, np.abs(last).max())
    said = capsys.readouterr().out.splitlines()
    for name, values in copied.observed.items():
        assert f"{name} {values[-1]!s}" in said
    assert names["experiment"] == experiment_of(state)


def test_the_nearest_state_of_a_given_start_moves_every_token():
    points = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]])
    given = pf.Experiment(pf.Given(pf.Circle(), points), pf.Attention(3.0), 1.0)
    state, notes = of_experiment(given)
    assert notes == [] and (state.n, state.d) == (3, 2)
    assert np.allclose(experiment_of(state).measure.points, points, atol=1e-15)


def test_an_experiment_is_opened_live_or_as_recorded(server, tmp_path):
    plain = options(n=6, d=2, t1=1.0, frames=4, start="clustered", model="usa")
    link, words = server.show(tmp_path / "plain.toml", plain)
    assert words == [] and experiment_of(parse(unpacked(link))[0]) == plain
    field = pf.Sum([pf.Attention(4.0), pf.Attention(1.0, V=-np.eye(2))])
    rich = plain.vary(field=field)
    link, words = server.show(tmp_path / "rich.toml", rich)
    state = parse(unpacked(link))[0]
    assert words == [] and experiment_of(state) == rich
    rich.run(store=tmp_path / "run")
    link, words = server.show(tmp_path / "run", rich)
    state = parse(unpacked(link), server.explorer.files.about)[0]
    assert words and "instead of run again" in words[0]
    assert (state.model, state.n, state.d, state.frames) == ("recorded", 6, 2, 4)
    still = rich.vary(until=until_never)
    link, words = server.show(tmp_path / "own.toml", still)
    assert any("until" in line for line in words)
    assert parse(unpacked(link), server.explorer.files.about)[0].model == "recorded"


def until_never(mu):
    """A function of the user's own, which no link carries."""
    return mu.points[0, 0] > 2


def test_tokens_of_a_specification_are_kept_by_the_server(server, tmp_path):
    x = np.random.default_rng(0).normal(size=(5, 3))
    np.save(tmp_path / "mine.npy", x)
    given = pf.Experiment(pf.FromFile(tmp_path / "mine.npy"), pf.Attention(2.0), 1.0)
    link, words = server.show(tmp_path / "spec.toml", given)
    state, notes = parse(unpacked(link), server.explorer.files.about)
    assert (words, notes, state.init, state.n) == ([], [], "file", 5)
    found = experiment_of(state, server.explorer.files.root).measure.points
    assert np.allclose(found, x / np.linalg.norm(x, axis=1, keepdims=True))


def test_links_are_plain_data_compressed():
    held = {"v": 2, "experiment": experiment_of(parse({})[0]).to_dict()}
    assert unpacked(packed(held)) == json.loads(json.dumps(held))
    assert len(packed(held)) < 300


TWO = [[0.6, 0.8], [-0.8, 0.6], [0.0, 1.0]]
ATTENTION = pf.Attention(2.0)
INWARD = pf.Attention(1.0, V=-np.eye(2))  # with V = 1 a Gaussian blows up
DRAWN = {
    "velocities": (
        pf.AtRest(pf.Given(pf.Circle(), TWO)),
        pf.Momentum(ATTENTION),
        pf.MomentumLayers(0.1),
    ),
    "radius": (pf.Given(pf.Euclidean(2), TWO), pf.PreNorm(ATTENTION), None),
    "line": (pf.Normal(3, 1, "euclidean", [0.0]), pf.DistanceAttention(2.0), None),
    "gaussian": (pf.GivenGaussian([1.0, 0.0], np.eye(2)), INWARD, pf.Heun(0.1)),
    "density": (pf.UniformDensity(2, 8, 1, 0.2), ATTENTION, pf.Heun(0.5)),
}


@pytest.mark.parametrize("name", list(DRAWN))
def test_what_is_drawn_of_a_run_without_controls(name, tmp_path):
    start, field, solver = DRAWN[name]
    given = pf.Experiment(start, field, 2.0, save=3, solver=solver)
    state, notes = parse({"experiment": given.to_dict()})
    about, frames = recorded_state(state)
    accepted, done = about["accepted"], about["done"]
    assert notes == [] and json.dumps(about) and frames
    assert (done["frames"], accepted["n"]) == (3, state.n)
    flat = name in ("radius", "line", "gaussian")
    assert accepted["space"] == ("euclidean" if flat else "circle")
    assert accepted["density"] is (name == "density")
    run = Run(state.digest(), state)
    run.done = done
    trajectory = given.run()
    recorder = Recorder(state.n, state.beta, 0.05, lambda *sent: keep(run, *sent))
    recorder.replay(trajectory, 3)
    recorder.flush(last=True)
    final = trajectory.final
    counted = not np.isnan(numbers_of(run.frames[-1]).clusters)
    assert counted is (name not in ("gaussian", "density")), "of tokens alone"
    if name == "density":
        masses = np.frombuffer(run.frames[-1][-4 * state.n :], "<f4")
        assert np.allclose(masses, final.values, atol=1e-6)
        with pytest.raises(InputError, match="no attention matrix"):
            matrix(run, 0, 0, tmp_path)
        return
    points = run.tokens(-1)
    if name == "gaussian":
        assert np.allclose(points.mean(axis=0), final.center, atol=1e-9)
        assert np.allclose(np.cov(points.T, bias=True), final.covariance, atol=1e-9)
    else:
        assert np.allclose(points, np.asarray(final.points)[:, : state.d], atol=1e-12)
    A = matrix(run, 2, 0, tmp_path)
    assert A.shape == (state.n,) * 2 and np.allclose(A.sum(axis=1), 1)
    if name == "radius":  # the norm reads directions
        x = points / np.linalg.norm(points, axis=1, keepdims=True)
        weights = np.exp(2.0 * x @ x.T)
        assert np.allclose(A, weights / weights.sum(axis=1, keepdims=True))
    assert picture(run, 1, 0, "angle", tmp_path)["n"] == state.n


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"heads": 3},
        {"model": "rescaled", "d": 2},
        {"model": "hardmax", "perceptron": 1.0, "norm": "unit"},
        {"n": 8, "d": 2, "measure": "density"},
        {"experiment": {"field": {"kind": "Linear", "W": [[0.0, 1.0], [-1.0, 0.0]]}}},
    ],
)
def test_a_page_is_told_how_many_matrices_a_frame_has(asked, tmp_path):
    """The last one is there, and one more is refused: so it asks for none in vain."""
    if "experiment" in asked:
        start = {"kind": "Uniform", "n": 4, "d": 2}
        asked["experiment"] |= {"start": start, "t1": 0.2, "save": 3}
    state = parse({"n": 5, "t1": 0.2, "frames": 3, **asked})[0]
    count = accepted(state, None)["heads"]
    run = Run("a" * 32, state)
    trajectory = run_of(state, tmp_path, None)
    recorder = Recorder(state.n, 1.0, 0.05, functools.partial(keep, run))
    recorder.replay(trajectory, 3)
    recorder.flush(last=True)
    run.done = {"n": state.n, "d": state.d, **recorder.summary(trajectory)}
    if count:
        A = matrix(run, 1, count - 1, tmp_path)
        assert A.shape == (state.n, state.n) and np.allclose(A.sum(axis=1), 1)
    with pytest.raises(InputError, match="matrix|head"):
        matrix(run, 1, count, tmp_path)


def test_the_page_knows_which_norms_it_can_preview():
    """Those with a radius around plain attention; with V or noise the server alone."""
    start = pf.Orthonormal(3, 3, "euclidean")

    def known(field, **more):
        experiment = pf.Experiment(start, field, 1.0, save=5, **more)
        return accepted(of_experiment(experiment)[0], None)["known"]

    assert known(pf.PreNorm(pf.Attention(2.0))) == {"model": "sa", "norm": "pre"}
    causal = pf.MixNorm(pf.CausalAttention(2.0), 0.5)
    assert known(causal) == {"model": "causal", "norm": "mix", "change": 0.5}
    assert known(pf.PeriNorm(pf.Attention(2.0, V=-np.eye(3)))) is None
    assert known(pf.PeriNorm(pf.UnnormalizedAttention(2.0))) is None, "another clock"
    assert known(pf.PreNorm(pf.SinkhornAttention(2.0))) is None
    assert known(pf.PreNorm(pf.Attention(2.0)), noise=pf.Brownian(0.1)) is None


def test_a_recorded_run_of_the_plane_is_not_drawn_on_a_circle(server):
    mu = pf.Particles(pf.Euclidean(2), np.array([[3.0, 0.0], [0.0, 1.0]]))
    run = pf.flow(pf.PreNorm(pf.Attention(1.0)), mu, 1.0, save=3)
    files = server.explorer.files
    kept = files.recorded(run, "mine")
    state = parse({"model": "recorded", "file": kept["file"]}, files.about)[0]
    told = accepted(state, None, files.about)
    assert told["space"] == "euclidean" and told["words"].startswith("mine: 2 tokens")


def keep(run, frame, points):
    """A frame as the server keeps it."""
    run.frames.append(frame)
    run.points.append(points.tobytes())


@pytest.mark.slow
def test_the_runs_that_the_preview_is_measured_by_are_the_librarys():
    kept = json.loads(preview_cases.TARGET.read_text())
    made = json.loads(preview_cases.text())
    for one, other in zip(kept, made, strict=True):
        assert one["name"] == other["name"]
        assert np.allclose(one["end"], other["end"], atol=1e-7)
        assert np.allclose(one["velocity"], other["velocity"], atol=1e-13)
