"""A flow on the host: frame by frame, so that it can be watched, stored and stopped."""

import contextlib
import hashlib
import pathlib
from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import pushforward
from pushforward.errors import InputError
from pushforward.fields import held_until
from pushforward.flows._advance import UNTIL, Carry, Segment, advance, with_switches
from pushforward.flows._fixed import Layers
from pushforward.flows._kinds import Measure
from pushforward.flows._outcome import Outcome, explain
from pushforward.flows._trajectory import Trajectory
from pushforward.flows._watch import Watch
from pushforward.measures import Particles, stack

_advance = eqx.filter_jit(advance)


def flow_hosted(
    segment: Segment, start, times, frame, watch: Watch, store
) -> Trajectory:
    """On the host: frame by frame, so that a run can be watched, stored and stopped."""
    carry = Carry.start(times[0], start)
    frames: list[tuple[float, Measure | None, dict]] = []
    report = watch.report()
    resumed = None if store is None else store.resume(start)

    def look(carry: Carry) -> None:
        mu = frame(carry.mu)
        seen = watch.look(mu, np.asarray)
        frames.append((float(carry.t), watch.kept(mu), seen))
        report(float(carry.t), mu, int(carry.accepted))
        if store is not None:
            store.append(carry, mu, seen)

    if resumed is None:
        look(carry)
    else:
        carry, mu = resumed.carry, frame(start)
        for t, arrays in zip(resumed.times, resumed.frames, strict=True):
            frames.append(_reread(arrays, mu, t, watch))
        if resumed.outcome is not None:  # it has ended: there is nothing to compute
            last = mu.moved(carry.mu.points, carry.mu.log_weights)
            return _gathered(segment, carry, frames, last, resumed.outcome)
    carry, interrupted = _onward(segment, carry, times, look)
    if not interrupted and frames[-1][0] < float(carry.t):
        look(carry)
    outcome = _outcome(segment, carry, times[-1])
    if interrupted:
        outcome = Outcome("interrupted", f"stopped by hand at t = {frames[-1][0]:g}.")
        if store is not None:
            store.commit()
    elif store is not None:
        store.finish(outcome, np.array([t for t, *_ in frames]), carry)
    return _gathered(segment, carry, frames, frame(carry.mu), outcome)


def _outcome(segment: Segment, carry: Carry, t1: float) -> Outcome:
    return explain(carry, held_until(segment.field, carry.t), t1, segment.solver)


def _onward(segment: Segment, carry: Carry, times, look) -> tuple[Carry, bool]:
    """From frame to frame; the second is whether someone interrupted."""
    try:
        for t_end in with_switches(segment.field, times)[1:]:
            if t_end <= float(carry.t):
                continue
            if int(carry.status) != 0:
                break
            before = carry
            carry = _advance(segment, carry, np.asarray(t_end), reverse=False)
            if int(carry.status) == UNTIL and not isinstance(segment.solver, Layers):
                carry = _locate(segment, before, carry)
            if int(carry.status) == 0 and t_end in times:
                look(carry)
    except KeyboardInterrupt:
        return carry, True
    return carry, False


def _reread(arrays: dict, mu: Particles, t: float, watch: Watch):
    """A frame of an interrupted run, as it was when it was first computed."""
    weights = jnp.asarray(arrays["log_weights"])
    measure = watch.kept(mu.moved(jnp.asarray(arrays["points"]), weights))
    return float(t), measure, {name: arrays[name] for name in watch.observe}


def _gathered(segment, carry, frames, final, outcome) -> Trajectory:
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
        field=segment.field,
        outcome=outcome,
    )


def _locate(segment: Segment, before: Carry, after: Carry) -> Carry:
    """The first time at which `until` holds, by bisection from the last frame."""
    low, high = float(before.t), float(after.t)
    free = eqx.tree_at(lambda s: s.until, segment, None, is_leaf=lambda x: x is None)
    best = after
    for _ in range(60):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        # An array, not a float: a float is static and would compile every time.
        trial = _advance(free, before, np.asarray(middle), reverse=False)
        if segment.until is not None and bool(segment.until(trial.mu)):
            high, best = middle, trial
        else:
            low, before = middle, trial
    return eqx.tree_at(lambda c: c.status, best, jnp.asarray(UNTIL, int))


@contextlib.contextmanager
def opened(store, segment: Segment, times, mu: Particles, observe: Mapping):
    """A store from a path, locked while it is open; the specification goes with it."""
    if not isinstance(store, str | pathlib.Path):
        if not hasattr(store, "append") or not hasattr(store, "resume"):
            raise InputError(
                f"`store` must be a path or an open run, got {type(store).__name__}."
            )
        yield store
        return
    # Reaching up to `io` by a late import: a path is what users have.
    from pushforward.io import RunStore

    run = RunStore.create(store, _specification(segment, times, mu, observe), times, mu)
    with contextlib.closing(run):
        yield run


def _specification(segment: Segment, times, mu: Particles, observe: Mapping) -> dict:
    """All that a run depends on; functions of the user's own are named, not stored."""
    from pushforward.io import to_json

    def stored(function) -> object:
        try:
            return to_json(function)
        except InputError:
            return None

    key = None if segment.key is None else jax.random.key_data(segment.key)
    start = np.asarray(mu.points).tobytes() + np.asarray(mu.log_weights).tobytes()
    return {
        "version": pushforward.__version__,
        "dtype": str(mu.points.dtype),
        "space": to_json(mu.space),
        "field": to_json(segment.field),
        "solver": to_json(segment.solver),
        "noise": to_json(segment.noise),
        "key": to_json(None if key is None else np.asarray(key)),
        "times": to_json(times),
        "observed": sorted(observe),
        "observe": {name: stored(function) for name, function in observe.items()},
        "until": segment.until is not None,
        "start": hashlib.sha256(start).hexdigest(),
    }
