"""The verb: push a measure along a field."""

from __future__ import annotations

import hashlib
import pathlib
from collections.abc import Callable, Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

import pushforward
from pushforward._checks import is_traced
from pushforward.errors import InputError
from pushforward.fields import AbstractField, switch_times
from pushforward.flows._adaptive import Adaptive
from pushforward.flows._advance import UNTIL, Carry, Segment, advance
from pushforward.flows._fixed import Heun, Layers
from pushforward.flows._long_flow import flow_merging
from pushforward.flows._merging import Merge
from pushforward.flows._noise import AbstractNoise
from pushforward.flows._outcome import Outcome, explain
from pushforward.flows._progress import reporter
from pushforward.flows._solver import AbstractSolver
from pushforward.flows._span import rotate, rotate_back
from pushforward.flows._times import OnlyObservables, save_times
from pushforward.flows._trajectory import Trajectory
from pushforward.measures import Particles, stack


def flow(
    field: AbstractField,
    mu: Particles,
    t1: float,
    *,
    t0: float = 0.0,
    save=101,
    solver: AbstractSolver | None = None,
    merge: Merge | None = None,
    noise: AbstractNoise | None = None,
    observe: Mapping[str, Callable] | None = None,
    until: Callable[[Particles], object] | None = None,
    key: PRNGKeyArray | None = None,
    progress: bool | Callable | None = None,
    store=None,
) -> Trajectory:
    """Solve d/dt mu + div(mu v) = mu g + noise from t0 to t1, (v, g) = field(t, mu).

    Main arguments: the field, the initial measure, the final time.

    - `save`: number of frames, increasing times, `LogTimes(...)`, or
      `OnlyObservables(...)` of any of these. Frames are stepped to, not interpolated.
    - `solver`: `Adaptive()` unless there is noise, then `Heun(0.01)`; `Layers(h)` for
      Transformer layers.
    - `observe`: named functions of a measure, evaluated at every frame.

    Other arguments:

    - `merge`: `Merge(radius)` turns coincident particles into weighted atoms, so that
      exponentially long times are reached; `t1` may then be infinite.
    - `noise`: such as `Brownian(sigma)`; needs `key`.
    - `until`: a function of the measure; the flow stops when it becomes true, at a time
      located to rounding.
    - `progress`: True for a bar, or a function called with (t, measure, steps).
    - `store`: a path or an open store; frames are written as they come.

    The call can be jitted, vmapped and differentiated; inside a transformation the
    host-side arguments `until`, `progress` and `store` are not available.

    >>> mu = Particles.uniform(Sphere(3), 64, key=jax.random.key(0))
    >>> traj = flow(Attention(9.0), mu, 20.0)
    """
    _check(field, mu, noise, key, solver)
    solver = solver or (Heun(0.01) if noise is not None else Adaptive())
    if merge is not None:
        if noise is not None or store is not None or is_traced(field, mu):
            raise InputError(
                "`merge` works on the host, without noise and without a store: save "
                "the trajectory with trajectory.save(path)."
            )
        return flow_merging(
            field,
            mu,
            t1,
            t0,
            save,
            solver,
            merge,
            observe or {},
            until,
            reporter(progress),
        )
    times = save_times(save, t0, t1)
    if isinstance(solver, Layers):
        times = _on_grid(times, float(solver.h), t0)
    start, basis = (mu, None) if noise is not None else rotate(field, mu)
    rule = until if until is None or basis is None else _Seen(until, mu, basis)
    segment = Segment(field, solver, noise, rule, key)
    frame = lambda m: rotate_back(m, mu, basis)  # noqa: E731
    keep = not isinstance(save, OnlyObservables)
    if is_traced(field, mu, solver, noise, key):
        if until is not None or store is not None or callable(progress):
            raise InputError(
                "`until`, `store` and `progress` act on the host: leave them out "
                "inside jit, vmap or grad."
            )
        return _traced(segment, start, times, frame, observe or {}, keep)
    if store is not None:
        store = _opened(store, segment, times, mu)
    return _hosted(
        segment, start, times, frame, observe or {}, keep, reporter(progress), store
    )


class _Seen(eqx.Module):
    """A stopping rule that looks at the tokens in their own coordinates."""

    until: Callable
    original: Particles
    basis: Float[Array, "n d"]

    def __call__(self, mu: Particles):
        return self.until(rotate_back(mu, self.original, self.basis))


def _opened(store, segment: Segment, times: np.ndarray, mu: Particles):
    """A store from a path; the specification of the run goes with it."""
    if not isinstance(store, str | pathlib.Path):
        return store
    # Reaching up to `io` by a late import: a path is what users have.
    from pushforward.io import RunStore, to_json

    key = None if segment.key is None else jax.random.key_data(segment.key)
    spec = {
        "version": pushforward.__version__,
        "dtype": str(mu.points.dtype),
        "space": to_json(mu.space),
        "field": to_json(segment.field),
        "solver": to_json(segment.solver),
        "noise": to_json(segment.noise),
        "key": to_json(None if key is None else np.asarray(key)),
        "times": to_json(times),
        "start": hashlib.sha256(np.asarray(mu.points).tobytes()).hexdigest(),
    }
    return RunStore.create(store, spec, times, mu)


