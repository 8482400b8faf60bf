"""Attention at infinite beta: each token follows the one it likes best."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import positive
from pushforward._shapes import Number
from pushforward.fields._mean_field import AbstractMeanField
from pushforward.fields.attention._head import (
    AbstractHead,
    Matrix,
    Values,
    attention_matrices,
)
from pushforward.fields.attention._weights import apply
from pushforward.measures import AbstractMeasure, Particles
from pushforward.sums import by_rows


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
