"""A state as a program: lines of Python that run as they are, and a command."""

from pushforward.web import _objects
from pushforward.web._state import State

NAMES = {
    "sa": "Attention",
    "layer": "Attention",
    "usa": "UnnormalizedAttention",
    "causal": "CausalAttention",
}


def python(state: State) -> str:
    """A script that prints the numbers of the page."""
    if state.model == "recorded":
        return _with_imports(['hidden = np.load("hidden.npy")  # (layers, n, d)'])
    lines = [*_tokens(state), *_field(state), *_flow(state)]
    radius = _objects.ATOM if state.merge else _objects.RADIUS
    if state.model == "rescaled":
        last = "print(run.times[-1], clusters[-1])"
        count = f"clusters = run.observe(pf.observables.ClusterCount({radius!r}))"
        return _with_imports([*lines, "print(run.outcome)", count, last])
    lines += [
        "print(run.outcome)",
        f"energy = run.observe(pf.InteractionEnergy({state.beta!r}))",
        f"clusters = run.observe(pf.observables.ClusterCount({radius!r}))",
        "cosine = run.observe(pf.observables.mean_cosine)",
        "print(run.times[-1], energy[-1], clusters[-1], cosine[-1])",
    ]
    return _with_imports(lines)


def _with_imports(lines: list[str]) -> str:
    body = "\n".join(lines)
    outside = [("jax.", "import jax"), ("np.", "import numpy as np")]
    head = [line for use, line in outside if use in body]
    return "\n".join([*head, "import pushforward as pf", "", body, ""])


def _tokens(state: State) -> list[str]:
    space = repr(_objects.home_of(state)).split("  #")[0]
    space = f"pf.{space}"
    key = f'key=pf.key_for({state.seed}, "tokens")'
    n = state.n
    made = {
        "uniform": f"pf.Particles.uniform(space, {n}, {key})",
        "gaussian": (
            f"pf.Particles.gaussian(space, {n}, mean=np.eye({state.d})[0], "
            f"scale={_objects.CAP!r}, {key})"
        ),
        "clustered": (
            f"pf.Particles.clustered(space, {n}, centers={_objects.CENTERS}, "
            f"scale={_objects.SPREAD!r}, {key})"
        ),
        "orthonormal": f"pf.Particles.orthonormal(space, {n})",
        "equispaced": f"pf.Particles.equispaced(space, {n})",
        "file": 'pf.Particles.normalized(space, np.load("tokens.npy"))',
    }[state.init]
    lines = [f"space = {space}", f"mu = {made}"]
    flat = state.model == "rescaled"
    if flat:
        lines.append(f"mu = pf.Particles(space, {_objects.SIDE!r} * mu.points)")
    if state.moved:
        lines.append("points = np.array(mu.points)")
        for index, point in state.moved:
            lines.append(f"points[{index}] = {list(point)!r}")
        made = "Particles" if flat else "Particles.normalized"
        lines.append(f"mu = pf.{made}(space, points)")
    if state.weights == "random":
        draw = f'jax.random.exponential(pf.key_for({state.seed}, "weights"), ({n},))'
        lines.append(f"w = {draw}")
        lines.append("mu = pf.Particles(space, mu.points, w / w.sum())")
    if state.dtype == "float32":
        lines.append('mu = mu.astype("float32")')
    return lines


def _field(state: State) -> list[str]:
    lines, general = [], ""
    if isinstance(state.V, str) and state.V.startswith("file:"):
        lines.append('W = np.load("weights.npz")  # Q, K, V of shape (heads, d, d)')
        one = _head(state, "**{name: W[name][h] for name in W.files}")
        lines.append(f"heads = [{one} for h in range(len(W[W.files[0]]))]")
        return [*lines, "field = pf.Heads(heads) if len(heads) > 1 else heads[0]"]
    if state.V == "minus":
        general = f"V=-np.eye({state.d})"
    elif isinstance(state.V, tuple):
        full = isinstance(state.V[0], tuple)
        rows = [list(row) for row in state.V] if full else list(state.V)
        general = f"V=np.{'array' if full else 'diag'}({rows!r})"
    if state.heads == 1:
        return [f"field = {_head(state, general)}"]
    lines = [
        "def draw(h, name):",
        f'    key = pf.key_for({state.seed}, f"head {{h}} {{name}}")',
        f"    return jax.random.normal(key, {(state.d,) * 2}) / np.sqrt({state.d})",
        "",
    ]
    values = general or 'V=draw(h, "V")'
    one = _head(state, f'Q=draw(h, "Q"), K=draw(h, "K"), {values}')
    return [*lines, f"field = pf.Heads([{one} for h in range({state.heads})])"]


def _head(state: State, weights: str) -> str:
    scale = f"log_scale={-abs(state.beta)!r}" if state.model == "usa" else ""
    if state.model == "hard":
        return f"pf.HardAttention({weights})"
    if state.model == "rescaled":
        return (
            f"pf.RescaledAttention({weights}{', ' * bool(weights)}beta={state.beta!r})"
        )
    inside = ", ".join(part for part in (repr(state.beta), weights, scale) if part)
    return f"pf.{NAMES[state.model]}({inside})"


def _flow(state: State) -> list[str]:
    options = []
    if state.clock == "linear":
        options.append(f"save={state.frames}")
    else:
        made = _objects.times(state)
        options.append(f"save=pf.LogTimes({made.first!r}, {made.num})")  # type: ignore[union-attr]
    if state.solver != "adaptive":
        name = "Layers" if state.solver == "layers" else "Heun"
        options.append(f"solver=pf.{name}({state.h!r})")
    if state.merge:
        options.append("merge=pf.Merge()")
    if state.noise > 0:
        options.append(f"noise=pf.Brownian({state.noise!r})")
        options.append(f'key=pf.key_for({state.seed}, "noise")')
    return [f"run = pf.flow(field, mu, {state.t1!r}, {', '.join(options)})"]


def command(state: State) -> str:
    """A command with the same numbers; what `simulate` cannot say opens the page."""
    plain = State(
        model=state.model,
        beta=state.beta,
        n=state.n,
        d=state.d,
        t1=state.t1,
        seed=state.seed,
        heads=state.heads,
        frames=state.frames,
        solver="layers" if state.solver == "layers" else "adaptive",
        h=state.h,
    )
    if plain != state or state.model == "usa":
        return f"pushforward explore --state {state.link()}"
    model = {"hard": "hardmax", "layer": "sa"}.get(state.model, state.model)
    parts = [
        "pushforward simulate",
        f"--n {state.n} --d {state.d} --beta {state.beta!r} --t1 {state.t1!r}",
        f"--frames {state.frames} --seed {state.seed}",
    ]
    if model != "sa":
        parts.append(f"--model {model}")
    if state.heads > 1:
        parts.append(f"--heads {state.heads}")
    if state.solver == "layers":
        parts.append(f"--layers {state.h!r}")
    return " ".join(parts)
