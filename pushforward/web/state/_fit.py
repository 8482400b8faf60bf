"""What one key of a state asks of another: sizes that fit, methods that go together."""

import dataclasses
from typing import Any

import numpy as np

import pushforward as pf
from pushforward.errors import InputError
from pushforward.experiments import CONTROLS, GIVEN
from pushforward.web import _caps
from pushforward.web.state import _nearest
from pushforward.web.state._experiment import experiment_of
from pushforward.web.state._given import given_state
from pushforward.web.state._state import (
    FILE,
    Kept,
    State,
    each_in_range,
    linked_experiment,
    note,
    nothing,
    refuse_unknown,
)

DENSITY = "density"  # what a page asks for
SPREAD = {2: (48, 0.12), 3: (16, 0.3)}  # d: modes, and how wide each token is spread


def mean_field(state: State) -> pf.Experiment:
    """The run of a state with each token spread a little: a density, for infinite n.

    Fields that have no rule on a density say so when it is run.
    """
    if state.d not in SPREAD or state.model in ("recorded", "rescaled", GIVEN):
        raise InputError("`measure` is a density on the circle and on S^2 only.")
    if state.init == "file":
        raise InputError("`measure` is a density of tokens that are drawn, not given.")
    experiment = experiment_of(state)
    modes, width = SPREAD[state.d]
    rho = pf.Density.from_particles(experiment.measure, modes, bandwidth=width)
    start = pf.GivenDensity(rho.basis, np.round(np.asarray(rho.coefficients), 9))
    given: dict[str, Any] = {
        "solver": None,
        "merge": None,
        "dtype": "float64",
        "observe": {},
    }
    return experiment.vary(start=start, **given)


class _Draft:
    """A state on its way to one that can run; every change is noted."""

    def __init__(self, state: State, notes: list[dict], kept: Kept):
        self.state, self.notes, self.kept = state, notes, kept

    def use(self, key: str, value: object, why: str) -> None:
        asked = getattr(self.state, key)
        if asked == value:
            return
        shown = asked if isinstance(asked, int | float | str) else str(asked)[:60]
        self.notes.append({"key": key, "asked": shown, "used": value, "why": why})
        changed: dict[str, Any] = {key: value}
        self.state = dataclasses.replace(self.state, **changed)


def parse(given: object, kept: Kept = nothing) -> tuple[State, list[dict]]:
    """A state that can run, from any JSON, and the report of what was changed.

    >>> state, notes = parse({"n": 1e9})
    >>> state.n, notes[0]["why"]
    (4096, 'must lie in [1, 4096]')
    """
    if isinstance(given, dict) and given.get("measure") == DENSITY:
        state, notes = parse({**given, "measure": None}, kept)
        return given_state(mean_field(state), {})[0], notes
    if isinstance(given, dict) and given.get("experiment") is not None:
        return of_experiment(linked_experiment(given["experiment"]), given, kept)
    draft = _Draft(*each_in_range(given, kept), kept)
    if draft.state.model == "recorded":
        _recorded(draft)
    if draft.state.model == "recorded":
        return draft.state, draft.notes
    if draft.state.model == GIVEN:
        draft.use("model", "sa", "there is no text of an experiment")
    if draft.state.model == "rescaled":
        _flat(draft)
    for rule in (_matrices, _starts, _sublayers, _methods, _sizes, _by_hand):
        rule(draft)
    return draft.state, draft.notes


def of_experiment(
    experiment: pf.Experiment, beside: dict | None = None, kept: Kept = nothing
) -> tuple[State, list[dict]]:
    """The state of an experiment, changed by the keys that stand beside it.

    Where the controls make it, or a model is chosen, it is a state of the controls; all
    else that the page can draw is run as it is. The rest is brought to the nearest
    state, and the notes say what had to change for it.
    """
    beside = {k: v for k, v in (beside or {}).items() if k not in ("experiment", "v")}
    as_it_is = beside.get("model", GIVEN) == GIVEN
    beside = {k: v for k, v in beside.items() if k != "model" or not as_it_is}
    if as_it_is and not _made_by_controls(experiment, kept):
        try:
            refuse_unknown(experiment.to_dict())
            return given_state(experiment, beside)
        except InputError as error:
            state, notes = _of_controls(experiment, beside, kept)
            return state, [note("experiment", "", state.model, error.problem), *notes]
    return _of_controls(experiment, beside, kept)


def _made_by_controls(experiment: pf.Experiment, kept: Kept) -> bool:
    state, notes = parse(_keys(experiment, kept), kept)
    return not notes and next(_nearest.outside(experiment, state), None) is None


def _keys(experiment: pf.Experiment, kept: Kept) -> dict[str, Any]:
    keys = _nearest.keys_of(experiment)
    about = kept(keys["file"]) if keys.get("file") else None
    return keys if about is None else keys | {"n": about["n"], "d": about["d"]}


def _of_controls(
    experiment: pf.Experiment, beside: dict, kept: Kept
) -> tuple[State, list[dict]]:
    state, notes = parse({**_keys(experiment, kept), **beside}, kept)
    if set(beside) <= {"view", "preset"}:
        told = {note["key"] for note in notes}
        more = _nearest.outside(experiment, state)
        told |= {"start"} if told & {"n", "d", "init"} else set()
        notes += [m for m in more if m["key"].split(".")[-1] not in told]
    return state, notes


def _recorded(draft: _Draft) -> None:
    """A run that is shown, not computed: only its file and beta count."""
    state, name = draft.state, draft.state.file
    about = draft.kept(name) if name else None
    if about is None or about["kind"] != "hidden":
        draft.use("model", "sa", "only files of runs or hidden states are recorded")
        return
    sizes = {key: about[key] for key in ("n", "d", "frames")}
    draft.state = State(model="recorded", file=name, beta=state.beta, **sizes)


