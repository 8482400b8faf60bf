"""What the worker can be asked to do with runs."""

import json
import math
import pathlib
import time
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.web.computing import _draw, _phase
from pushforward.web.computing._record import WORDS, Recorder
from pushforward.web.computing._worker import Job
from pushforward.web.state._experiment import (
    cluster_radius,
    first_time,
    radius_of,
    run_of,
    space_of,
)
from pushforward.web.state._state import State, from_json


def run(job: Job, files: pathlib.Path, state: dict) -> None:
    """Flow a state, or read what was recorded, and send its frames."""
    asked = from_json(state)
    started = time.perf_counter()
    if asked.model == "recorded":
        trajectory, recorder = recorded(job, files, asked)
    else:
        trajectory, recorder = flowed(job, files, asked)
    recorder.flush(last=True)
    summary = recorder.summary(trajectory)
    seconds = time.perf_counter() - started
    job.say("done", **summary, seconds=seconds, variance=recorder.variance)


def flowed(job: Job, files: pathlib.Path, state: State) -> tuple:
    """The flow of a state; up to d = 3 its frames go out as they come."""
    recorder = Recorder(state.n, state.beta, radius_of(state), sender(job))
    recorder.masses = state.weights != "equal" or state.merge
    live = state.d <= 3 and not state.merge

    def watch(t: float, mu: pf.Particles, steps: int) -> None:
        job.check()
        job.progress(t, fraction(state, t))
        if live:
            recorder.frame(t, None, mu)

    trajectory = run_of(state, files, watch)
    job.check()
    if not live:
        recorder.replay(trajectory, len(trajectory), job.check)
    return trajectory, recorder


def sender(job: Job):
    """Frames to the server, with the points in full precision behind them."""

    def send(frame: bytes, points: np.ndarray) -> None:
        job.say("frame", frame + points.tobytes(), size=len(frame))

    return send


def fraction(state: State, t: float) -> float:
    """How much of the time axis lies behind."""
    if state.clock == "linear":
        return t / state.t1
    first = first_time(state)
    span = math.log(state.t1 / first)
    return min(max(math.log(max(t, first) / first) / span, 0.0), 1.0)


def stored_run(files: pathlib.Path, state: State) -> pf.Trajectory:
    """A stored run or hidden states, layer by layer."""
    with np.load(files / f"{state.file}.npz", allow_pickle=False) as stored:
        arrays: dict[str, Any] = {name: stored[name] for name in stored.files}
    about = json.loads((files / f"{state.file}.json").read_bytes())
    weights = arrays.get("weights")
    return as_trajectory(arrays["times"], arrays["points"], weights, about)


def recorded(job: Job, files: pathlib.Path, state: State) -> tuple:
    """The frames of a stored run."""
    trajectory = stored_run(files, state)
    radius = cluster_radius(state.n, state.d)
    recorder = Recorder(state.n, state.beta, radius, sender(job))
    recorder.replay(trajectory, len(trajectory), job.check)
    return trajectory, recorder


def as_trajectory(times, points, weights, about: dict, field=None) -> pf.Trajectory:
    """Frames (t, n, d) as a trajectory; `about` says the space and how it ended."""
    d = points.shape[-1]
    flat = about.get("space") == "euclidean"
    space = pf.Euclidean(d) if flat else space_of(d)
    ended = about.get("outcome") or {
        "kind": "recorded",
        "sentence": "layers of a file, not the result of a flow.",
    }
    kinds = {word: kind for kind, word in WORDS.items()}
    return pf.Trajectory.recorded(
        space,
        points,
        np.asarray(times, float),
        weights=weights,
        steps=jnp.asarray(about.get("steps", 0)),
        rejected=jnp.asarray(about.get("rejected", 0)),
        field=field,
        outcome=pf.Outcome(kinds.get(ended["kind"], ended["kind"]), ended["sentence"]),
    )


def warm(job: Job, files: pathlib.Path, states: list[dict]) -> None:
    """Compile the usual shapes without sending anything."""
    for state in map(from_json, states):
        job.check()
        radius = radius_of(state)
        quiet = Recorder(state.n, state.beta, radius, lambda frame, points: None)

        def watch(t, mu, steps, quiet=quiet):
            job.check()
            quiet.frame(t, None, mu)

        run_of(state, files, watch)
    job.say("done")


JOBS: dict[str, Callable[..., None]] = {
    "run": run,
    "warm": warm,
    "phase": _phase.compute,
    "draw": _draw.draw,
}
