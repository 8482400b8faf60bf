"""The verb: push a measure along a field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from jaxtyping import PRNGKeyArray

from pushforward._checks import is_traced, prng_key
from pushforward.errors import InputError
from pushforward.fields import AbstractField
from pushforward.flows._adaptive import Adaptive
from pushforward.flows._advance import Segment
from pushforward.flows._density_flow import check_density, density_solver
from pushforward.flows._fixed import Heun, Layers
from pushforward.flows._hosted import flow_hosted, opened
from pushforward.flows._kinds import Measure
from pushforward.flows._long_flow import flow_merging
from pushforward.flows._merging import Merge
from pushforward.flows._noise import AbstractNoise
from pushforward.flows._random_weights import needs_layers
from pushforward.flows._solver import AbstractSolver
from pushforward.flows._span import Lifted, rotate, rotate_back
from pushforward.flows._times import OnlyObservables, save_times
from pushforward.flows._traced import flow_traced
from pushforward.flows._trajectory import Trajectory
from pushforward.flows._watch import Watch
from pushforward.measures import Density, Particles


def flow(
    field: AbstractField,
    mu: Measure,
    t1: float,
    *,
    t0: float = 0.0,
    save=101,
    solver: AbstractSolver | None = None,
    merge: Merge | None = None,
    noise: AbstractNoise | None = None,
    observe: Mapping[str, Callable] | None = None,
    until: Callable[[Any], object] | None = None,
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

    On a `Density` the same fields give the continuity equation of the mean-field limit,
    pseudo-spectral, and `Brownian(sigma)` gives its diffusion (sigma^2 / 2) Laplacian,
    exactly and without a key. Solvers are `Adaptive` and `Heun`. The flow stops as
    "unresolved" when the last modes hold more than 1e-4 of the density.

    The call can be jitted, vmapped and differentiated; inside a transformation the
    host-side arguments `until`, `progress` and `store` are not available.

    >>> mu = Particles.uniform(Sphere(3), 64, key=jax.random.key(0))
    >>> traj = flow(Attention(9.0), mu, 20.0)
    """
    _check(field, mu, noise, solver)
    _check_functions(observe, until, merge)
    watch = Watch(observe or {}, not isinstance(save, OnlyObservables), progress)
    if isinstance(mu, Density):
        check_density(field, mu, noise, key, merge, store)
        solver = density_solver(solver, noise, mu.basis)
        segment = Segment(field, solver, noise, until, key)
        return _run(segment, mu, save_times(save, t0, t1), lambda m: m, watch, None)
    _check_noise(noise, key, solver)
    solver = solver or (Heun(0.01) if noise is not None else Adaptive())
    if merge is not None:
        _check_merge(noise, store, field, mu)
        return flow_merging(field, mu, t1, t0, save, solver, merge, until, watch)
    times = save_times(save, t0, t1)
    if isinstance(solver, Layers):
        times = _on_grid(times, float(solver.h), t0)
    start, basis = (mu, None) if noise is not None else rotate(field, mu)
    rule = until if until is None or basis is None else Lifted(until, mu, basis)
    segment = Segment(field, solver, noise, rule, key)
    frame = lambda m: rotate_back(m, mu, basis)  # noqa: E731
    if store is None or is_traced(segment, mu):
        return _run(segment, start, times, frame, watch, store)
    with opened(store, segment, times, mu, watch.observe) as run:
        return _run(segment, start, times, frame, watch, run)


def _run(segment: Segment, start, times, frame, watch: Watch, store) -> Trajectory:
    """On the host, or inside a transformation."""
    if not is_traced(segment, start):
        return flow_hosted(segment, start, times, frame, watch, store)
    _check_traced(segment.until, store, watch.progress)
    return flow_traced(segment, start, times, frame, watch)


def _check(field, mu, noise, solver) -> None:
    if not isinstance(field, AbstractField):
        raise InputError(
            f"`field` must be a field such as Attention(9.0), got {field!r}."
        )
    if not isinstance(mu, Particles | Density):
        raise InputError(
            f"`mu` must be Particles or a Density, got {type(mu).__name__}. "
            "For an array of points use Particles(Sphere(d), points)."
        )
    if solver is not None and not isinstance(solver, AbstractSolver):
        raise InputError(
            f"`solver` must be a solver such as Adaptive(), got {solver!r}."
        )
    if noise is not None and not isinstance(noise, AbstractNoise):
        raise InputError(
            f"`noise` must be a noise such as Brownian(0.1), got {noise!r}."
        )


def _check_noise(noise, key, solver) -> None:
    if noise is not None and key is None:
        raise InputError("`noise` needs a `key`, for example key=jax.random.key(0).")
    if key is not None:
        prng_key("key", key)
    if not isinstance(solver, Layers):
        needs_layers(noise)
    if noise is not None and isinstance(solver, Adaptive):
        raise InputError(
            "`solver` must have a fixed step when there is noise: use Heun(0.01)."
        )


def _check_functions(observe, until, merge) -> None:
    if merge is not None and not isinstance(merge, Merge):
        raise InputError(f"`merge` must be Merge(radius) or None, got {merge!r}.")
    if observe is not None and not isinstance(observe, Mapping):
        raise InputError(
            f"`observe` must be a dict of named functions, got {observe!r}. "
            'For example observe={"E": InteractionEnergy(9.0)}.'
        )
    if until is not None and not callable(until):
        raise InputError(f"`until` must be a function of the measure, got {until!r}.")


def _check_merge(noise, store, field, mu) -> None:
    if noise is not None or store is not None or is_traced(field, mu):
        raise InputError(
            "`merge` works on the host, without noise and without a store: save "
            "the trajectory with trajectory.save(path)."
        )


def _check_traced(until, store, progress) -> None:
    if until is not None or store is not None or callable(progress):
        raise InputError(
            "`until`, `store` and `progress` act on the host: leave them out "
            "inside jit, vmap or grad."
        )


def _on_grid(times: np.ndarray, h: float, t0: float) -> np.ndarray:
    """Layers are whole: saved times move to the nearest multiple of h."""
    index = np.unique(np.round((times - t0) / h).astype(int))
    return t0 + h * index
