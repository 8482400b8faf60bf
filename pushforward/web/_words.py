"""A state in words: its equation with the numbers in it, and what the run is called."""

from pushforward.experiments import CONTROLS
from pushforward.web._experiment import matrices_of, radius_of, texts_of
from pushforward.web._state import State


def equation(state: State) -> str:
    """The equation of motion with the numbers of the state in it."""
    if state.model == "recorded":
        return "recorded layer by layer, not integrated"
    beta = f"{state.beta:g}"
    if state.model == "rescaled":
        value = _value(state) if state.V else ""
        return (
            f"dz_i/dt = Σ_j P_ij {value}(z_j − z_i),  "
            f"P_ij ∝ e^{{{beta} ⟨e^{{tV}}z_i, e^{{tV}}z_j⟩}}"
        )
    value = "" if state.V in (None, "identity") else _value(state)
    general = state.heads > 1 or (isinstance(state.V, str) and ":" in state.V)
    q, k = ("Q ", "K ") if general else ("", "")
    value = "V " if general and not value else value
    index = "k" if state.model == "causal" else "i"
    pair = f"⟨{q}x_{index}, {k}x_j⟩"
    over = "Σ_{j≤k}" if state.model == "causal" else "Σ_j"
    weight = f"w_j e^{{{beta} {pair}}}"
    noise = f" + {state.noise:g} P ∘ dW/dt" if state.noise > 0 else ""
    heads = f"Σ_{{h=1..{state.heads}}} " if state.heads > 1 else ""
    if state.solver == "layers":
        step = f"{state.h:g}"
        return (
            f"x_i ← normalize( x_i + {step} {heads}{over} {weight} {value}x_j / Z_i )"
        )
    if state.model == "hardmax":
        inside = f"{heads}mean of {value}x_j over the largest {pair}"
    elif state.model == "usa":
        inside = f"{heads}e^{{-{abs(state.beta):g}}} {over} {weight} {value}x_j"
    else:
        inside = f"{heads}{over} {weight} {value}x_j / Z_{index}"
    return f"dx_{index}/dt = P_{{x_{index}}}[ {inside} ]{noise}"


def _value(state: State) -> str:
    if state.V == "minus":
        return "(-1) "
    if isinstance(state.V, tuple) and not isinstance(state.V[0], tuple):
        return f"diag({', '.join(f'{v:g}' for v in state.V)}) "
    return "V "


def words(state: State) -> str:
    """The run in one sentence, for those who do not see the canvas."""
    where = "the circle" if state.d == 2 else f"the unit sphere of R^{state.d}"
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
        "equation": equation(state),
        **texts_of(state),
        "words": words(state),
        "radius": radius_of(state),
        "matrices": matrices_of(state),
        "space": space_name(state),
    }