def _check(field, mu, noise, key, solver) -> None:
    if not isinstance(field, AbstractField):
        raise InputError(
            f"`field` must be a field such as Attention(9.0), got {field!r}."
        )
    if not isinstance(mu, Particles):
        raise InputError(
            f"`mu` must be Particles, got {type(mu).__name__}. "
            "For an array of points use Particles(Sphere(d), points)."
        )
    if noise is not None and key is None:
        raise InputError("`noise` needs a `key`, for example key=jax.random.key(0).")
    if noise is not None and isinstance(solver, Adaptive):
        raise InputError(
            "`solver` must have a fixed step when there is noise: use Heun(0.01)."
        )


def _on_grid(times: np.ndarray, h: float, t0: float) -> np.ndarray:
    """Layers are whole: saved times move to the nearest multiple of h."""
    index = np.unique(np.round((times - t0) / h).astype(int))
    return t0 + h * index


def _traced(segment, start, times, frame, observe, keep) -> Trajectory:
    """Under jit, vmap or grad: one scan over frames, differentiable."""

    def look(carry: Carry):
        mu = frame(carry.mu)
        seen = {name: jnp.asarray(f(mu)) for name, f in observe.items()}
        return (mu if keep else None), seen

    def one(carry: Carry, t_end):
        carry = advance(segment, carry, t_end, reverse=True)
        return carry, look(carry)

    carry = Carry.start(times[0], start)
    measures, seen = look(carry)
    pieces = _with_switches(segment.field, times)
    carry, rest = jax.lax.scan(one, carry, jnp.asarray(pieces[1:]))
    kept = np.flatnonzero(np.isin(pieces[1:], times[1:]))
    rest = jax.tree_util.tree_map(lambda a: a[kept], rest)
    join = lambda a, b: jnp.concatenate([a[None], b])  # noqa: E731
    measures, seen = jax.tree_util.tree_map(join, (measures, seen), rest)
    return Trajectory(
        jnp.asarray(times),
        measures,
        frame(carry.mu),
        seen,
        carry.accepted,
        carry.rejected,
        carry.status,
        segment.field,
    )


def _with_switches(field: AbstractField, times: np.ndarray) -> np.ndarray:
    """The saved times together with the times at which the field switches."""
    switches = [np.asarray(s) for s in switch_times(field) if not is_traced(s)]
    inside = np.concatenate([*switches, np.empty(0)])
    inside = inside[(inside > times[0]) & (inside < times[-1])]
    return np.unique(np.concatenate([times, inside]))


_advance = eqx.filter_jit(advance)


def _hosted(segment, start, times, frame, observe, keep, report, store) -> Trajectory:
    """On the host: frame by frame, so that a run can be watched, stored and stopped."""
    carry = Carry.start(times[0], start)
    frames: list[tuple[float, Particles | None, dict]] = []
    interrupted = False
    resumed = None if store is None else store.resume(start)

    def look(carry: Carry) -> None:
        mu = frame(carry.mu)
        seen = {name: np.asarray(f(mu)) for name, f in observe.items()}
        frames.append((float(carry.t), mu if keep else None, seen))
        report(float(carry.t), mu, int(carry.accepted))
        if store is not None:
            store.append(carry, mu, seen)

    if resumed is None:
        look(carry)
    else:
        carry, earlier = resumed
        frames.extend(
            _reread(f, frame(start), times[k], keep, observe)
            for k, f in enumerate(earlier)
        )
    saved = set(times.tolist())
    try:
        for t_end in _with_switches(segment.field, times)[1:]:
            if t_end <= float(carry.t):
                continue
            before = carry
            carry = _advance(segment, carry, np.asarray(t_end), reverse=False)
            if int(carry.status) == UNTIL and not isinstance(segment.solver, Layers):
                carry = _locate(segment, before, carry)
            if int(carry.status) != 0:
                break
            if float(t_end) in saved:
                look(carry)
    except KeyboardInterrupt:
        interrupted = True
    if frames[-1][0] < float(carry.t):
        look(carry)
    outcome = explain(carry, segment.field, times[-1])
    if interrupted:
        outcome = Outcome("interrupted", f"stopped by hand at t = {frames[-1][0]:g}.")
    elif store is not None:
        store.finish(outcome, np.array([t for t, *_ in frames]), carry)
    return _gathered(segment, carry, frames, frame(carry.mu), outcome)


def _reread(arrays: dict, mu: Particles, t: float, keep: bool, observe):
    """A frame of an interrupted run, as it was when it was first computed."""
    weights = jnp.log(jnp.asarray(arrays["weights"]))
    measure = mu.moved(jnp.asarray(arrays["points"]), weights) if keep else None
    return float(t), measure, {name: arrays[name] for name in observe}


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
    return eqx.tree_at(lambda c: c.status, best, jnp.asarray(UNTIL))
