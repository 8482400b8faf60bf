"""The sum in many dimensions on a GPU: two products of 16-bit halves per tile, by XLA.

Beyond d = 128 a strip of queries and its moments no longer fit into a fused kernel, and
a tile of exponentials costs little next to the products that make and use it. Three
products of halves are one of three times the depth.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from pushforward.sums._blocks import Tiles
from pushforward.sums._kernel import Kernel
from pushforward.sums.gpu._tiles import (
    LIFT,
    LOG2E,
    Mask,
    exponents,
    halves,
    padded,
    product,
    size_of,
)

NOTHING = -1e30


class _Columns(NamedTuple):
    place: Int[Array, "c"]
    keys: Float[Array, "c d"]
    exponent: Float[Array, "c"]
    values: Float[Array, "c k"]
    high: Float[Array, "c k"]


def wide_sum(kernel: Kernel, tiles: Tiles, running: bool):
    """Shifts, and sum_j w_j e^{beta <q_i, k_j> - shift_i} (1, f_j), as `large_sum`."""
    m, k = kernel.queries.shape[0], kernel.values.shape[1]
    R, C = min(tiles.rows, m), min(tiles.columns, kernel.keys.shape[0])
    q_size, k_size, f_size = map(size_of, (kernel.queries, kernel.keys, kernel.values))
    heaviest = jnp.max(kernel.log_weights)
    heaviest = jnp.where(jnp.isfinite(heaviest), heaviest, 0.0)
    fixed = jnp.zeros_like(kernel.beta) if running else kernel.beta
    q, low_q = _halves(kernel.queries / q_size, R)
    y, low_y = _halves(kernel.keys / k_size, C)
    f, low_f = _halves(kernel.values / f_size, C)
    split = lambda a, rows: a.reshape(len(a) // rows, rows, *a.shape[1:])  # noqa: E731
    places = lambda a: jnp.arange(a.shape[0], dtype=jnp.int32)  # noqa: E731
    columns = _Columns(
        split(places(y), C),
        split(jnp.concatenate([y, low_y, y], axis=1), C),
        split(exponents(kernel.log_weights - heaviest, fixed, C) + LIFT, C),
        split(jnp.concatenate([f, low_f], axis=1), C),
        split(f, C),
    )
    rows = (split(places(q), R), split(jnp.concatenate([q, q, low_q], axis=1), R))
    scale = LOG2E * kernel.beta * q_size * k_size
    strip = partial(
        _strip,
        columns=columns,
        scale=scale,
        mask=Mask(kernel.own, kernel.causal),
        running=running,
    )
    out = jax.lax.map(lambda r: strip(*r), rows)
    top, total, moment = (a.reshape(len(q), *a.shape[2:])[:m] for a in out)
    shift = heaviest + (top / LOG2E if running else kernel.beta)
    lifted = 2.0**-LIFT
    return shift, lifted * total, (lifted * f_size) * moment[:, :k]


def _halves(a: Array, rows: int) -> tuple[Array, Array]:
    """With whole blocks of rows, and columns in eights, which the products like."""
    return halves(jnp.pad(padded(a, rows), ((0, 0), (0, -a.shape[1] % 8))))


def _strip(place, queries, columns: _Columns, scale, mask: Mask, running: bool):
    """The running maximum, total and moment of one block of rows."""

    def step(acc, tile: _Columns):
        top, total, moment = acc
        s = scale * product(queries, tile.keys, 1) + tile.exponent[None, :]
        if mask:
            keep = mask.keeps(place[:, None], tile.place[None, :])
            s = jnp.where(keep, s, -jnp.inf)
        if running:
            old, top = top, jnp.maximum(top, s.max(axis=1) - LIFT)
            s, shrunk = s - top[:, None], jnp.exp2(old - top)
            total, moment = total * shrunk, moment * shrunk[:, None]
        e = jnp.exp2(s)
        high, low = halves(e)
        both = product(high, tile.values, 0)
        k = moment.shape[1]
        part = both[:, :k] + both[:, k:] + product(low, tile.high, 0)
        return (top, total + e.sum(axis=1), moment + part)

    size = queries.shape[0]
    start = (
        jnp.full((size,), NOTHING, jnp.float32),
        jnp.zeros((size,), jnp.float32),
        jnp.zeros((size, columns.high.shape[2]), jnp.float32),
    )
    if not mask.causal:
        return jax.lax.scan(lambda acc, tile: (step(acc, tile), None), start, columns)[
            0
        ]

    def at(j, acc):
        return step(acc, jax.tree_util.tree_map(lambda a: a[j], columns))

    count, width = columns.place.shape
    seen = jnp.minimum(place[-1] // width + 1, count)  # rows may be padded further
    return jax.lax.fori_loop(0, seen, at, start)
