"""Several attention heads in one layer: their outputs are summed, not averaged."""

from typing import Any

import jax
import jax.numpy as jnp

from pushforward._checks import listed
from pushforward.errors import InputError
from pushforward.fields._field import AbstractField, Drive
from pushforward.measures import Particles


class Heads(AbstractField):
    """sum_h head_h, where every head has its own beta, Q, K, V.

    dx_i/dt = P_{x_i} sum_h sum_j A^h_ij V_h x_j. H identical heads are one head at H
    times the speed. Heads of the same kind and shape are evaluated together.

    >>> field = Heads([Attention(1.0), Attention(4.0)])
    """

    heads: tuple[AbstractField, ...]

    def __init__(self, heads):
        heads = listed("heads", heads, "fields")
        if not heads or not all(isinstance(h, AbstractField) for h in heads):
            raise InputError(
                f"`heads` must be a non-empty list of fields, got {heads!r}. "
                "For example Heads([Attention(1.0), Attention(4.0)])."
            )
        self.heads = heads

    def drive(self, t, mu: Particles) -> Drive:
        """The sum over heads, in one vectorised call when the heads are alike."""
        if not _alike(self.heads):
            drives = [head.drive(t, mu) for head in self.heads]
            across = sum(drive.across for drive in drives)
            return Drive(across + _radial(drives, mu))
        stacked = jax.tree_util.tree_map(lambda *leaf: jnp.stack(leaf), *self.heads)
        drives = jax.vmap(lambda head: head.drive(t, mu))(stacked)
        along = None if drives.along is None else drives.along.sum(axis=0)
        return Drive(drives.across.sum(axis=0), along)


def _alike(heads) -> bool:
    first: Any = jax.tree_util.tree_structure(heads[0])
    shapes = [jnp.shape(leaf) for leaf in jax.tree_util.tree_leaves(heads[0])]
    return all(
        jax.tree_util.tree_structure(h) == first
        and [jnp.shape(leaf) for leaf in jax.tree_util.tree_leaves(h)] == shapes
        for h in heads
    )


def _radial(drives, mu: Particles):
    parts = [d.along[:, None] * mu.points for d in drives if d.along is not None]
    return sum(parts, jnp.zeros_like(mu.points))
