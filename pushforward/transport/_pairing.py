"""A cost between two clouds, as the iterations of Sinkhorn see it: by its sums.

All they ask is log sum_j w_j e^{-c(x_i, y_j) / eps}, with or without values averaged
along. A cost p(x) + q(y) - s <x, y> makes that a sum of attention with queries x, keys
y, beta = s / eps and logarithms of weights moved by -q / eps: no table is built.
"""

from __future__ import annotations

import abc
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._printing import shown
from pushforward.errors import InputError
from pushforward.sums import Auto, Kernel
from pushforward.transport._atoms import affordable
from pushforward.transport._costs import (
    Cost,
    InnerProduct,
    SphereDistance,
    SquaredDistance,
    is_cost,
    unit_rows,
)

ON_SPHERE = 1e-12  # so near to the sphere, sums may use its harmonics
FEW_AXES = 8  # up to here differences are taken one coordinate at a time
SMALL_TABLE = 2**22  # pairs: so many angles are kept, more are computed when needed


class Averages(NamedTuple):
    """Of every row: log sum_j w_j e^{-c_ij / eps}, and the mean of values under it."""

    log_sum: Float[Array, "n"]
    mean: Float[Array, "n k"]


class Coupling(NamedTuple):
    """P_ij = a_i b_j e^{(f_i + g_j - c_ij) / eps}, by the logarithms of its factors."""

    log_rows: Float[Array, "n"]  # log a_i + f_i / eps
    log_columns: Float[Array, "m"]
    eps: Float[Array, ""]


class AbstractPairing(eqx.Module):
    """c(x_i, y_j) for two clouds."""

    @abc.abstractmethod
    def averages(
        self,
        log_weights: Float[Array, "m"],
        values: Float[Array, "m k"],
        eps: Float[Array, ""],
    ) -> Averages:
        """Sums over j of w_j e^{-c_ij / eps} (1, values_j), the second over the first.

        Some weight is not zero.
        """

    @abc.abstractmethod
    def costs(
        self, log_weights: Float[Array, "m"], eps: Float[Array, ""]
    ) -> Float[Array, "n"]:
        """The mean of c_ij under the same weights, for every i."""

    @abc.abstractmethod
    def slopes(
        self, log_weights: Float[Array, "m"], eps: Float[Array, ""]
    ) -> Float[Array, "n d"]:
        """The mean of grad_x c(x_i, y_j) under the same weights, for every i."""

    @abc.abstractmethod
    def pull(self, coupling: Coupling) -> tuple[AbstractPairing, Float[Array, ""]]:
        """The derivative of <C, P> in every array of C, P held fixed, and <C, P>."""

    @abc.abstractmethod
    def product_cost(self, a: Float[Array, "n"], b: Float[Array, "m"]):
        """sum_ij a_i b_j c_ij."""

    @abc.abstractmethod
    def largest(self) -> Float[Array, ""]:
        """A bound of |c_ij|: where annealing begins."""

    @abc.abstractmethod
    def table(self) -> Float[Array, "n m"]:
        """All costs."""

    @abc.abstractmethod
    def flipped(self) -> AbstractPairing:
        """c(y_j, x_i)."""

    def log_sums(
        self, log_weights: Float[Array, "m"], eps: Float[Array, ""]
    ) -> Float[Array, "n"]:
        """log sum_j w_j e^{-c_ij / eps}."""
        nothing = jnp.zeros((log_weights.shape[0], 0), log_weights.dtype)
        return self.averages(log_weights, nothing, eps).log_sum


