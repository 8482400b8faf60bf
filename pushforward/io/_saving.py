"""A trajectory that is there already, written as a run; and an unfinished run, taken up
from its own specification."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import json
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

import pushforward
from pushforward._checks import as_path
from pushforward.errors import InputError, StoreError
from pushforward.flows import (
    AbstractOpener,
    Arrays,
    Outcome,
    Problem,
    Trajectory,
    flow,
    frame_of,
)
from pushforward.io._layout import TORN, read_attributes
from pushforward.io._names import UnknownNameError, named
from pushforward.io._reading import load
from pushforward.io._run import RunStore
from pushforward.io._spec import from_json, to_json
from pushforward.measures import AbstractMeasure, Particles


def open_run(path: str | pathlib.PurePath, problem: Problem) -> RunStore:
    """The run of a problem on disk, new or taken up again."""
    return RunStore.create(path, specification(problem), problem.times)


class DescribedRun(AbstractOpener):
    """A run on disk with words about it, under names that the run itself has not."""

    def __init__(self, path: str | pathlib.PurePath, about: Mapping[str, str]):
        self.path, self.about = path, about

    def open(self, problem: Problem) -> RunStore:
        """The run, which says this about itself from the first frame on."""
        run = open_run(self.path, problem)
        run.describe(self.about)
        return run


def specification(problem: Problem) -> dict[str, Any]:
    """What tells two runs apart; functions without a name are told, not stored."""
    key = None if problem.key is None else jax.random.key_data(problem.key)
    start = problem.mu.arrays()
    content = b"".join(np.asarray(value).tobytes() for value in start.values())
    until = problem.until
    return {
        "version": pushforward.__version__,
        "dtype": str(next(iter(start.values())).dtype),
        **about_measure(problem.mu),
        "field": to_json(problem.field),
        "solver": to_json(problem.solver),
        "noise": to_json(problem.noise),
        "key": to_json(None if key is None else np.asarray(key)),
        "times": to_json(problem.times),
        "observed": sorted(problem.observe),
        "observe": {name: _stored(f, None) for name, f in problem.observe.items()},
        "until": False if until is None else _stored(until, True),
        "start": hashlib.sha256(content).hexdigest(),
        **{name: to_json(value) for name, value in problem.more.items()},
    }


def about_measure(mu: AbstractMeasure) -> dict[str, Any]:
    """The space of particles; of other measures all that frames do not hold, or that
    their constructor cannot do without."""
    space = {"space": to_json(mu.space)}
    if isinstance(mu, Particles):
        return space
    found = inspect.signature(type(mu)).parameters.values()
    left_out = set(mu.arrays()) - {p.name for p in found if p.default is p.empty}
    kind = to_json(mu)
    return space | {"measure": {k: v for k, v in kind.items() if k not in left_out}}


def _stored(function: object, otherwise: object) -> object:
    try:
        return to_json(function)
    except InputError:
        return otherwise


NAMELESS = "a field without a name"


def save_trajectory(trajectory: Trajectory, path: str | pathlib.PurePath) -> None:
    """Write a finished trajectory as a run."""
    times = np.asarray(trajectory.times)
    frames = [_frame(trajectory, k) for k in range(len(times))]
    summary = _summary(trajectory)
    spec = {
        "field": _field(trajectory.field),
        **about_measure(trajectory.final),
        "content": _content(times, frames, summary),
    }
    store = RunStore.create(path, spec, times)
    with contextlib.closing(store):
        if store.ended:
            load(path)  # verified; the same content is there already
            return
        for k in range(len(store.hashes), len(times)):
            store.append(float(times[k]), frames[k], {})
        outcome = trajectory.outcome or Outcome("recorded", "not the result of a flow.")
        store.finish(outcome, summary)


def _field(field: object) -> object:
    """What cannot be written by name is written as it prints: the numbers go on."""
    try:
        return to_json(field)
    except InputError:
        return {"class": NAMELESS, "fields": {"printed": repr(field)}}


def _frame(trajectory: Trajectory, k: int) -> Arrays:
    clocks = {"log_time": trajectory.log_times, "arc": trajectory.arc}
    there = {name: float(v[k]) for name, v in clocks.items() if v is not None}
    seen = {name: np.asarray(v[k]) for name, v in trajectory.observed.items()}
    return frame_of(trajectory[k], seen, **there)


def _summary(trajectory: Trajectory) -> dict[str, Any]:
    counts = {
        "steps": int(trajectory.steps),
        "rejected": int(trajectory.rejected),
        "status": int(trajectory.status),
    }
    return counts | ({} if trajectory.merges is None else trajectory.merges.table())


def _content(times: Float[np.ndarray, "k"], frames: list[Arrays], summary: dict) -> str:
    """A hash of every number: two trajectories never share a run."""
    sha = hashlib.sha256(np.ascontiguousarray(times).tobytes())
    for arrays in (*frames, {name: np.asarray(v) for name, v in summary.items()}):
        for name in sorted(arrays):
            sha.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return sha.hexdigest()


MORE = ("t0", "t1", "save", "merge")  # arguments of `flow` that some runs have


class Resumption(NamedTuple):
    """The arguments of the flow that wrote a run."""

    path: pathlib.Path
    field: Any
    mu: AbstractMeasure
    times: np.ndarray | None
    solver: Any
    noise: Any
    key: Any
    observe: dict[str, Any]
    until: Any = None
    more: Mapping[str, Any] = {}

    def flow(self, progress: Any | None = None) -> Trajectory:
        """Go on from the last frame that counts; bitwise what one run would give."""
        arguments = dict(self.more)
        if self.times is not None:
            ends = {"t0": float(self.times[0]), "t1": float(self.times[-1])}
            arguments = {**ends, "save": self.times} | arguments
        return flow(
            self.field,
            self.mu,
            arguments.pop("t1"),
            solver=self.solver,
            noise=self.noise,
            key=self.key,
            observe=self.observe,
            until=self.until,
            progress=progress,
            store=self.path,
            **arguments,
        )


def resumption(
    path: str | pathlib.PurePath, *, classes: Iterable[Any] = ()
) -> Resumption:
    """How to go on with a run, from what it says about itself.

    Classes and functions of your own that the run uses are named in `classes`. Refused
    with the reason when there are some without a name, such as a lambda: then call
    `flow` as before with `store=path`, which resumes as well.
    """
    path = as_path("path", path)
    spec = _specification(path, read_attributes(path))
    classes = list(named(classes).values())
    first = load(path, classes=classes)[0]
    read = functools.partial(from_json, classes=classes)
    try:
        key, times, until = read(spec["key"]), read(spec["times"]), spec["until"]
        return Resumption(
            path,
            read(spec["field"]),
            first,
            None if times is None else np.asarray(times, float).reshape(-1),
            read(spec["solver"]),
            read(spec["noise"]),
            None if key is None else jax.random.wrap_key_data(jnp.asarray(key)),
            {name: read(spec["observe"][name]) for name in spec["observed"]},
            None if until is False else read(until),
            {name: read(spec[name]) for name in MORE if name in spec},
        )
    except UnknownNameError as error:
        raise StoreError(
            f"{path} cannot go on yet: {error} Here: "
            f'pushforward.io.resumption("{path}", classes=[...]).'
        ) from error
    except (InputError, *TORN) as error:
        raise StoreError(f"{path} is damaged: {error}.") from error


def _specification(path: pathlib.Path, attributes: dict) -> dict[str, Any]:
    try:
        spec = json.loads(attributes["spec"])
        spec = spec if isinstance(spec, dict) else {}
        own = [name for name, f in spec.get("observe", {}).items() if f is None]
    except TORN as error:
        raise StoreError(f"{path} is damaged: {error}.") from error
    if "solver" not in spec:
        raise StoreError(
            f"{path} was saved by Trajectory.save or by an older version: there is "
            "nothing to resume. Start it again."
        )
    if own or spec.get("until") is True:
        what = f"observables {own}" if own else "rule `until`"
        raise StoreError(
            f"{path} was made with {what}, functions without a name of their own. Call "
            f'pf.flow as before with store="{path}": it resumes.'
        )
    return spec
