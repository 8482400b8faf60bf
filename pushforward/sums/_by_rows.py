"""Tables of all pairs that are never held whole: what each row says, block by block."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from pushforward.sums._exact import DENSE_PAIRS

ROWS = 128  # rows at a time where the whole table would be large


def by_rows(row: Callable[[Any], Any], m: int, n: int) -> Any:
    """row(i) for the m rows of an m x n table, `row` being given many indices at once.

    Up to 2**21 pairs at once, above that in blocks of rows: memory is linear in n, for
    gradients too, which compute a block again. `row` returns arrays (or a tuple of
    them) whose first axis is that of the indices.
    """
    if m * n <= DENSE_PAIRS:
        return row(jnp.arange(m))
    blocks = -(-m // ROWS)
    index = jnp.minimum(jnp.arange(blocks * ROWS), m - 1).reshape(blocks, ROWS)
    found = jax.lax.map(jax.checkpoint(row), index)
    return jax.tree_util.tree_map(lambda a: a.reshape(-1, *a.shape[2:])[:m], found)