class InnerPairing(AbstractPairing):
    """c_ij = p_i + q_j - s <x_i, y_j>, through the sums of attention: memory n + m."""

    x: Float[Array, "n d"]
    y: Float[Array, "m d"]
    p: Float[Array, "n"]
    q: Float[Array, "m"]
    s: float = eqx.field(static=True)
    unit: bool = eqx.field(static=True)  # all on the unit sphere

    def averages(
        self,
        log_weights: Float[Array, "m"],
        values: Float[Array, "m k"],
        eps: Float[Array, ""],
    ) -> Averages:
        """The softmax sums of queries x and keys y at beta = s / eps."""
        logs = log_weights - self.q / eps
        top = jax.lax.stop_gradient(jnp.max(logs))  # weights e^{1e6} are no floats
        kernel = Kernel(
            self.x, self.y, values, logs - top, self.s / eps, unit=self.unit
        )
        found = Auto()(kernel)
        return Averages(found.log_total + top - self.p / eps, found.average())

    def costs(
        self, log_weights: Float[Array, "m"], eps: Float[Array, ""]
    ) -> Float[Array, "n"]:
        """From the means of y and of q."""
        seen = jnp.concatenate([self.y, self.q[:, None]], axis=1)
        mean = self.averages(log_weights, seen, eps).mean
        return self.p + mean[:, -1] - self.s * jnp.sum(self.x * mean[:, :-1], axis=1)

    def slopes(
        self, log_weights: Float[Array, "m"], eps: Float[Array, ""]
    ) -> Float[Array, "n d"]:
        """grad p(x_i) - s times the mean of y; p is 0 or |x|^2, when s = 2."""
        mean = self.averages(log_weights, self.y, eps).mean
        own = 2 * self.x if self.s == 2 else jnp.zeros_like(self.x)
        return own - self.s * mean

    def pull(self, coupling: Coupling) -> tuple[InnerPairing, Float[Array, ""]]:
        """Marginals for p and q, images under the coupling for x and y."""
        left, right, eps = coupling
        there = self.averages(right, self.y, eps)
        back = self.flipped().averages(left, self.x, eps)
        rows = jnp.exp(left + there.log_sum)
        columns = jnp.exp(right + back.log_sum)
        dx = -self.s * rows[:, None] * there.mean
        dy = -self.s * columns[:, None] * back.mean
        cost = rows @ self.p + columns @ self.q + jnp.sum(dx * self.x)
        return InnerPairing(dx, dy, rows, columns, self.s, self.unit), cost

    def product_cost(self, a: Float[Array, "n"], b: Float[Array, "m"]):
        """From the moments of the two."""
        ends = a @ self.p * b.sum() + a.sum() * (b @ self.q)
        return ends - self.s * jnp.sum((a @ self.x) * (b @ self.y))

    def largest(self) -> Float[Array, ""]:
        """By the norms of the points."""
        norms = [jnp.sqrt(jnp.max(jnp.sum(z**2, axis=1))) for z in (self.x, self.y)]
        ends = jnp.max(jnp.abs(self.p)) + jnp.max(jnp.abs(self.q))
        return ends + self.s * norms[0] * norms[1]

    def table(self) -> Float[Array, "n m"]:
        """All costs."""
        ends = self.p[:, None] + self.q[None, :]
        return ends - self.s * (self.x @ self.y.T)

    def flipped(self) -> InnerPairing:
        """The two clouds change places."""
        return InnerPairing(self.y, self.x, self.q, self.p, self.s, self.unit)


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

    def largest(self) -> Float[Array, ""]:
        """Of all entries."""
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

    def largest(self) -> Float[Array, ""]:
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
        short, long = (jnp.sqrt(jnp.maximum(1 + s * inner, 0.0)) for s in (-1, 1))
        return (2 * jnp.arctan2(short, long)) ** p
    short, long = (
        sum((x[:, k, None] - s * y[None, :, k]) ** 2 for k in range(x.shape[1]))
        for s in (1, -1)
    )
    return (2 * jnp.arctan2(jnp.sqrt(short), jnp.sqrt(long))) ** p


def squared_pairing(
    x: Float[Array, "n d"], y: Float[Array, "m d"], *, unit: bool = False
) -> InnerPairing:
    """|x_i - y_j|^2, seen from the mean of all points: fewer digits cancel.

    On the unit sphere the points stay where they are.
    """
    if not unit:
        center = jax.lax.stop_gradient((x.mean(axis=0) + y.mean(axis=0)) / 2)[None]
        x, y = x - center, y - center
    p, q = jnp.sum(x**2, axis=1), jnp.sum(y**2, axis=1)
    return InnerPairing(x, y, p, q, 2.0, unit)


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
        return ArcPairing(*map(jnp.asarray, (x, y)), jnp.asarray(float(cost.p)))
    affordable(len(x), len(y))
    table = np.asarray(cost(x, y), dtype=float)
    if table.shape != (len(x), len(y)) or not np.isfinite(table).all():
        raise InputError(
            f"`cost` must give a finite table of shape {(len(x), len(y))}, got "
            f"{shown(table)}."
        )
    return TablePairing(jnp.asarray(table))


def on_sphere(x: np.ndarray) -> bool:
    """Whether all rows are unit vectors, to rounding."""
    return bool(np.abs(np.linalg.norm(x, axis=1) - 1).max() < ON_SPHERE)
