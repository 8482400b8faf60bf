"""Several attention heads in one layer: their outputs are summed, not averaged."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import listed
from pushforward._shapes import Number
from pushforward.errors import InputError
from pushforward.fields._affine import Affine, added_affine
from pushforward.fields._drive import Drive, added
from pushforward.fields._field import AbstractField, AbstractSeveral, Rule, added_rules
from pushforward.measures import AbstractBasis, Gaussian, Particles


class Heads(AbstractSeveral):
    """sum_h head_h, where every head has its own beta, Q, K, V.

    dx_i/dt = P_{x_i} sum_h sum_j A^h_ij V_h x_j, and growth rates add as well. H
    identical heads are one head at H times the speed. Heads of the same kind and shape
    are evaluated together. Under `Layers` all heads are one sublayer.

    >>> field = Heads([Attention(1.0), Attention(4.0)])
    """

    heads: tuple[AbstractField, ...]

    def __init__(self, heads: Sequence):
        heads = listed("heads", heads, "fields")
        if not heads or not all(isinstance(h, AbstractField) for h in heads):
            raise InputError(
                f"`heads` must be a non-empty list of fields, got {heads!r}. "
                "For example Heads([Attention(1.0), Attention(4.0)])."
            )
        self.heads = heads

    def drive(self, t: Number, mu: Particles) -> Drive:
        """The sum over heads, in one vectorised call when the heads are alike."""
        if not _alike(self.heads):
            return added([head.drive(t, mu) for head in self.heads])
        stacked = jax.tree_util.tree_map(lambda *leaf: jnp.stack(leaf), *self.heads)
        drives = jax.vmap(lambda head: head.drive(t, mu))(stacked)
        return jax.tree_util.tree_map(lambda part: part.sum(axis=0), drives)

    def scaled_drive(
        self, t: Number, mu: Particles, log_unit: Float[Array, ""]
    ) -> Drive:
        """The sum of the scaled drives of the heads."""
        return added([head.scaled_drive(t, mu, log_unit) for head in self.heads])

    def on_density(self, basis: AbstractBasis) -> Rule:
        """The sum of the rules of the heads."""
        return added_rules([head.on_density(basis) for head in self.heads])

    def on_gaussian(self, t: Number, mu: Gaussian) -> Affine:
        """The sum over heads."""
        return added_affine([head.on_gaussian(t, mu) for head in self.heads])


def _alike(heads) -> bool:
    first: Any = jax.tree_util.tree_structure(heads[0])
    shapes = [jnp.shape(leaf) for leaf in jax.tree_util.tree_leaves(heads[0])]
    return all(
        jax.tree_util.tree_structure(h) == first
        and [jnp.shape(leaf) for leaf in jax.tree_util.tree_leaves(h)] == shapes
        for h in heads
    )
