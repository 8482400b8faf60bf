"""A flow with merging as plain arrays, so that it is stored and taken up again."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pushforward._shapes import Number
from pushforward.errors import StoreError
from pushforward.fields import AbstractField
from pushforward.flows._outcome import Outcome
from pushforward.flows._recorder import Recorder
from pushforward.flows._store import Arrays, Resumed
from pushforward.flows._trajectory import Merges, Trajectory
from pushforward.flows.merging._state import MergingCarry
from pushforward.flows.merging._tokens import Tokens
from pushforward.measures import Particles, stack


class Frame(NamedTuple):
    """All tokens at one time."""

    t: float
    log_t: float
    arc: float
    mu: Particles
    seen: dict


def state_of(carry: MergingCarry, tokens: Tokens, t: Number) -> Arrays:
    """All that the run needs to go on from here."""
    own = {
        "t": np.asarray(t),
        "owner": tokens.owner,
        "names": tokens.names,
        "offsets": tokens.offsets,
    }
    return own | tokens.merges.table() | dict(_named(carry))


def restored(
    state: Arrays | None, carry: MergingCarry, mu: Particles
) -> tuple[MergingCarry, Tokens, float]:
    """What `state_of` was given; `carry` is any carry of the same run."""
    state = state or {}
    try:
        leaves = [jnp.asarray(state[name]) for name, _ in _named(carry)]
        merges = Merges.from_table(state)
        own = (state["owner"], state["names"], state["offsets"])
        t = float(state["t"])
    except (KeyError, TypeError, ValueError) as error:
        raise _misfit(error) from error
    size = len(own[1])
    again = jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(carry), leaves)
    fits = again.slots.points.shape == (size, mu.d) and own[0].shape == (mu.n,)
    if merges is None or not fits or not (0 <= own[0].min() <= own[0].max() < size):
        raise _misfit("its shapes are those of another run")
    return again, Tokens(mu, *own, merges), t


def _named(carry: MergingCarry) -> list[tuple[str, np.ndarray]]:
    """The arrays of a carry by name, such as slots_points."""
    paths = jax.tree_util.tree_flatten_with_path(carry)[0]
    name = jax.tree_util.keystr
    return [
        (name(path, simple=True, separator="_"), np.asarray(leaf))
        for path, leaf in paths
    ]


def _misfit(why: object) -> StoreError:
    return StoreError(
        f"the state in the store does not fit this run: {why}. Remove the run."
    )


def frames_again(resumed: Resumed, mu: Particles, recorder: Recorder) -> list[Frame]:
    """The frames of an interrupted run, as they were when they were computed."""
    rows = zip(resumed.times, resumed.frames, strict=True)
    return [
        Frame(
            float(t),
            float(arrays["log_time"]),
            float(arrays["arc"]),
            mu.with_arrays(arrays),
            {name: arrays[name] for name in recorder.observe},
        )
        for t, arrays in rows
    ]


def finished(
    field: AbstractField, resumed: Resumed, mu: Particles, recorder: Recorder
) -> Trajectory:
    """An equal run that has ended: there is nothing to compute."""
    frames, summary = frames_again(resumed, mu, recorder), resumed.summary
    assert resumed.outcome is not None
    return gathered(
        field,
        frames,
        recorder,
        final=frames[-1].mu,
        counts=summary,
        outcome=resumed.outcome,
        merges=Merges.from_table(summary),
    )


def gathered(
    field: AbstractField,
    frames: list[Frame],
    recorder: Recorder,
    *,
    final: Particles,
    counts: Any,
    outcome: Outcome,
    merges: Merges | None,
) -> Trajectory:
    """Everything that was saved, and how it ended."""
    return Trajectory(
        times=np.array([frame.t for frame in frames]),
        measures=stack([frame.mu for frame in frames]) if recorder.keep else None,
        final=final,
        observed={
            name: np.stack([frame.seen[name] for frame in frames])
            for name in recorder.observe
        },
        steps=jnp.asarray(counts["steps"]),
        rejected=jnp.asarray(counts["rejected"]),
        status=jnp.asarray(counts["status"]),
        field=field,
        outcome=outcome,
        log_times=np.array([frame.log_t for frame in frames]),
        arc=np.array([frame.arc for frame in frames]),
        merges=merges,
    )
