"""Attention by distance, at infinite beta, and linear in the token."""

from collections.abc import Sequence

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Real

from pushforward._checks import (
    Number,
    as_float_array,
    check_finite,
    matrix_or_none,
    positive,
)
from pushforward.errors import InputError
from pushforward.fields._drive import (
    Affine,
    Factored,
    apply,
    inward,
    logit_matrix,
    outward,
)
from pushforward.fields._mean_field import AbstractMeanField
from pushforward.fields.attention._attention import kernel_from, softmax_matrix
from pushforward.fields.attention._head import (
    AbstractAttention,
    AbstractHead,
    Matrix,
    Values,
    attention_matrices,
    inverse_temperature,
)
from pushforward.measures import AbstractMeasure, Gaussian, Particles
from pushforward.sums import Kernel, by_rows, reweighted


class DistanceAttention(AbstractAttention, AbstractMeanField, init=False):
    """L2 attention: a softmax of squared distances between queries and keys.

    dx/dt = P_x [ (1/Z) sum_j w_j e^{-beta |Q x - K x_j|^2 / 2} V x_j ], the mean of
    the context under a Gaussian window of variance 1/beta. On a sphere without K it is
    `Attention`. On a Gaussian no variance becomes infinite. [castin2025unified]

    >>> field = DistanceAttention(beta=4.0)
    >>> v, g = field(0.0, Particles.orthonormal(Euclidean(3), 3))
    """

    def at(
        self, t: Number, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """The average of V y over mu, seen from x.

        e^{-beta |q - k|^2 / 2} is e^{beta <q, k>} with a weight e^{-beta |k|^2 / 2}
        and a factor of q alone, which the average does not feel.
        """
        return apply(outward(self.V), self.sums(self._kernel(x, mu)).average())

    def attention_matrix(self, t: Number, mu: Particles) -> Float[Array, "n n"]:
        """w_j e^{-beta |Q x_i - K x_j|^2 / 2} / Z_i."""
        return softmax_matrix(self._kernel(mu.points, mu))

    def _kernel(self, x: Float[Array, "m d"], mu: AbstractMeasure) -> Kernel:
        kernel = kernel_from(self, x, mu)
        squares = jnp.sum(kernel.keys**2, axis=-1)
        return reweighted(kernel, -kernel.beta / 2 * squares)

    def on_gaussian(self, t: Number, mu: Gaussian) -> Affine:
        """V (I + beta S K^T K)^{-1} (m + beta S K^T Q x)."""
        one = jnp.eye(mu.d, dtype=mu.center.dtype)
        keys = apply(self.K, one, "K")
        S, beta = mu.covariance, self.beta.astype(one.dtype)
        narrowed = one + beta * S @ (keys @ keys.T)
        seen = jnp.column_stack([S @ logit_matrix(self, mu), mu.center])
        seen = jnp.linalg.solve(narrowed, seen)
        return Affine(seen[:, :-1], seen[:, -1]).seen_through(self.V)


class AbstractHard(AbstractHead, AbstractMeanField):
    """The set C_i of the best matches of every token, and attention to it alone."""

    Q: Float[Array, "k d"] | None
    K: Float[Array, "k d"] | None
    V: Float[Array, "d d"] | None
    tie: Float[Array, ""]

    def __init__(
        self,
        Q: Matrix = None,
        K: Matrix = None,
        V: Values = None,
        *,
        tie: Number = 1e-12,
    ):
        self.Q, self.K, self.V = attention_matrices(Q, K, V)
        self.tie = positive("tie", tie, "It is a difference of inner products.")

    def attention_matrix(self, t: Number, mu: Particles) -> Float[Array, "n n"]:
        """w_j over the mass of C_i for j in C_i, else zero."""
        return _best_matches(self, mu.points, mu)


class HardAttention(AbstractHard, init=False):
    """The limit beta -> infinity: the mean over the set of best matches.

    dx_i/dt = P_{x_i} |C_i|^{-1} sum_{j in C_i} V x_j,
    C_i = argmax_j <Q x_i, K x_j>, where a match within `tie` of the best counts.

    On the sphere with Q = K = I every token likes itself best and nothing moves. The
    field is discontinuous, and solutions through ties are not unique; equal masses in
    a tie are averaged. Derivatives are those between jumps: how the time of a jump
    moves is not in them. [geshkovski2023perspective, section 9.3]
    """

    def at(
        self, t: Number, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """The mean of V y over the best matches of x."""
        mean = lambda rows: _best_matches(self, x[rows], mu) @ mu.points  # noqa: E731
        return apply(self.V, by_rows(mean, x.shape[0], mu.n))


class HardRelaxation(AbstractHard, init=False):
    """The zero-temperature limit without layer norm: dz_i/dt = V (mean_{C_i} z - z_i).

    Tokens relax to the hull vertex they follow. [geshkovski2023clusters]
    """

    def at(
        self, t: Number, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """V times the gap between x and its best matches."""
        return apply(self.V, _best_matches(self, x, mu) @ mu.points - x)


def _best_matches(
    field: AbstractHard, x: Float[Array, "m d"], mu: AbstractMeasure
) -> Float[Array, "m n"]:
    """Shares of every point among the tokens that it likes best."""
    match = apply(field.Q, x, "Q") @ apply(field.K, mu.points, "K").T
    tie = field.tie.astype(match.dtype)
    best = match >= match.max(axis=1, keepdims=True) - tie
    masses = jnp.where(best, mu.weights[None, :], 0.0)
    return masses / masses.sum(axis=1, keepdims=True)


class LinearAttention(AbstractHead, AbstractMeanField):
    """Linear attention: dx/dt = P_x [ beta sum_j w_j <Q x, K x_j> V x_j ].

    Without the exponential the sum is a matrix of second moments, and costs O(n).
    [castin2025unified]

    >>> field = LinearAttention(beta=1.0)
    >>> v, g = field(0.0, Particles.orthonormal(Sphere(3), 3))
    """

    beta: Float[Array, ""]
    Q: Float[Array, "k d"] | None
    K: Float[Array, "k d"] | None
    V: Float[Array, "d d"] | Factored | None

    def __init__(
        self, beta: Number = 1.0, Q: Matrix = None, K: Matrix = None, V: Values = None
    ):
        self.beta = inverse_temperature(beta)
        self.Q, self.K, self.V = attention_matrices(Q, K, V, factors=True)

    def at(
        self, t: Number, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """beta <Q x, sum_j w_j K y_j> V y_j."""
        q, k = apply(self.Q, x, "Q"), apply(self.K, mu.points, "K")
        weighted = mu.weights[:, None] * apply(inward(self.V), mu.points)
        return apply(outward(self.V), self.beta.astype(x.dtype) * q @ (k.T @ weighted))

    def on_gaussian(self, t: Number, mu: Gaussian) -> Affine:
        """V M A x with the second moment M = S + m m^T: it needs no more of mu."""
        M = mu.covariance + jnp.outer(mu.center, mu.center)
        seen = Affine(M @ logit_matrix(self, mu), jnp.zeros_like(mu.center))
        return seen.seen_through(self.V)


class Linear(AbstractMeanField):
    """A linear layer: dx/dt = P_x [ W x + b ]. Without `b` it is zero.

    >>> field = Attention(1.0) + Linear(-0.5 * jnp.eye(2))
    """

    W: Float[Array, "d d"]
    b: Float[Array, "d"]

    def __init__(
        self,
        W: Real[ArrayLike, "d d"] | Sequence,
        b: Real[ArrayLike, "d"] | Sequence | None = None,
    ):
        matrix = matrix_or_none("W", W)
        if matrix is None or matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"`W` must be a square matrix, got {W!r}.")
        d = matrix.shape[0]
        self.W, self.b = matrix, jnp.zeros(d) if b is None else as_float_array("b", b)
        check_finite("b", self.b)
        if self.b.shape != (d,):
            raise InputError(f"`b` must have shape ({d},), got {self.b.shape}.")

    def at(
        self, t: Number, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """W x + b; the measure plays no part."""
        return apply(self.W, x, "W") + self.b.astype(x.dtype)[None]

    def on_gaussian(self, t: Number, mu: Gaussian) -> Affine:
        """W x + b."""
        columns = apply(self.W, jnp.eye(mu.d, dtype=mu.center.dtype), "W")
        return Affine(columns.T, self.b.astype(mu.center.dtype))
