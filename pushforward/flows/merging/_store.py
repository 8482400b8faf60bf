"""A flow with merging as plain arrays, so that it is stored and taken up again."""

import dataclasses
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from pushforward._checks import Number
from pushforward.errors import StoreError
from pushforward.fields import AbstractField
from pushforward.flows._outcome import Outcome
from pushforward.flows._store import Arrays, Recorder, Resumed
from pushforward.flows._trajectory import Merges, Trajectory
from pushforward.flows.merging._merge import Slots
from pushforward.flows.merging._state import MergingCarry
from pushforward.measures import Particles, stack

SMALLEST = 32  # fewer atoms cost the same: not worth another compilation
NOBODY = -1  # the name of a slot that only fills an array


@dataclasses.dataclass(frozen=True)
class Tokens:
    """The tokens at the start, and how to find them again among the slots.

    Token i is in slot owner[i] or in what that has become; its mass has changed by
    e^{offsets[i]} beyond what the slot says. names[k] is the token that names slot k.
    """

    mu: Particles
    owner: Int[np.ndarray, "n"]
    names: Int[np.ndarray, "k"]
    offsets: Float[np.ndarray, "n"]
    merges: Merges

    @classmethod
    def start(cls, mu: Particles) -> "Tokens":
        """Every token in a slot of its own."""
        return cls(mu, np.arange(mu.n), np.arange(mu.n), np.zeros(mu.n), Merges.of([]))

    def measure(self, slots: Slots) -> Particles:
        """All tokens, where their atoms are."""
        root, grown = _roots(slots)
        slot = root[self.owner]
        if slots.grown is None:
            return self.mu.moved(slots.points[slot])
        gain = self.offsets + grown[self.owner]
        logs = jax.nn.log_softmax(self.mu.log_weights + gain)
        return self.mu.moved(slots.points[slot], logs)

    def noted(self, slots: Slots) -> "Tokens":
        """With the mergers that the slots remember added to the table."""
        parent = np.asarray(slots.parent)
        gone = (parent != np.arange(len(parent))) & (self.names != NOBODY)
        old = self.merges
        arc = np.asarray(slots.arc_absorbed) * math.sqrt(self.mu.n)
        merges = Merges(
            np.concatenate([old.log_times, np.asarray(slots.log_absorbed)[gone]]),
            np.concatenate([old.arc, arc[gone]]),
            np.concatenate([old.absorbed, self.names[gone]]),
            np.concatenate([old.into, self.names[parent[gone]]]),
        )
        return dataclasses.replace(self, merges=merges)

    def table(self, slots: Slots) -> Merges:
        """All mergers in order of time."""
        rows = self.noted(slots).merges
        order = np.lexsort((rows.into, rows.arc, rows.log_times))
        return jax.tree_util.tree_map(lambda column: column[order], rows)

    def packed(self, slots: Slots) -> tuple["Tokens", Slots, Int[np.ndarray, "k"]]:
        """Without absorbed slots, in one of a few sizes; and the old place of each.

        What is left of the size after the last atom holds nobody.
        """
        alive = np.flatnonzero(np.asarray(slots.alive))
        size = _bucket(len(alive))
        order = np.concatenate([alive, np.repeat(alive[:1], size - len(alive))])
        filled = np.arange(size) < len(alive)
        place = np.full(len(self.names), NOBODY)
        place[alive] = np.arange(len(alive))
        root, grown = _roots(slots)
        new = Slots(
            slots.points[order],
            jnp.where(filled, slots.log_weights[order], -jnp.inf),
            jnp.where(filled, jnp.arange(size), 0),
            jnp.full(size, -jnp.inf),
            jnp.full(size, -jnp.inf),
            None if slots.grown is None else slots.grown[order],
        )
        offsets = self.offsets
        if slots.grown is not None:  # the root's share stays with the root
            offsets = offsets + (grown - grown[root])[self.owner]
        tokens = dataclasses.replace(
            self.noted(slots),
            owner=place[root[self.owner]],
            names=np.where(filled, self.names[order], NOBODY),
            offsets=offsets,
        )
        return tokens, new, order


def _roots(slots: Slots):
    """The slot that each slot has become part of, and its gain along the way there."""
    root = np.asarray(slots.parent)
    alone = root == np.arange(len(root))
    grown = np.zeros(len(root)) if slots.grown is None else np.asarray(slots.grown)
    gain = np.where(alone, 0.0, grown)
    while (root[root] != root).any():
        gain = gain + gain[root]
        root = root[root]
    return root, gain + grown[root]


def _bucket(count: int) -> int:
    """32, 256, ... whichever first holds `count` atoms: few shapes to compile."""
    size = SMALLEST
    while size < count:
        size *= 8
    return size


def smaller(size: int) -> int:
    """The largest of 32, 256, ... below `size`; zero when there is none."""
    smaller = SMALLEST
    while smaller * 8 < size:
        smaller *= 8
    return smaller if smaller < size else 0


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
