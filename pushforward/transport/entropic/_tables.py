"""Costs that are not inner products: their tables, whole or some rows at a time."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._printing import shown
from pushforward.errors import InputError
from pushforward.transport._atoms import affordable
from pushforward.transport._costs import (
    Cost,
    InnerProduct,
    SphereDistance,
    SquaredDistance,
    is_cost,
    unit_rows,
)
from pushforward.transport.entropic._pairing import (
    AbstractPairing,
    Averages,
    Coupling,
    InnerPairing,
    on_sphere,
    squared_pairing,
)

FEW_AXES = 8  # up to here differences are taken one coordinate at a time
SMALL_TABLE = 2**22  # pairs: so many angles are kept, more are computed when needed


class TablePairing(AbstractPairing):
    """Any cost, as the table of all its values."""

    c: Float[Array, "n m"]

    def averages(
        self,
        log_weights: Float[Array, "m"],
        values: Float[Array, "m k"],
        eps: Float[Array, ""],
    ) -> Averages:
        """Row by row, relative to the largest term."""
        logs = log_weights[None, :] - self.c / eps
        top = jax.lax.stop_gradient(jnp.max(logs, axis=1))
        w_ij = jnp.exp(logs - top[:, None])
        total = w_ij.sum(axis=1)
        return Averages(top + jnp.log(total), (w_ij @ values) / total[:, None])

    def costs(
        self, log_weights: Float[Array, "m"], eps: Float[Array, ""]
    ) -> Float[Array, "n"]:
        """Straight from the table."""
        p_ij = jax.nn.softmax(log_weights[None, :] - self.c / eps, axis=1)
        return jnp.sum(p_ij * self.c, axis=1)

    def slopes(
        self, log_weights: Float[Array, "m"], eps: Float[Array, ""]
    ) -> Float[Array, "n d"]:
        """Unknown: a table says nothing of points nearby."""
        raise InputError(
            "a gradient in the points needs SquaredDistance() or InnerProduct() as "
            "`cost`; a table of costs says nothing of points nearby."
        )

    def pull(self, coupling: Coupling) -> tuple[TablePairing, Float[Array, ""]]:
        """The coupling itself."""
        logs = coupling.log_rows[:, None] + coupling.log_columns[None, :]
        p_ij = jnp.exp(logs - self.c / coupling.eps)
        return TablePairing(p_ij), jnp.sum(p_ij * self.c)

    def product_cost(self, a: Float[Array, "n"], b: Float[Array, "m"]):
        """a^T C b."""
        return a @ self.c @ b

    def size(self) -> Float[Array, ""]:
        """Of all entries."""
        return jnp.mean(jnp.abs(self.c))

    def spread(self) -> Float[Array, ""]:
        """The largest entry."""
        return jnp.max(jnp.abs(self.c))

    def table(self) -> Float[Array, "n m"]:
        """All costs."""
        return self.c

    def flipped(self) -> TablePairing:
        """The transposed table."""
        return TablePairing(self.c.T)


class ArcPairing(AbstractPairing):
    """c_ij = angle(x_i, y_j)^p on a sphere, some rows at a time: memory n + m."""

    x: Float[Array, "n d"]
    y: Float[Array, "m d"]
    p: Float[Array, ""]

    def averages(
        self,
        log_weights: Float[Array, "m"],
        values: Float[Array, "m k"],
        eps: Float[Array, ""],
    ) -> Averages:
        """Those of a table, block by block."""
        rows = lambda table: table.averages(log_weights, values, eps)  # noqa: E731
        return self._by_blocks(rows)

    def costs(
        self, log_weights: Float[Array, "m"], eps: Float[Array, ""]
    ) -> Float[Array, "n"]:
        """Those of a table, block by block."""
        return self._by_blocks(lambda table: table.costs(log_weights, eps))

    def slopes(
        self, log_weights: Float[Array, "m"], eps: Float[Array, ""]
    ) -> Float[Array, "n d"]:
        """Left to the other costs."""
        return TablePairing(jnp.zeros((1, 1))).slopes(log_weights, eps)

    def pull(self, coupling: Coupling) -> tuple[AbstractPairing, Float[Array, ""]]:
        """The coupling, as large as the table that is avoided: left to `CostTable`."""
        raise InputError("derivatives need SquaredDistance() or InnerProduct().")

    def product_cost(self, a: Float[Array, "n"], b: Float[Array, "m"]):
        """a^T C b."""
        return a @ self._by_blocks(lambda table: table.c @ b)

    def size(self) -> Float[Array, ""]:
        """About that of a right angle."""
        return (jnp.pi / 2) ** self.p

    def spread(self) -> Float[Array, ""]:
        """That of antipodes."""
        return jnp.pi**self.p

    def table(self) -> Float[Array, "n m"]:
        """All costs."""
        return _arcs(self.x, self.y, self.p)

    def flipped(self) -> ArcPairing:
        """The two clouds change places."""
        return ArcPairing(self.y, self.x, self.p)

    def _by_blocks(self, rows):
        """What `rows` makes of the tables of a few rows each."""
        size = max(1, SMALL_TABLE // len(self.y))
        count = -(-len(self.x) // size)
        x = jnp.pad(self.x, ((0, count * size - len(self.x)), (0, 0)))
        one = lambda x: rows(TablePairing(_arcs(x, self.y, self.p)))  # noqa: E731
        found = jax.lax.map(one, x.reshape(count, size, -1))
        join = lambda z: z.reshape(count * size, *z.shape[2:])[: len(self.x)]  # noqa: E731
        return jax.tree_util.tree_map(join, found)


def _arcs(x: Array, y: Array, p: Array) -> Float[Array, "n m"]:
    """Twice the angle of two chords: digits are kept near zero and near pi."""
    if x.shape[1] > FEW_AXES:
        inner = x @ y.T
        ends = [jnp.sqrt(jnp.maximum(1 + s * inner, 0.0)) for s in (-1, 1)]
    else:
        ends = [jnp.sqrt(_squares(x, s * y)) for s in (1, -1)]
    return (2 * jnp.arctan2(ends[0], ends[1])) ** p


def _squares(x: Array, y: Array) -> Float[Array, "n m"]:
    """|x_i - y_j|^2 from differences."""
    total = jnp.zeros((x.shape[0], y.shape[0]), x.dtype)
    for k in range(x.shape[1]):
        total = total + (x[:, k, None] - y[None, :, k]) ** 2
    return total


def pairing_of(cost: Cost, x: np.ndarray, y: np.ndarray) -> AbstractPairing:
    """The pairing of a cost: by sums where its form allows, and else by its table."""
    is_cost("cost", cost)
    if isinstance(cost, SquaredDistance | InnerProduct):
        unit = on_sphere(x) and on_sphere(y)
        first, second = jnp.asarray(x), jnp.asarray(y)
        if isinstance(cost, SquaredDistance):
            return squared_pairing(first, second, unit=unit)
        p, q = (jnp.zeros(len(z), z.dtype) for z in (first, second))
        return InnerPairing(first, second, p, q, 1.0, unit)
    if isinstance(cost, SphereDistance) and len(x) * len(y) > SMALL_TABLE:
        unit_rows(x, y)
        first, second = jnp.asarray(x), jnp.asarray(y)
        return ArcPairing(first, second, jnp.asarray(float(cost.p)))
    affordable(len(x), len(y))
    table = np.asarray(cost(x, y), dtype=float)
    if table.shape != (len(x), len(y)) or not np.isfinite(table).all():
        raise InputError(
            f"`cost` must give a finite table of shape {(len(x), len(y))}, got "
            f"{shown(table)}."
        )
    return TablePairing(jnp.asarray(table))
