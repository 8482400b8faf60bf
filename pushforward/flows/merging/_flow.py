"""Flows with merging, driven from the host: to exponentially long times."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pushforward._checks import Number, double_precision
from pushforward.errors import InputError
from pushforward.fields import AbstractField
from pushforward.flows._store import Problem, Recorder, open_store
from pushforward.flows._times import ArcLength, OnlyObservables, save_times
from pushforward.flows._trajectory import Trajectory
from pushforward.flows.merging._loop import arrived
from pushforward.flows.merging._merge import Merge
from pushforward.flows.merging._run import MergingRun
from pushforward.flows.merging._state import MergingProblem, traits
from pushforward.flows.merging._store import finished, smaller
from pushforward.flows.solvers._adaptive import Adaptive
from pushforward.measures import Particles

AT_REST = 10.0  # e^{-10} until the end of the run counts as no way at all


def flow_merging(
    problem: Problem,
    merge: Merge,
    t0: Number,
    t1: Number,
    save: Any,
    recorder: Recorder,
    store: Any,
) -> Trajectory:
    """What `flow(..., merge=Merge())` does."""
    field, mu, solver = problem.field, problem.mu, problem.solver
    assert isinstance(mu, Particles)
    _check(field, mu, solver)
    save = save.times if isinstance(save, OnlyObservables) else save
    times, more = _times(save, t0, t1), dict[str, object](merge=merge)
    timed, grows = traits(field, mu)
    if timed and t1 == math.inf and problem.until is None:
        raise InputError(
            "`t1` must be finite for a field that depends on time: forces that balance "
            "now may not do so later, so that the flow would never end. Pass a time, "
            "or a stopping rule `until`."
        )
    clocked = isinstance(save, ArcLength)
    merging = MergingProblem(
        field,
        solver,
        merge,
        mu,
        problem.until,
        stride=jnp.asarray(save.step if clocked else math.inf),
        t0=jnp.asarray(float(t0)),
        slowest=jnp.asarray(-_log(t1 - t0) - AT_REST),
        timed=timed,
        shrink=smaller(mu.n),
    )
    onward = lambda store: _onward(merging, grows, save, times, recorder, store)  # noqa: E731
    if store is None:
        return onward(None)
    if clocked:  # when the frames will be is not known
        more |= {"save": save, "t0": float(t0), "t1": float(t1)}
    planned = None if clocked else times
    with open_store(store, problem._replace(times=planned, more=more)) as run:
        return onward(run)


def _onward(
    merging: MergingProblem,
    grows: bool,
    save: Any,
    times: Float[np.ndarray, "k"],
    recorder: Recorder,
    store: Any,
) -> Trajectory:
    """From frame to frame."""
    resumed = None if store is None else store.resume()
    if resumed is not None and resumed.outcome is not None:
        return finished(merging.field, resumed, merging.template, recorder)
    run = MergingRun(merging, grows, recorder, store, resumed)
    for t, arc in _targets(save, times, run):
        try:
            if not run.until_reaching(t, _log(t - float(times[0])), arc):
                break
        except KeyboardInterrupt:
            run.interrupted = True
            break
        run.record()
    return run.trajectory()


def _times(save: Any, t0: Number, t1: Number) -> np.ndarray:
    """The times of the frames; with ArcLength only the first and the last one."""
    if t1 != math.inf:
        return save_times(2 if isinstance(save, ArcLength) else save, t0, t1)
    if isinstance(save, ArcLength):
        return np.array([*save_times(2, t0, t0), math.inf])
    raise InputError("`t1` may be infinite only with save=ArcLength(step).")


def _targets(save: Any, times: Float[np.ndarray, "k"], run: MergingRun):
    """(time, arc length) at which to save; one of them is always out of reach."""
    for t in times[times > run.t].tolist():
        if not isinstance(save, ArcLength):
            yield t, math.inf
            continue
        log_end = _log(t - float(times[0]))
        while not arrived(run.log_t, log_end):
            yield t, float(run.carry.arc) + save.step / math.sqrt(run.tokens.mu.n)


def _log(span: Number) -> float:
    return math.log(span) if span > 0 else -math.inf


def _check(field: AbstractField, mu: Particles, solver: Any) -> None:
    if field.ordered:
        raise InputError(
            "`merge` needs tokens that are treated alike: where their order matters, "
            "as under causal attention, coincident tokens separate again. Leave "
            "`merge` out. A field of your own in which order plays no part says so by "
            "`ordered = False` in its class."
        )
    if not isinstance(solver, Adaptive):
        raise InputError("`merge` needs the solver Adaptive(rtol, atol).")
    double_precision("`merge`")
    if mu.points.dtype != jnp.float64:
        raise InputError("`merge` needs float64: pass mu.astype(float).")
