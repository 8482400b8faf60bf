"""A flow inside jit, vmap or grad."""

import jax
import jax.numpy as jnp
import numpy as np

from pushforward.flows._advance import Carry, Segment, advance, with_switches
from pushforward.flows._trajectory import Trajectory
from pushforward.flows._watch import Watch


def flow_traced(
    segment: Segment, start, times, frame, watch: Watch, reverse: bool = True
) -> Trajectory:
    """Under jit, vmap or grad: one scan over frames.

    Without `reverse` there is no backward pass, and the loop compiles and runs faster.
    """

    def look(carry: Carry):
        mu = frame(carry.mu)
        return watch.kept(mu), watch.look(mu, jnp.asarray)

    def one(carry: Carry, t_end):
        carry = advance(segment, carry, t_end, reverse)
        return carry, look(carry)

    carry = Carry.start(times[0], start)
    measures, seen = look(carry)
    pieces = with_switches(segment.field, times)
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