def _flat(draft: _Draft) -> None:
    """Tokens of R^d, rescaled: a few dimensions, no merging, one head."""
    draft.use("d", min(draft.state.d, 8), "rescaled tokens have at most 8 coordinates")
    if draft.state.init not in ("uniform", "gaussian", "clustered"):
        draft.use("init", "uniform", "tokens of R^d start in a cube")
    plain = {
        "merge": False,
        "heads": 1,
        "noise": 0.0,
        "norm": "post",
        "perceptron": 0.0,
    }
    for key, value in plain.items():
        draft.use(key, value, "not for rescaled tokens")
    draft.use("solver", "adaptive", "rescaled tokens are solved adaptively")
    draft.use("t1", min(draft.state.t1, 1000.0), "rescaled tokens stop before t = 1000")
    if isinstance(draft.state.V, str) and draft.state.V.startswith("file:"):
        draft.use("V", None, "give the matrix entry by entry")


def _matrices(draft: _Draft) -> None:
    V = draft.state.V
    if isinstance(V, str) and V.startswith("file:"):
        name = V.removeprefix("file:")
        about = draft.kept(name) if FILE.fullmatch(name) else None
        if about is None or about["kind"] != "weights":
            draft.use("V", None, "not kept here: drop the file again")
        else:
            draft.use("d", about["d"], "the dimension of the weights")
            draft.use("heads", 1, "the file says how many heads there are")
        draft.use("perceptron", 0.0, "not beside weights of a file")
        draft.use("norm", "post", "not around weights of a file")
    if V == "identity":
        draft.state = dataclasses.replace(draft.state, V=None)


def _sublayers(draft: _Draft) -> None:
    """A perceptron and other norms, where the rest of the page can follow them."""
    state = draft.state
    if state.heads > 1:
        draft.use("perceptron", 0.0, "not beside random heads")
        draft.use("norm", "post", "not around random heads")
    if state.d > _caps.MOST_MATRIX:
        draft.use("perceptron", 0.0, f"for at most {_caps.MOST_MATRIX} dimensions")
    if draft.state.perceptron or draft.state.norm != "post":
        draft.use("merge", False, "merging follows attention alone here")


def _starts(draft: _Draft) -> None:
    init = draft.state.init
    if init == "file":
        about = draft.kept(draft.state.file) if draft.state.file else None
        if about is None or about["kind"] != "tokens":
            draft.use("init", "uniform", "there is no file of tokens")
        else:
            draft.use("n", about["n"], "the number of tokens in the file")
            draft.use("d", about["d"], "the dimension of the tokens in the file")
            _fitting_weights(draft)
    else:
        draft.state = dataclasses.replace(draft.state, file=None)
    if init == "equispaced":
        draft.use("d", 2, "equispaced tokens live on the circle")
    if init == "orthonormal":
        why = "there are only d orthonormal tokens"
        draft.use("n", min(draft.state.n, draft.state.d), why)


def _fitting_weights(draft: _Draft) -> None:
    V = draft.state.V
    if isinstance(V, str) and V.startswith("file:"):
        about = draft.kept(V.removeprefix("file:"))
        if about is None or about["d"] != draft.state.d:
            draft.use("V", None, "the weights do not fit the tokens of the file")


def _methods(draft: _Draft) -> None:
    if draft.state.noise > 0 and draft.state.solver == "adaptive":
        draft.use("solver", "heun", "noise needs a fixed step")
    if draft.state.merge:
        for unfit, why in (
            (draft.state.noise > 0, "noise parts what has merged"),
            (draft.state.model == "causal", "causal tokens separate again"),
            (draft.state.solver != "adaptive", "merging needs the adaptive solver"),
            (draft.state.dtype != "float64", "merging needs float64"),
        ):
            if unfit:
                draft.use("merge", False, why)
                break
    fixed = draft.state.solver != "adaptive"
    if fixed:
        shortest = CONTROLS["h"].low or 0.0
        draft.use("t1", max(draft.state.t1, shortest), "time for the smallest step")
        longest = draft.state.h * _caps.MOST_STEPS
        why = f"at most {_caps.MOST_STEPS:g} steps of h"
        draft.use("t1", min(draft.state.t1, longest), why)
        draft.use("h", min(draft.state.h, draft.state.t1), "a step within t1")
    elif not draft.state.merge:
        why = "longer times need merging, which follows e^beta"
        draft.use("t1", min(draft.state.t1, _caps.LONGEST_TIME), why)


def _sizes(draft: _Draft) -> None:
    state = draft.state
    if state.init != "file":
        most = max(int((_caps.MOST_WORK / state.d) ** 0.5), 1)
        why = f"n^2 d must stay below {_caps.MOST_WORK:g}"
        draft.use("n", min(state.n, most), why)
    size = 8 * draft.state.n * state.d
    most = max(int(_caps.RUN_BYTES // size), 2)
    draft.use("frames", min(state.frames, most), "all frames together fit 256 MB")
    if draft.state.solver != "adaptive":
        steps = max(int(round(draft.state.t1 / draft.state.h)), 1)
        draft.use("frames", min(draft.state.frames, steps + 1), "one frame per step")


def _by_hand(draft: _Draft) -> None:
    state = draft.state
    if isinstance(state.V, tuple) and len(state.V) != state.d:
        why = f"needs one number for each of d = {state.d} coordinates"
        draft.use("V", None, why)
    fits = tuple(
        row for row in state.moved if 0 <= row[0] < state.n and len(row[1]) == state.d
    )
    draft.use("moved", fits, "must name tokens that are there, in their dimension")
