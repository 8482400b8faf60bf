"""A state is an experiment: which one, its run, and its texts."""

import dataclasses
import functools
import inspect
import math
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

import pushforward as pf
from pushforward.experiments import (
    MODELS,
    STARTS,
    AbstractStart,
    named_start,
    options,
    readings,
)
from pushforward.observables import CLUSTER_RADIUS
from pushforward.web import _caps
from pushforward.web.state._given import given_experiment
from pushforward.web.state._state import State, packed

ATOM = 1e-6  # at which clusters are counted with merging: that of Merge()
NEIGHBOURS = 1.25  # that a token may have by chance within the radius of clusters
NORMS = {"unit": pf.UnitNorm, "depth": pf.DepthNorm}  # of fields on the sphere
LENGTHS = {  # after which tokens have lengths of their own
    "pre": pf.PreNorm,
    "peri": pf.PeriNorm,
    "scaled": pf.DepthScaledNorm,
    "mix": pf.MixNorm,
}
PLAIN = {"tokens": "tokens.npy", "weights": "weights.npz"}  # files in a copied text


def radius_of(state: State) -> float:
    """The geodesic radius at which clusters are counted."""
    return ATOM if state.merge else cluster_radius(state.n, state.d)


def cluster_radius(n: int, d: int) -> float:
    """0.05, or less: n tokens spread at random must not be one chain.

    Within r of a token lies the share r / pi of the circle, and sin(r / 2)^2 of S^2; n
    times it is what chance puts there. In more dimensions 0.05 is small for any n.
    """
    share = NEIGHBOURS / n
    if d > 3 or share >= 1:
        return CLUSTER_RADIUS
    r = math.pi * share if d == 2 else 2 * math.asin(math.sqrt(share))
    return min(CLUSTER_RADIUS, float(f"{r:.2g}"))


def space_of(d: int) -> pf.Circle | pf.Sphere:
    """The circle for d = 2, else the sphere."""
    return pf.Circle() if d == 2 else pf.Sphere(d)


def experiment_of(
    state: State, place: pathlib.Path | dict[str, str] | None = None
) -> pf.Experiment:
    """The experiment of a state; `place` is the folder of uploads, or their names."""
    if state.experiment is not None:
        return given_experiment(state.experiment)
    flat = state.model == "rescaled"
    return pf.Experiment(
        start=_start(state, place),
        field=_field(state, place),
        t1=state.t1,
        save=state.frames if state.clock == "linear" else _log_times(state),
        solver=_solver(state),
        merge=pf.Merge() if state.merge else None,
        noise=pf.Brownian(state.noise) if state.noise > 0 else None,
        observe=readings(state.beta, radius_of(state), flat=flat),
        seed=state.seed,
        dtype=state.dtype,
    )


def _path(place, kind: str, name: str, ending: str) -> str:
    if isinstance(place, dict):
        return place[kind]
    return f"{name}{ending}" if place is None else str(place / f"{name}{ending}")


def _start(state: State, place) -> AbstractStart:
    if state.init == "file":
        assert state.file is not None
        made: AbstractStart = pf.FromFile(_path(place, "tokens", state.file, ".npy"))
    else:
        made = named_start(state.init, state.n, state.d, model=state.model)
    if state.moved:
        made = pf.Moved(made, *map(list, zip(*state.moved, strict=True)))
    return made if state.weights == "equal" else pf.UnequalWeights(made)


def _field(state: State, place):
    made = MODELS[state.model](state.beta, V=value_matrix(state))
    if isinstance(state.V, str) and state.V.startswith("file:"):
        name = state.V.removeprefix("file:")
        return pf.WeightsFromFile(made, _path(place, "weights", name, ".npz"))
    if state.perceptron:
        one = np.eye(state.d)
        made = made + pf.Perceptron(state.perceptron * one, one)
    if state.norm in NORMS:
        made = NORMS[state.norm](made)
    return made if state.heads == 1 else pf.RandomHeads(made, state.heads)


def value_matrix(state: State) -> np.ndarray | None:
    """The matrix V of a state, None for the identity."""
    if state.V == "minus":
        return -np.eye(state.d)
    if not isinstance(state.V, tuple):
        return None
    given = np.array(state.V)
    return np.diag(given) if given.ndim == 1 else given


def _solver(state: State):
    """Layers and Heun take the step h; None is adaptive."""
    made: dict[str, Callable] = {"layers": pf.Layers, "heun": pf.Heun}
    return made[state.solver](state.h) if state.solver in made else None


def _log_times(state: State) -> pf.LogTimes:
    return pf.LogTimes(first_time(state), max(state.frames - 1, 2))


def first_time(state: State) -> float:
    """The first time after the start on the logarithmic clock."""
    least = state.h if state.solver != "adaptive" else 0.01
    return min(least, state.t1 / 100)


def run_of(state: State, files: pathlib.Path, progress) -> pf.Trajectory:
    """The run of the page; the first `n` particles are the tokens.

    It is `experiment.run()` with one trick: n is filled up to one of a few sizes, so
    that a new n compiles nothing. The page reads off its numbers frame by frame.
    """
    experiment = experiment_of(state, files).vary(observe={})
    if bucket(state) > state.n:
        experiment = experiment.vary(start=padded(state, experiment))
    return experiment.run(progress=progress)


