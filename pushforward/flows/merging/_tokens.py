"""What became of every token in a flow with merging."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from pushforward.flows._trajectory import Merges
from pushforward.flows.merging._merge import Slots
from pushforward.measures import Particles

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
