"""Fields that are linear in the token: linear attention, and a linear layer."""

from collections.abc import Sequence

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Real

from pushforward._checks import as_float_array, check_finite, matrix_or_none
from pushforward._shapes import Number
from pushforward.errors import InputError
from pushforward.fields._affine import Affine, logit_matrix
from pushforward.fields._mean_field import AbstractMeanField
from pushforward.fields.attention._head import (
    AbstractHead,
    Matrix,
    Values,
    attention_matrices,
    inverse_temperature,
)
from pushforward.fields.attention._weights import Factored, apply, inward, outward
from pushforward.measures import AbstractMeasure, Gaussian


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
