"""A trajectory that is there already, written as a run.

All that a run depends on, as JSON: equal runs have equal text.
"""

import contextlib
import hashlib
import inspect
import pathlib
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

import pushforward
from pushforward.errors import InputError
from pushforward.flows import (
    AbstractOpener,
    Arrays,
    Outcome,
    Problem,
    Trajectory,
    frame_of,
)
from pushforward.io._reading import load
from pushforward.io._run import RunStore
from pushforward.io._spec import to_json
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
