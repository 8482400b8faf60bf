"""The loop: from one time to the next, step by step, with accept and reject."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pushforward._checks import Number, is_traced
from pushforward.fields import AbstractField, Motion
from pushforward.flows._times import layer_starts
from pushforward.flows.noise._noise import AbstractNoise
from pushforward.flows.solvers._fixed import AbstractLayers
from pushforward.flows.solvers._solver import AbstractSolver
from pushforward.flows.solvers._while import while_loop
from pushforward.measures import AbstractMeasure

RUNNING, NOT_FINITE, OUT_OF_STEPS, STALLED, UNTIL, UNRESOLVED = range(6)


class Carry(eqx.Module):
    """All that the next step needs; saved with a run so that it resumes bitwise."""

    t: Float[Array, ""]
    mu: AbstractMeasure
    h: Float[Array, ""]
    accepted: Int[Array, ""]
    rejected: Int[Array, ""]
    status: Int[Array, ""]

    @classmethod
    def start(cls, t: Number, mu: AbstractMeasure) -> "Carry":
        """Before the first step; h = 0 asks the solver for its own first step."""
        zero = jnp.zeros((), int)
        return cls(jnp.asarray(t, float), mu, jnp.zeros(()), zero, zero, zero)


class Dynamics(eqx.Module):
    """What stays fixed while time runs from one saved frame to the next."""

    field: AbstractField
    solver: AbstractSolver
    noise: AbstractNoise | None
    until: Callable | None
    key: PRNGKeyArray | None


def advance(dynamics: Dynamics, carry: Carry, t_end: Number) -> Carry:
    """Step until t_end exactly, or until something stops the loop.

    Derivatives are those of the steps that were taken: how long they are, which is a
    choice and not a part of the equation, is held fixed, but for the last one, which
    ends at t_end wherever that moves. They agree with the derivatives of the solution
    as well as the steps do with the solution, and no token at rest divides by its own
    error.
    """
    field = carry.mu.rule_of(dynamics.field.before(jnp.asarray(t_end)))
    dynamics = eqx.tree_at(lambda s: s.field, dynamics, field)
    motion = field(carry.t, carry.mu)
    first = dynamics.solver.first_step(_fixed(motion), t_end - carry.t)
    h = _fixed(jnp.where(carry.h > 0, carry.h, first))
    carry = eqx.tree_at(lambda c: c.h, carry, h)

    def unfinished(state) -> Bool[Array, ""]:
        carry, _ = state
        return (carry.t < t_end) & (carry.status == RUNNING)

    def step(state):
        carry, motion = state
        return _one_step(dynamics, carry, motion, t_end)

    return while_loop(unfinished, step, (carry, motion))[0]


def _fixed(numbers):
    """The same numbers, which derivatives take for constants."""
    return jax.tree_util.tree_map(jax.lax.stop_gradient, numbers)


def _one_step(dynamics: Dynamics, carry: Carry, motion: Motion, t_end: Number):
    solver = dynamics.solver
    remaining = t_end - carry.t
    # A little slack: t = h + ... + h is rounded, and must not need one more step.
    last = carry.h * (1 + 1e-6) >= remaining
    h = jnp.where(last, remaining, _fixed(carry.h))
    dW = None
    if dynamics.noise is not None and dynamics.key is not None:
        # The key depends on the step alone: the same seed gives the same path.
        key = jax.random.fold_in(dynamics.key, carry.accepted)
        dW = carry.mu.increment_of(dynamics.noise, key, _fixed(h))
    trial = solver.attempt(dynamics.field, carry.t, h, carry.mu, motion, dW)
    finite = jnp.isfinite(trial.error) & trial.mu.is_finite
    accept = finite & (trial.error <= 1.0)
    error = jnp.where(finite, trial.error, jnp.inf)
    h_next = _fixed(solver.next_step(_fixed(h), error))
    h_next = jnp.where(accept & last, jnp.maximum(h_next, carry.h), h_next)
    # A stop at a saved time must not shorten the steps that follow it.
    t_next = jnp.where(last, t_end, carry.t + h)

    def pick(new, old):
        return jax.tree_util.tree_map(lambda a, b: jnp.where(accept, a, b), new, old)

    mu, motion = pick((trial.mu, trial.motion), (carry.mu, motion))
    counted = lambda yes: yes.astype(carry.accepted.dtype)  # noqa: E731
    accepted = carry.accepted + counted(accept)
    rejected = carry.rejected + counted(~accept)
    status = _status(dynamics, carry, accept, finite, h_next, accepted + rejected, mu)
    t = jnp.where(accept, t_next, carry.t)
    # The last step of the budget may be the one that arrives.
    status = jnp.where((status == OUT_OF_STEPS) & (t >= t_end), RUNNING, status)
    status = status.astype(carry.status.dtype)  # strong type: one compilation
    return Carry(t, mu, h_next, accepted, rejected, status), motion


def _status(dynamics, carry, accept, finite, h_next, steps, mu) -> Int[Array, ""]:
    """Why the loop should stop now, if it should."""
    status = jnp.where(steps >= dynamics.solver.max_steps, OUT_OF_STEPS, RUNNING)
    tiny = 1e-15 * jnp.maximum(jnp.abs(carry.t), 1e-290)
    stalled = ~accept & ~(h_next > tiny)  # also when h_next is not a number
    status = jnp.where(stalled & finite, STALLED, status)
    fixed = dynamics.solver.next_step(carry.h, jnp.inf) == carry.h
    status = jnp.where(~finite & (stalled | fixed), NOT_FINITE, status)
    status = jnp.where(accept & ~mu.is_resolved, UNRESOLVED, status)
    if dynamics.until is not None:
        met = accept & jnp.asarray(dynamics.until(mu), bool)
        status = jnp.where(met, UNTIL, status)
    return status


def with_switches(dynamics: Dynamics, times: Float[np.ndarray, "k"]) -> Any:
    """The saved times together with the times at which the field switches.

    Switches that are traced are traced here, too, and count once more at either end
    where they lie outside.
    """
    field, solver = dynamics.field, dynamics.solver
    if is_traced(field.switch_times()):
        within = [jnp.clip(s, times[0], times[-1]) for s in field.switch_times()]
        if isinstance(solver, AbstractLayers):  # which layer is known when it runs
            within = []
        return jnp.sort(jnp.concatenate([jnp.asarray(times), *within]))
    inside = known_switches(field)
    if isinstance(solver, AbstractLayers):
        inside = layer_starts(inside, times[0], solver.h, inside, np.ceil)
    inside = inside[(inside > times[0]) & (inside < times[-1])]
    return np.unique(np.concatenate([times, inside]))


def known_switches(field: AbstractField) -> Float[np.ndarray, "s"]:
    """The times at which a field jumps, in order, as far as they are not traced."""
    known = [np.asarray(s) for s in field.switch_times() if not is_traced(s)]
    return np.unique(np.concatenate([*known, np.empty(0)]))
