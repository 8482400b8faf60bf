"""A flow inside jit, vmap or grad."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pushforward.flows._advance import Carry, Dynamics, advance, with_switches
from pushforward.flows._store import Recorder
from pushforward.flows._trajectory import Trajectory
from pushforward.flows.solvers._while import in_place_of


def flow_traced(
    dynamics: Dynamics,
    start: Any,
    times: Float[np.ndarray, "k"],
    frame: Callable,
    recorder: Recorder,
    whole: Any | None = None,
) -> Trajectory:
    """Under jit, vmap or grad: one scan over frames.

    `whole` is the measure where `start` is it in coordinates of its span. Tokens that
    are differentiated leave their span, and linearly dependent ones have no
    differentiable basis: derivatives are those of the flow of `whole`.
    """
    run = lambda: _frames(dynamics, start, times, frame, recorder)  # noqa: E731
    if whole is None:
        arrays = run()
    else:
        same = lambda mu: mu  # noqa: E731
        arrays = in_place_of(
            run, lambda: _frames(dynamics, whole, times, same, recorder)
        )
    measures, final, seen, steps, rejected, status = arrays
    return Trajectory(
        jnp.asarray(times),
        measures,
        final,
        seen,
        steps,
        rejected,
        status,
        dynamics.field,
    )


def _frames(
    dynamics: Dynamics,
    start: Any,
    times: Float[np.ndarray, "k"],
    frame: Callable,
    recorder: Recorder,
) -> tuple:
    """All arrays of a trajectory but its times."""

    def record(carry: Carry):
        mu = frame(carry.mu)
        return recorder.kept(mu), recorder.record(mu, jnp.asarray)

    def one(carry: Carry, t_end):
        carry = advance(dynamics, carry, t_end)
        return carry, record(carry)

    carry = Carry.start(times[0], start)
    measures, seen = record(carry)
    pieces = with_switches(dynamics, times)[1:]
    carry, rest = jax.lax.scan(one, carry, jnp.asarray(pieces))
    search = np.searchsorted if isinstance(pieces, np.ndarray) else jnp.searchsorted
    kept = search(pieces, times[1:], side="right") - 1
    rest = jax.tree_util.tree_map(lambda a: a[kept], rest)
    join = lambda a, b: jnp.concatenate([a[None], b])  # noqa: E731
    measures, seen = jax.tree_util.tree_map(join, (measures, seen), rest)
    counts = carry.accepted, carry.rejected, carry.status
    return measures, frame(carry.mu), seen, *counts
