"""From any experiment to the nearest state, and what of it lies outside the page."""

import math
import pathlib
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

import pushforward as pf
from pushforward.errors import InputError
from pushforward.experiments import MODELS, STARTS, plain
from pushforward.web import _caps
from pushforward.web.state._experiment import LENGTHS, NORMS, experiment_of
from pushforward.web.state._state import FILE, State


def keys_of(experiment: pf.Experiment) -> dict[str, Any]:
    """The keys of the state nearest to an experiment."""
    save, solver, noise = experiment.save, experiment.solver, experiment.noise
    keys = {"t1": experiment.t1, "seed": experiment.seed, "dtype": experiment.dtype}
    keys |= {"merge": experiment.merge is not None}
    keys |= _start_keys(experiment.start) | _field_keys(experiment)
    if isinstance(save, pf.LogTimes):
        keys |= {"clock": "log", "frames": save.num + 1}
    elif isinstance(save, int):
        keys["frames"] = save
    if isinstance(noise, pf.Brownian):
        keys["noise"] = float(noise.sigma)
    for name, kind in (("layers", pf.Layers), ("heun", pf.Heun)):
        if isinstance(solver, kind):
            keys |= {"solver": name, "h": float(solver.h)}  # type: ignore[attr-defined]
    return keys


def _start_keys(start: Any) -> dict[str, Any]:
    if isinstance(start, pf.UnequalWeights):
        return _start_keys(start.start) | {"weights": "random"}
    if isinstance(start, pf.Scaled):
        return _start_keys(start.start)
    if isinstance(start, pf.Moved):
        moved = _start_keys(start.start).get("moved", [])
        rows = zip(start.tokens, np.asarray(start.points).tolist(), strict=True)
        return _start_keys(start.start) | {"moved": moved + [[i, x] for i, x in rows]}
    if isinstance(start, pf.FromFile):
        return {"init": "file", "file": _kept_name(start.path)}
    if isinstance(start, pf.Given):
        points = np.asarray(start.points).tolist()
        keys = {"n": len(points), "d": len(points[0])}
        return keys | {"moved": [[i, x] for i, x in enumerate(points)]}
    named = (key for key, make in STARTS.items() if isinstance(make(2, 2), type(start)))
    sizes = {key: getattr(start, key) for key in ("n", "d") if hasattr(start, key)}
    sizes = {"d": 2} | sizes if isinstance(start, pf.Equispaced) else sizes
    return sizes | {"init": next(named, "uniform")}


def _kept_name(path: str) -> str | None:
    stem = pathlib.PurePath(path).stem
    return stem if FILE.fullmatch(stem) else None


def _field_keys(experiment: pf.Experiment) -> dict[str, Any]:
    field: Any = experiment.field
    keys: dict[str, Any] = {}
    if isinstance(field, pf.RandomHeads):
        keys, field = {"heads": field.heads}, field.field
    elif isinstance(field, pf.WeightsFromFile):
        keys, field = {"V": f"file:{_kept_name(field.path)}"}, field.field
    for name, norm in NORMS.items():
        if type(field) is norm and getattr(field, "alpha", 1.0) == 1.0:
            keys["norm"], field = name, field.field
    if isinstance(field, pf.Sum) and len(field.fields) == 2:
        strength = _relu(field.fields[1])
        if strength is not None:
            keys["perceptron"], field = strength, field.fields[0]
    made = {key: make(1.0) for key, make in MODELS.items()}
    named = (key for key, one in made.items() if type(one) is type(field))
    keys["model"] = next(named, "sa")
    energy = experiment.observe.get("energy")
    parts: tuple[Any, ...] = (field, energy)
    for part in parts:  # hard attention has no beta; the energy does
        if getattr(part, "beta", None) is not None and np.ndim(part.beta) == 0:
            keys["beta"] = float(part.beta)
            break
    V = getattr(field, "V", None)
    if V is not None and np.ndim(V) == 2 and "V" not in keys:
        V = np.asarray(V)
        if np.array_equal(V, -np.eye(len(V))):
            keys["V"] = "minus"
        else:
            diagonal = np.array_equal(V, np.diag(np.diag(V)))
            keys["V"] = np.diag(V).tolist() if diagonal else V.tolist()
    return keys


