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

from pushforward.sums import Auto, Kernel, Spectral, choose

ON_SPHERE = 1e-12  # so near to the sphere, sums may use its harmonics


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
    def size(self) -> Float[Array, ""]:
        """How large the numbers are, in the mean, that make up c_ij."""

    @abc.abstractmethod
    def spread(self) -> Float[Array, ""]:
        """How far c_ij varies beyond a sum p_i + q_j: where annealing begins."""

    @property
    def near_linear(self) -> bool:
        """Whether sums look at less than all pairs, in double precision."""
        return False

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

    @property
    def near_linear(self) -> bool:
        """Whether these are modes of the circle or S^2."""
        (m, d), n = self.x.shape, self.y.shape[0]
        return isinstance(choose(m, n, d, plain=self.unit), Spectral)

    def size(self) -> Float[Array, ""]:
        """Of the two ends, and of what varies."""
        return jnp.mean(jnp.abs(self.p)) + jnp.mean(jnp.abs(self.q)) + self.spread()

    def spread(self) -> Float[Array, ""]:
        """Twice the root of the mean square of s <x_i, y_j>."""
        squares = jnp.sum((self.x.T @ self.x) * (self.y.T @ self.y))
        return 2 * self.s * jnp.sqrt(squares / (self.x.shape[0] * self.y.shape[0]))

    def table(self) -> Float[Array, "n m"]:
        """All costs."""
        ends = self.p[:, None] + self.q[None, :]
        return ends - self.s * (self.x @ self.y.T)

    def flipped(self) -> InnerPairing:
        """The two clouds change places."""
        return InnerPairing(self.y, self.x, self.q, self.p, self.s, self.unit)


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


def on_sphere(x: np.ndarray) -> bool:
    """Whether all rows are unit vectors, to rounding."""
    return bool(np.abs(np.linalg.norm(x, axis=1) - 1).max() < ON_SPHERE)
