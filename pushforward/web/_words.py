"""A state in words, and what a page is told before its frames come."""

from pushforward.experiments import CONTROLS
from pushforward.web._experiment import matrices_of, radius_of, texts_of
from pushforward.web._state import State


def words(state: State) -> str:
    """The run in one sentence, for those who do not see the canvas."""
    where = f"the sphere of R^{state.d}"
    where = {2: "the circle", 3: "the sphere"}.get(state.d, where)
    if state.model == "rescaled":
        where = f"R^{state.d}"
    if state.model == "recorded":
        return f"A recorded run: {state.n} tokens, {state.frames} layers or frames."
    name, start = _label("model", state.model), _label("init", state.init)
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
        f"beta = {state.beta:g}, time 0 to {state.t1:g}{extra}."
    )


def _label(key: str, value: str) -> str:
    return next(c.label for c in CONTROLS[key].choices if c.value == value)


def space_name(state: State) -> str:
    """What the page draws the tokens on."""
    if state.model == "rescaled":
        return "euclidean"
    return "circle" if state.d == 2 else "sphere"


def accepted(state: State, done: dict | None) -> dict:
    """What a page is told before the frames of a run come."""
    return {
        "state": state.as_json(),
        "n": state.n,
        "d": state.d,
        "frames": state.frames if done is None else done["frames"],
        **texts_of(state),
        "words": words(state),
        "radius": radius_of(state),
        "matrices": matrices_of(state),
        "space": space_name(state),
    }
