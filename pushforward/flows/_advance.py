"""The loop: from one time to the next, step by step, with accept and reject."""

from collections.abc import Callable

import equinox as eqx
import equinox.internal as eqxi
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from pushforward._checks import is_traced
from pushforward.fields import AbstractField, Motion, held_until, switch_times
from pushforward.flows._kinds import Measure, is_finite, is_resolved, kick, prepared
from pushforward.flows._noise import AbstractNoise
from pushforward.flows._solver import AbstractSolver

CHECKPOINTS = 90  # states kept for the backward pass: 4,000 steps at twice the cost
RUNNING, NOT_FINITE, OUT_OF_STEPS, STALLED, UNTIL, UNRESOLVED = range(6)


class Carry(eqx.Module):
    """All that the next step needs; saved with a run so that it resumes bitwise."""

    t: Float[Array, ""]
    mu: Measure
    h: Float[Array, ""]
    accepted: Int[Array, ""]
    rejected: Int[Array, ""]
    status: Int[Array, ""]

    @classmethod
    def start(cls, t, mu: Measure) -> "Carry":
        """Before the first step; h = 0 asks the solver for its own first step."""
        zero = jnp.zeros((), int)
        return cls(jnp.asarray(t, float), mu, jnp.zeros(()), zero, zero, zero)


class Segment(eqx.Module):
    """What stays fixed while time runs from one saved frame to the next."""

    field: AbstractField
    solver: AbstractSolver
    noise: AbstractNoise | None
    until: Callable | None
    key: PRNGKeyArray | None


def advance(segment: Segment, carry: Carry, t_end, reverse: bool) -> Carry:
    """Step until t_end exactly, or until something stops the loop.

    With `reverse` the loop can be differentiated backward (recursive checkpoints).
    """
    field = prepared(carry.mu, held_until(segment.field, t_end))
    segment = eqx.tree_at(lambda s: s.field, segment, field)
    motion = field(carry.t, carry.mu)
    span = t_end - carry.t
    first = segment.solver.first_step(motion, span)
    carry = eqx.tree_at(lambda c: c.h, carry, jnp.where(carry.h > 0, carry.h, first))
    solver = segment.solver

    def unfinished(state) -> Bool[Array, ""]:
        carry, _ = state
        return (carry.t < t_end) & (carry.status == RUNNING)

    def body(state):
        carry, motion = state
        return _one_step(segment, carry, motion, t_end)

    if not reverse:
        return jax.lax.while_loop(unfinished, body, (carry, motion))[0]
    state = eqxi.while_loop(
        unfinished,
        body,
        (carry, motion),
        kind="checkpointed",
        max_steps=solver.max_steps,
        checkpoints=CHECKPOINTS,
    )
    # This loop ends at its budget without a word, before t_end: say so.
    status = jnp.where(unfinished(state), OUT_OF_STEPS, state[0].status).astype(int)
    return eqx.tree_at(lambda c: c.status, state[0], status)


def _one_step(segment: Segment, carry: Carry, motion: Motion, t_end):
    solver = segment.solver
    remaining = t_end - carry.t
    # A little slack: t = h + ... + h is rounded, and must not need one more step.
    last = carry.h * (1 + 1e-6) >= remaining
    h = jnp.where(last, remaining, carry.h)
    dW = None
    if segment.noise is not None and segment.key is not None:
        # The key depends on the step alone: the same seed gives the same path.
        key = jax.random.fold_in(segment.key, carry.accepted)
        dW = kick(carry.mu, segment.noise, key, h)
    trial = solver.attempt(segment.field, carry.t, h, carry.mu, motion, dW)
    finite = jnp.isfinite(trial.error) & is_finite(trial.mu)
    accept = finite & (trial.error <= 1.0)
    error = jnp.where(finite, trial.error, jnp.inf)
    h_next = solver.next_step(h, error)
    h_next = jnp.where(accept & last, jnp.maximum(h_next, carry.h), h_next)
    # A stop at a saved time must not shorten the steps that follow it.
    t_next = jnp.where(last, t_end, carry.t + h)

    def pick(new, old):
        return jax.tree_util.tree_map(lambda a, b: jnp.where(accept, a, b), new, old)

    mu, motion = pick((trial.mu, trial.motion), (carry.mu, motion))
    accepted = carry.accepted + accept
    rejected = carry.rejected + ~accept
    status = _status(segment, carry, accept, finite, h_next, accepted + rejected, mu)
    t = jnp.where(accept, t_next, carry.t)
    # The last step of the budget may be the one that arrives.
    status = jnp.where((status == OUT_OF_STEPS) & (t >= t_end), RUNNING, status)
    status = status.astype(carry.status.dtype)  # strong type: one compilation
    return Carry(t, mu, h_next, accepted, rejected, status), motion


def _status(segment, carry, accept, finite, h_next, steps, mu) -> Int[Array, ""]:
    """Why the loop should stop now, if it should."""
    status = jnp.where(steps >= segment.solver.max_steps, OUT_OF_STEPS, RUNNING)
    tiny = 1e-15 * jnp.maximum(jnp.abs(carry.t), 1e-290)
    stalled = ~accept & ~(h_next > tiny)  # also when h_next is not a number
    status = jnp.where(stalled & finite, STALLED, status)
    fixed = segment.solver.next_step(carry.h, jnp.inf) == carry.h
    status = jnp.where(~finite & (stalled | fixed), NOT_FINITE, status)
    status = jnp.where(accept & ~is_resolved(mu), UNRESOLVED, status)
    if segment.until is not None:
        met = accept & jnp.asarray(segment.until(mu), bool)
        status = jnp.where(met, UNTIL, status)
    return status


def with_switches(field: AbstractField, times: np.ndarray) -> np.ndarray:
    """The saved times together with the times at which the field switches."""
    switches = [np.asarray(s) for s in switch_times(field) if not is_traced(s)]
    inside = np.concatenate([*switches, np.empty(0)])
    inside = inside[(inside > times[0]) & (inside < times[-1])]
    return np.unique(np.concatenate([times, inside]))
