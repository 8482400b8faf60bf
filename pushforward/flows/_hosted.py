"""A flow on the host: frame by frame, so that it can be watched, stored and stopped."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError, StoreError
from pushforward.flows._advance import UNTIL, Carry, Dynamics, advance, with_switches
from pushforward.flows._explain import explain
from pushforward.flows._outcome import Outcome
from pushforward.flows._store import AbstractStore, Arrays, Recorder, Resumed, frame_of
from pushforward.flows._trajectory import Trajectory
from pushforward.flows.solvers._fixed import AbstractLayers
from pushforward.measures import AbstractMeasure, stack

STATE = ("t", "h", "accepted", "rejected", "status")  # of a Carry, beside its measure
_advance = eqx.filter_jit(advance)


def flow_hosted(
    dynamics: Dynamics,
    start: AbstractMeasure,
    times: Float[np.ndarray, "k"],
    frame: Callable,
    recorder: Recorder,
    store: AbstractStore | None,
) -> Trajectory:
    """Frame by frame; a store that holds a part of the run already is taken up."""
    carry, mu = Carry.start(times[0], start), frame(start)
    frames: list[tuple[float, AbstractMeasure | None, dict]] = []
    report = recorder.report()

    def record(carry: Carry) -> None:
        mu = frame(carry.mu)
        seen = recorder.record(mu, np.asarray)
        frames.append((float(carry.t), recorder.kept(mu), seen))
        report(float(carry.t), mu, int(carry.accepted), seen)
        if store is not None:
            store.append(float(carry.t), frame_of(mu, seen), _state(carry))

    resumed = None if store is None else store.resume()
    if resumed is None:
        record(carry)
    else:
        frames += _frames_again(resumed, mu, recorder)
        if resumed.outcome is not None:  # it has ended: there is nothing to compute
            return _finished(dynamics, resumed, frames, mu)
        carry = _carry(resumed.state, start)
    carry, interrupted = _onward(dynamics, carry, times, record)
    if not interrupted and frames[-1][0] < float(carry.t):
        record(carry)
    outcome = _outcome(dynamics, carry, times[-1])
    if interrupted:
        outcome = Outcome("interrupted", f"stopped by hand at t = {frames[-1][0]:g}.")
        if store is not None:
            store.commit()
    elif store is not None:
        store.finish(outcome, counts(carry))
    return _gathered(dynamics, carry, frames, frame(carry.mu), outcome)


def counts(carry: Any) -> dict[str, int]:
    """What a store is told at the end, besides the outcome."""
    return {
        "steps": int(carry.accepted),
        "rejected": int(carry.rejected),
        "status": int(carry.status),
    }


def _state(carry: Carry) -> Arrays:
    """The integrator's state as plain arrays."""
    own = {name: np.asarray(getattr(carry, name)) for name in STATE}
    return own | {name: np.asarray(v) for name, v in carry.mu.arrays().items()}


def _carry(state: Arrays | None, start: AbstractMeasure) -> Carry:
    """The integrator's state again; `start` says what kind of measure it holds."""
    state = state or {}
    try:
        mu = start.with_arrays(state)
        t, h, *counted = (jnp.asarray(state[name]) for name in STATE)
    except (InputError, KeyError) as error:
        raise StoreError(
            f"the state in the store does not fit this run: {error}. Remove the run."
        ) from error
    good = all(number.shape == () for number in (t, h, *counted)) and bool(
        jnp.isfinite(t) & jnp.isfinite(h) & mu.is_finite
    )
    if not good:
        raise StoreError("the state in the store is not a state. Remove the run.")
    return Carry(t, mu, h, *counted)


def _frames_again(resumed: Resumed, mu: AbstractMeasure, recorder: Recorder):
    """The frames of an interrupted run, as they were when they were computed."""
    for t, arrays in zip(resumed.times, resumed.frames, strict=True):
        seen = {name: arrays[name] for name in recorder.observe}
        yield float(t), recorder.kept(mu.with_arrays(arrays)), seen


def _finished(dynamics: Dynamics, resumed: Resumed, frames, mu) -> Trajectory:
    """An equal run that has ended."""
    final, summary = mu.with_arrays(resumed.frames[-1]), resumed.summary
    carry = Carry.start(resumed.times[-1], final)
    number = [jnp.asarray(int(summary[n])) for n in ("steps", "rejected", "status")]
    carry = Carry(carry.t, final, carry.h, *number)
    return _gathered(dynamics, carry, frames, final, resumed.outcome)


def _outcome(dynamics: Dynamics, carry: Carry, t1: float) -> Outcome:
    return explain(carry, dynamics.field.before(carry.t), t1, dynamics.solver)


def _onward(
    dynamics: Dynamics, carry: Carry, times: Float[np.ndarray, "k"], record
) -> tuple[Carry, bool]:
    """From frame to frame; the second is whether someone interrupted."""
    try:
        for t_end in with_switches(dynamics, times)[1:]:
            if t_end <= float(carry.t):
                continue
            if int(carry.status) != 0:
                break
            before = carry
            carry = _advance(dynamics, carry, np.asarray(t_end))
            layered = isinstance(dynamics.solver, AbstractLayers)
            if int(carry.status) == UNTIL and not layered:
                carry = _locate(dynamics, before, carry)
            if int(carry.status) == 0 and t_end in times:
                record(carry)
    except KeyboardInterrupt:
        return carry, True
    return carry, False


def _gathered(dynamics, carry, frames, final, outcome) -> Trajectory:
    kept = [mu for _, mu, _ in frames if mu is not None]
    names = frames[0][2]
    return Trajectory(
        times=np.array([t for t, _, _ in frames]),
        measures=stack(kept) if kept else None,
        final=final,
        observed={
            name: np.stack([seen[name] for *_, seen in frames]) for name in names
        },
        steps=carry.accepted,
        rejected=carry.rejected,
        status=carry.status,
        field=dynamics.field,
        outcome=outcome,
    )


def _locate(dynamics: Dynamics, before: Carry, after: Carry) -> Carry:
    """The first time at which `until` holds, by bisection from the last frame."""
    low, high = float(before.t), float(after.t)
    free = eqx.tree_at(lambda s: s.until, dynamics, None, is_leaf=lambda x: x is None)
    best = after
    for _ in range(60):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        # An array, not a float: a float is static and would compile every time.
        trial = _advance(free, before, np.asarray(middle))
        if dynamics.until is not None and bool(dynamics.until(trial.mu)):
            high, best = middle, trial
        else:
            low, before = middle, trial
    return eqx.tree_at(lambda c: c.status, best, jnp.asarray(UNTIL, int))