def previewed(experiment: pf.Experiment) -> dict[str, Any] | None:
    """Of a run that no controls make what the page can compute: norms with a radius."""
    outer: Any = experiment.field
    norm = next((key for key, kind in LENGTHS.items() if type(outer) is kind), None)
    usual = experiment.vary(noise=None, merge=None, solver=None, t0=0.0)
    if norm is None or usual != experiment or not isinstance(experiment.save, int):
        return None
    keys = _field_keys(experiment.vary(field=outer.field, observe={}))
    beta = keys.get("beta", 1.0)
    alike = {"model", "beta"} >= set(keys) and MODELS[keys["model"]](beta)
    if not alike or plain(alike) != plain(outer.field):
        return None
    change = {"change": float(outer.switch)} if norm == "mix" else {}
    return {"model": keys["model"], "norm": norm, **change}


def _relu(field: Any) -> float | None:
    """c, where a field is c relu(x)."""
    if not isinstance(field, pf.Perceptron):
        return None
    W, A, one = np.asarray(field.W), np.asarray(field.A), np.eye(len(field.W))
    plain = (
        W.shape == A.shape
        and np.array_equal(A, one)
        and not np.any(field.b)
        and field.c is None
    )
    same = plain and np.array_equal(W, W[0, 0] * one)
    return float(W[0, 0]) if same and field.activation is jax.nn.relu else None


def outside(
    experiment: pf.Experiment, state: State, files: pathlib.Path | None = None
) -> Iterator[dict]:
    """What of an experiment the page has no control for, in dotted names.

    The starts come last: to compare them they may have to be drawn.
    """
    if state.model == "recorded":
        return
    mine = _comparable(experiment_of(state, files))
    theirs = _comparable(experiment)
    for path, asked, used in _different(theirs, mine, ""):
        why = "the page cannot show it"
        yield {"key": path, "asked": asked, "used": used, "why": why}
    if not _same_start(experiment, experiment_of(state, files)):
        asked, used = type(experiment.start).__name__, state.init
        why = "these tokens cannot be made by the controls of the page"
        yield {"key": "start", "asked": asked, "used": used, "why": why}


def _comparable(experiment: pf.Experiment) -> dict[str, Any]:
    tree = experiment.to_dict()
    for name in ("start", "observe"):
        tree.pop(name, None)
    if tree.get("solver") == {"kind": "Adaptive"}:
        del tree["solver"]
    return tree


def _different(a: Any, b: Any, path: str) -> Iterator[tuple]:
    if a == b:
        return
    if isinstance(a, dict) and isinstance(b, dict) and a.get("kind") == b.get("kind"):
        for key in sorted({*a, *b}):
            below = f"{path}.{key}" if path else key
            yield from _different(a.get(key), b.get(key), below)
        return
    yield path, _short(a), _short(b)


def _short(value: Any) -> Any:
    if isinstance(value, dict) and "kind" in value:
        return value["kind"]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    small = value is None or isinstance(value, int | float)
    return value if small else str(value)[:60]


def _same_start(a: pf.Experiment, b: pf.Experiment) -> bool:
    """Whether the tokens are the same, drawn only where that takes no time."""
    theirs = plain(a.start)
    if theirs == plain(b.start):
        return True
    if "FromFile" in str(theirs):
        return False  # a link names no file to be read here
    sizes = [getattr(e.start, "n", 1) * getattr(e.start, "d", 1) for e in (a, b)]
    sizes += [  # of centers, of modes
        value
        for name, value in a.numbers().items()
        if name.startswith("start.") and isinstance(value, int)
    ]
    if max(sizes) > _caps.MOST_TOKENS * 64:
        return False
    try:
        mu, nu = a.start(a.seed), b.start(b.seed)
    except (InputError, OSError):
        return False
    if not (isinstance(mu, pf.Particles) and mu.points.shape == nu.points.shape):
        return False
    same = np.allclose(mu.points, nu.points, rtol=0, atol=1e-12)
    return bool(same and np.allclose(mu.weights, nu.weights, rtol=1e-12, atol=0))
