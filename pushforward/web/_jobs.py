"""What the worker can be asked to do."""

import pathlib
import time

import numpy as np

import pushforward as pf
from pushforward.web import _objects
from pushforward.web._record import Recorder
from pushforward.web._state import State
from pushforward.web._worker import Job


def from_json(given: dict) -> State:
    """A state that was already brought into range."""
    rows = {k: v for k, v in given.items() if k != "v"}
    if isinstance(rows["V"], list):
        rows["V"] = tuple(rows["V"])
    rows["moved"] = tuple((i, tuple(x)) for i, x in rows["moved"])
    return State(**rows)


def run(job: Job, files: pathlib.Path, state: dict) -> None:
    """Flow a state and send its frames."""
    asked = from_json(state)
    started = time.perf_counter()
    made = _objects.setup(asked, files)

    def send(frame: bytes, points: np.ndarray) -> None:
        job.say("frame", frame + points.tobytes(), size=len(frame))

    recorder = Recorder(asked.n, asked.beta, made.radius, send)
    recorder.masses = asked.weights != "equal" or asked.merge
    live = asked.d <= 3 and not asked.merge

    def watch(t: float, mu: pf.Particles, steps: int) -> None:
        job.check()
        job.progress(t, _fraction(asked, t))
        if live:
            recorder.frame(t, None, mu)

    trajectory = pf.flow(made.field, made.mu, asked.t1, progress=watch, **made.options)
    job.check()
    variance = None
    if not live:
        variance = _replay(recorder, trajectory, asked)
    recorder.flush(last=True)
    summary = recorder.summary(trajectory, made.mu.n)
    seconds = time.perf_counter() - started
    job.say("done", **summary, seconds=seconds, variance=variance)


def _fraction(state: State, t: float) -> float:
    if state.clock == "linear":
        return t / state.t1
    first = _objects.first_time(state)
    span = np.log(state.t1 / first)
    return float(np.clip(np.log(max(t, first) / first) / span, 0.0, 1.0))


def _replay(recorder: Recorder, run: pf.Trajectory, state: State) -> list[float] | None:
    """Frames of a finished run; above d = 3 in principal coordinates of its end."""
    variance = None
    if state.d > 3:
        final = np.asarray(run.final.points, float)[: state.n]
        variance = recorder.project_on(final)
    for k in range(len(run)):
        log_t = None if run.log_times is None else float(run.log_times[k])
        arc = None if run.arc is None else float(run.arc[k])
        recorder.frame(float(run.times[k]), log_t, run[k], arc)
    return variance


def warm(job: Job, files: pathlib.Path, states: list[dict]) -> None:
    """Compile the usual shapes without sending anything."""
    for state in states:
        asked = from_json(state)
        made = _objects.setup(asked, files)
        quiet = Recorder(asked.n, asked.beta, made.radius, lambda frame, points: None)

        def watch(t, mu, steps, quiet=quiet):
            job.check()
            quiet.frame(t, None, mu)

        pf.flow(made.field, made.mu, asked.t1, progress=watch, **made.options)
    job.say("done")


JOBS = {"run": run, "warm": warm}
