"""A state in words, and what a page is told before its frames come."""

import pushforward as pf
from pushforward.experiments import CONTROLS
from pushforward.web.state._experiment import (
    heads_in,
    matrices_of,
    radius_of,
    texts_of,
)
from pushforward.web.state._given import (
    controls_of,
    given_experiment,
    home_of,
    is_density,
)
from pushforward.web.state._nearest import previewed
from pushforward.web.state._state import Kept, State, nothing

LONGEST = 200  # letters of a field that are shown


def words(state: State, about: dict | None = None) -> str:
    """The run in one sentence, for those who do not see the canvas."""
    where = f"the sphere of R^{state.d}"
    where = {2: "the circle", 3: "the sphere"}.get(state.d, where)
    if state.model == "rescaled":
        where = f"R^{state.d}"
    if state.model == "recorded":
        name = (about or {}).get("name", "A recorded run")
        when = f", {state.frames} recorded frames"
        if "layers" in (about or {}):
            when = f" after each of {state.frames - 1} layers"
        return f"{name}: {state.n} tokens{when}."
    if state.experiment is not None:
        return given_words(state)
    name, start = _label("model", state.model), _label("init", state.init)
    if len(state.moved) == state.n:
        start = "placed by hand"
    if state.model == "rescaled" and state.init == "uniform":
        start = "uniform in a cube"
    extra = "".join(
        text
        for text, wanted in (
            (f", noise {state.noise:g}", state.noise > 0),
            (f", {state.heads} heads", state.heads > 1),
            (", coincident tokens merge", state.merge),
            (", single precision", state.dtype == "float32"),
        )
        if wanted
    )
    return (
        f"{name}: {state.n} tokens on {where}, {start}, "
        f"β = {state.beta:g}, time 0 to {state.t1:g}{extra}."
    )


def _label(key: str, value: str) -> str:
    return next(c.label for c in CONTROLS[key].choices if c.value == value)


def space_name(state: State, about: dict | None = None) -> str:
    """What the page draws the tokens on; `about` is what is known of a recorded run."""
    if state.model == "rescaled" or (about or {}).get("space") == "euclidean":
        return "euclidean"
    if state.experiment is not None:
        home = home_of(given_experiment(state.experiment).start)[0]
        if isinstance(home, pf.Euclidean):
            return "euclidean"
    return "circle" if state.d == 2 else "sphere"


def given_words(state: State) -> str:
    """An experiment that no controls make, in one sentence."""
    assert state.experiment is not None
    experiment = given_experiment(state.experiment)
    place = {"circle": "on the circle", "sphere": f"on the sphere of R^{state.d}"}
    where = place.get(space_name(state), f"in R^{state.d}")
    atoms = home_of(experiment.start)[1]
    what = f"{state.n} tokens"
    if atoms is not None:
        flat = isinstance(experiment.start, pf.GivenGaussian)
        what = f"{'A Gaussian' if flat else 'A density'}, drawn at {state.n} points,"
    return f"{what} {where}, {field_name(state)}, time {_span(experiment)}."


def field_name(state: State) -> str | None:
    """The field of an experiment that no controls make, as Python writes it."""
    if state.experiment is None:
        return None
    name = repr(given_experiment(state.experiment).field)
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}..."


def _span(experiment: pf.Experiment) -> str:
    return f"{experiment.t0:g} to {experiment.t1:g}"


def accepted(state: State, done: dict | None, kept: Kept = nothing) -> dict:
    """What a page is told before the frames of a run come."""
    about = kept(state.file or "") or {}
    named = about.get("words", [])
    return {
        "state": state.as_json(),
        "n": state.n,
        "d": state.d,
        "frames": state.frames if done is None else done["frames"],
        **texts_of(state),
        "words": words(state, about),
        "radius": radius_of(state),
        "matrices": matrices_of(state),
        "heads": _heads(state, kept),
        "labels": named if len(named) == state.n else [],
        "layers": "layers" in about,
        "width": about.get("width", state.d),
        "space": space_name(state, about),
        "field": field_name(state),
        **_given(state),
    }


def _heads(state: State, kept: Kept) -> int:
    """How many attention matrices a frame has; the page asks for no others."""
    if state.experiment is not None:
        experiment = given_experiment(state.experiment)
        spread = is_density(experiment)
        return 0 if spread else len(heads_in(experiment.drawn_field(state.d)))
    if isinstance(state.V, str) and state.V.startswith("file:"):
        return (kept(state.V.removeprefix("file:")) or {}).get("heads", 1)
    return state.heads


def _given(state: State) -> dict:
    """Of a run that no controls make: the keys that change it, and what it moves."""
    if state.experiment is None:
        return {"controls": None, "density": False, "known": None}
    experiment = given_experiment(state.experiment)
    controls = ["model", *controls_of(experiment)]
    return {
        "controls": controls,
        "density": is_density(experiment),
        "known": previewed(experiment),
    }