def bucket(state: State) -> int:
    """The number of particles to compile for: n, or the next of a few sizes.

    Particles beyond n are copies of the last token without mass: they follow it and
    move nobody. Where tokens repel, a copy would be driven off by rounding; noise draws
    one number per particle, and merging has sizes of its own: there n stays n.
    """
    attracts = state.beta >= 0 and state.heads == 1 and state.V is None
    attracts = attracts and not state.perceptron and state.experiment is None
    if state.n == 1 or state.noise > 0 or state.merge or not attracts:
        return state.n
    return next((b for b in _caps.BUCKETS if b >= state.n), state.n)


def padded(state: State, experiment: pf.Experiment) -> pf.Given:
    """The tokens, and copies of the last one without mass."""
    size = bucket(state)
    if state.init == "uniform" and state.weights == "equal":
        # A draw of more tokens begins with the same ones: one shape per size. Cut by
        # numpy, which compiles nothing for a new n.
        mu = experiment_of(dataclasses.replace(state, n=size)).start(state.seed)
        masses = np.full(state.n, 1 / state.n)
    else:
        mu = experiment.start(state.seed)
        masses = np.asarray(mu.weights)
    points = np.asarray(mu.points)[: state.n]
    extra = size - state.n
    points = np.concatenate([points, np.repeat(points[-1:], extra, axis=0)])
    return pf.Given(mu.space, points, np.concatenate([masses, np.zeros(extra)]))


@functools.lru_cache(maxsize=8)
def weights_of(state: State, files: pathlib.Path) -> np.ndarray:
    """The masses of the tokens of a state."""
    return np.asarray(experiment_of(state, files).measure.weights)


@functools.lru_cache(maxsize=8)
def heads_of(state: State, files: pathlib.Path) -> list:
    """The attention heads of a state."""
    return heads_in(experiment_of(state, files).drawn_field(state.d))


def heads_in(field: Any) -> list:
    """What of a field has an attention matrix: its heads, or the first such part."""
    if isinstance(field, pf.Heads):
        return list(field.heads)
    if type(field).attention_matrix is not pf.fields.AbstractField.attention_matrix:
        return [field]
    parts = getattr(field, "fields", None) or [getattr(field, "field", None)]
    found = (
        heads_in(part) for part in parts if isinstance(part, pf.fields.AbstractField)
    )
    return next((heads for heads in found if heads), [])


def directions(state: State, mu: pf.Particles) -> pf.Particles:
    """Tokens of R^d as a field sees them that normalizes what it reads."""
    field: Any = experiment_of(state).field if state.experiment is not None else None
    while field is not None and not isinstance(field, tuple(LENGTHS.values())):
        field = getattr(field, "field", None)
    if field is None:
        return mu
    return pf.Particles.normalized(space_of(mu.d), mu.points, mu.weights)


@functools.lru_cache(maxsize=64)
def matrices_of(state: State) -> list[dict] | None:
    """Q, K, V of random heads up to three dimensions, for the preview of the page."""
    if state.heads == 1 or state.d > 3 or state.model == "recorded":
        return None  # one head has none; an experiment as given is not previewed
    heads: list[Any] = heads_in(experiment_of(state).drawn_field(state.d))
    return [{k: _rows(getattr(head, k)) for k in ("Q", "K", "V")} for head in heads]


def _rows(matrix) -> list | None:
    return None if matrix is None else np.asarray(matrix, float).tolist()


def link_of(state: State) -> str:
    """What stands behind #s= in the address."""
    if state.model == "recorded":
        return packed(state.differences())
    return packed({"v": 2, "experiment": experiment_of(state).to_dict()})


@functools.lru_cache(maxsize=64)
def texts_of(state: State) -> dict[str, Any]:
    """The experiment as Python, TOML, command and plain data, to be taken away."""
    if state.model == "recorded":
        text = (
            'import numpy as np\n\nhidden = np.load("hidden.npy")  # (layers, n, d)\n'
        )
        again = f"pushforward explore --state {link_of(state)}"
        return {"python": text, "toml": "", "experiment": None, "command": again}
    shown = experiment_of(state, PLAIN)
    return {
        "python": shown.to_python(),
        "toml": shown.to_toml(),
        "experiment": experiment_of(state).to_dict(),
        "command": _command(state, shown),
    }


def _command(state: State, experiment: pf.Experiment) -> str:
    """The options of `simulate` that mean the same, or what opens the page on it."""
    given = {
        key: getattr(state, key)
        for key in ("n", "d", "beta", "t1", "frames", "seed", "model", "heads", "merge")
    }
    given |= {"start": state.init, "noise": state.noise}
    if state.solver == "layers":
        given["layers"] = state.h
    made_by_options = state.experiment is None and state.init in STARTS
    if not made_by_options or options(**given) != experiment:
        return f"pushforward explore --state {link_of(state)}"
    known = inspect.signature(options).parameters
    always = ("n", "d", "beta", "t1", "seed")
    parts = [
        f"--{key}" if value is True else f"--{key} {value!r}".replace("'", "")
        for key, value in given.items()
        if key in always or value != known[key].default
    ]
    return " ".join(["pushforward simulate", *parts])
