"""The verb: push a measure along a field.

When d > n, tokens never leave their span: rotate into it and work in R^n.

Under an isotropic field the Gram matrix evolves by itself, so the rotated system has
the same trajectories at the cost of dimension n instead of d.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from pushforward._checks import Number, is_traced, prng_key
from pushforward.errors import InputError
from pushforward.fields import AbstractField
from pushforward.flows._advance import Dynamics, known_switches
from pushforward.flows._hosted import flow_hosted
from pushforward.flows._smooth_flows import (
    check_density,
    check_gaussian,
    density_solver,
    gaussian_solver,
)
from pushforward.flows._store import Problem, Recorder, check_observe, open_store
from pushforward.flows._times import OnlyObservables, layer_starts, save_times
from pushforward.flows._traced import flow_traced
from pushforward.flows._trajectory import Trajectory
from pushforward.flows.merging._flow import flow_merging
from pushforward.flows.merging._merge import Merge
from pushforward.flows.noise._noise import AbstractNoise
from pushforward.flows.noise._random_weights import needs_layers
from pushforward.flows.solvers._adaptive import Adaptive
from pushforward.flows.solvers._fixed import AbstractLayers, Heun, Layers
from pushforward.flows.solvers._solver import AbstractSolver
from pushforward.measures import AbstractMeasure, Density, Gaussian, Particles
from pushforward.spaces import Sphere, TangentBundle


def into_span(
    field: AbstractField, mu: Particles
) -> tuple[Particles, Float[Array, "n d"] | None]:
    """mu in coordinates of its span, and the basis that leads back, if useful."""
    if not (isinstance(mu.space, Sphere) and 2 <= mu.n < mu.d and field.isotropic):
        return mu, None
    # Derivatives are taken in the whole space (see `flow_traced`): dependent tokens
    # have no differentiable basis.
    basis, coordinates = jnp.linalg.qr(jax.lax.stop_gradient(mu.points).T)  # X^T = Q R
    reduced = Particles.orthonormal(Sphere(mu.n), mu.n)
    return reduced.moved(coordinates.T, mu.log_weights), basis.T


def out_of_span(
    mu: Particles, original: Particles, basis: Float[Array, "n d"] | None
) -> Particles:
    """The reduced measure in the coordinates of the original."""
    if basis is None:
        return mu
    return original.moved(mu.points @ basis, mu.log_weights)


class InOwnCoordinates(eqx.Module):
    """A stopping rule that looks at the tokens in their own coordinates."""

    until: Callable
    original: Particles
    basis: Float[Array, "n d"]

    def __call__(self, mu: Particles):
        return self.until(out_of_span(mu, self.original, self.basis))


def flow(
    field: AbstractField,
    mu: AbstractMeasure,
    t1: Number,
    *,
    t0: Number = 0.0,
    save: Any = 101,
    solver: AbstractSolver | None = None,
    merge: Merge | None = None,
    noise: AbstractNoise | None = None,
    observe: Mapping[str, Callable] | None = None,
    until: Callable[[Any], object] | None = None,
    key: PRNGKeyArray | None = None,
    progress: Any = None,
    store: Any | None = None,
) -> Trajectory:
    """Solve d/dt mu + div(mu v) = mu g + noise from t0 to t1, (v, g) = field(t, mu).

    Main arguments: the field, the initial measure, the final time.

    - `save`: number of frames, increasing times, `LogTimes(...)`, or
      `OnlyObservables(...)` of any of these. Frames are stepped to, not interpolated,
      and there is always one at t0 and t1: `save=[1, 2]` up to t1 = 3 gives four.
    - `solver`: `Adaptive()` unless there is noise, then `Heun(0.01)`; `Layers(h)` for
      Transformer layers.
    - `observe`: named functions of a measure, evaluated at every frame.

    Other arguments:

    - `merge`: `Merge(radius)` turns coincident particles into weighted atoms, so that
      exponentially long times are reached; `t1` may then be infinite.
    - `noise`: such as `Brownian(sigma)`; needs `key`.
    - `until`: a function of the measure; the flow stops when it becomes true, at a time
      located to rounding.
    - `progress`: True for a bar, or a function called with (t, measure, steps); an
      object with a method `observed(t, values, steps)` is told what was observed.
    - `store`: a path or an open store; frames are written as they come.

    On a `Density` the same fields give the continuity equation of the mean-field limit,
    pseudo-spectral, and `Brownian(sigma)` gives its diffusion (sigma^2 / 2) Laplacian,
    exactly and without a key. Solvers are `Adaptive` and `Heun`. The flow stops as
    "unresolved" when the last modes hold more than 1e-4 of the density.

    On a `Gaussian` fields that are affine there give the equations of its mean and
    covariance, exactly; `Brownian(sigma)` adds sigma^2 I to the rate of the covariance,
    without a key. Where the moments become infinite the flow ends as "diverged".

    The call can be jitted, vmapped and differentiated, forward and backward (`jvp`,
    `grad`, `hessian`), with the steps that were taken held fixed; inside a
    transformation the host-side `until`, `progress` and `store` are not available.

    >>> mu = Particles.uniform(Sphere(3), 64, key=jax.random.key(0))
    >>> traj = flow(Attention(9.0), mu, 20.0)
    """
    _check(field, mu, noise, solver)
    _check_functions(observe, until, merge)
    field = field.started(mu)
    recorder = Recorder(observe or {}, not isinstance(save, OnlyObservables), progress)
    if isinstance(mu, Density):
        check_density(field, mu, noise, key, merge)
        split, times = density_solver(solver, noise, mu.basis), save_times(save, t0, t1)
        dynamics = Dynamics(field, split, noise, until, key)
        solver = split.inner  # the diffusion goes with the noise
        problem = Problem(field, mu, times, solver, noise, key, observe or {}, until)
        return _run(dynamics, mu, problem, lambda m: m, recorder, store)
    if isinstance(mu, Gaussian):
        check_gaussian(field, mu, noise, key, merge)
        solver, stepping = gaussian_solver(solver, noise)
        times = _on_grid(save_times(save, t0, t1), field, solver, t0)
        dynamics = Dynamics(field, stepping, noise, until, key)
        problem = Problem(field, mu, times, solver, noise, key, observe or {}, until)
        return _run(dynamics, mu, problem, lambda m: m, recorder, store)
    assert isinstance(mu, Particles)
    _check_noise(noise, key, solver, mu)
    solver = solver or (Heun(0.01) if noise is not None else Adaptive())
    if merge is not None:
        _check_merge(noise, field, mu)
        problem = Problem(field, mu, None, solver, observe=observe or {}, until=until)
        return flow_merging(problem, merge, t0, t1, save, recorder, store)
    times = _on_grid(save_times(save, t0, t1), field, solver, t0)
    start, basis = (mu, None) if noise is not None else into_span(field, mu)
    rule = (
        until if until is None or basis is None else InOwnCoordinates(until, mu, basis)
    )
    dynamics = Dynamics(field, solver, noise, rule, key)
    frame = lambda m: out_of_span(m, mu, basis)  # noqa: E731
    problem = Problem(field, mu, times, solver, noise, key, observe or {}, until)
    whole = mu if basis is not None and is_traced(mu) else None
    return _run(dynamics, start, problem, frame, recorder, store, whole)


def _run(
    dynamics: Dynamics,
    start: Any,
    problem: Problem,
    frame: Callable,
    recorder: Recorder,
    store: Any,
    whole: Any | None = None,
) -> Trajectory:
    """On the host, with a store or without, or inside a transformation."""
    times = problem.times
    assert times is not None
    if is_traced(dynamics, start):
        _check_traced(dynamics.until, store, recorder.progress)
        return flow_traced(dynamics, start, times, frame, recorder, whole)
    if store is None:
        return flow_hosted(dynamics, start, times, frame, recorder, None)
    with open_store(store, problem) as run:
        return flow_hosted(dynamics, start, times, frame, recorder, run)


def _check(field: AbstractField, mu, noise, solver: Any) -> None:
    if not isinstance(field, AbstractField):
        raise InputError(
            f"`field` must be a field such as Attention(9.0), got {field!r}."
        )
    if not isinstance(mu, Particles | Density | Gaussian):
        raise InputError(
            "`mu` must be Particles, a Density or a Gaussian, got "
            f"{type(mu).__name__}. For an array of points use "
            "Particles(Sphere(d), points)."
        )
    if solver is not None and not isinstance(solver, AbstractSolver):
        raise InputError(
            f"`solver` must be a solver such as Adaptive(), got {solver!r}."
        )
    if noise is not None and not isinstance(noise, AbstractNoise):
        raise InputError(
            f"`noise` must be a noise such as Brownian(0.1), got {noise!r}."
        )


def _check_noise(noise, key: PRNGKeyArray | None, solver: Any, mu: Particles) -> None:
    if noise is not None and isinstance(mu.space, TangentBundle):
        raise InputError(
            "`noise` must be left out for tokens with velocities: it would move their "
            "places, too."
        )
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


def _check_functions(observe, until: Any, merge: Any) -> None:
    if merge is not None and not isinstance(merge, Merge):
        raise InputError(f"`merge` must be Merge(radius) or None, got {merge!r}.")
    check_observe(observe or {})
    if until is not None and not callable(until):
        raise InputError(f"`until` must be a function of the measure, got {until!r}.")


def _check_merge(noise, field: AbstractField, mu) -> None:
    if isinstance(mu.space, TangentBundle):
        raise InputError(
            "`merge` joins tokens that stay together: those with velocities pass "
            "through each other. Leave it out."
        )
    if noise is not None or is_traced(field, mu):
        raise InputError(
            "`merge` works on the host and without noise: leave it out inside jit, "
            "vmap or grad, and under noise, which parts what has merged."
        )


def _check_traced(until: Any, store: Any, progress: Any) -> None:
    if until is not None or store is not None or callable(progress):
        raise InputError(
            "`until`, `store` and `progress` act on the host: leave them out "
            "inside jit, vmap or grad."
        )


def _on_grid(
    times: Float[np.ndarray, "k"],
    field: AbstractField,
    solver: AbstractSolver,
    t0: Number,
) -> np.ndarray:
    """Layers are whole: saved times move to the nearest multiple of h."""
    if not isinstance(solver, AbstractLayers):
        return times
    return layer_starts(times, t0, solver.h, known_switches(field))
