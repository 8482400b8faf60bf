"""Attention at infinite beta: each token follows the one it likes best."""

from jaxtyping import Array, Float

from pushforward._checks import matrix_or_none, positive
from pushforward.fields._attention import apply
from pushforward.fields._field import AbstractMeanField, Drive
from pushforward.measures import AbstractMeasure, Particles


class HardAttention(AbstractMeanField):
    """The limit beta -> infinity: the mean over the set of best matches.

    dx_i/dt = P_{x_i} |C_i|^{-1} sum_{j in C_i} V x_j,
    C_i = argmax_j <Q x_i, K x_j>, where a match within `tie` of the best counts.

    On the sphere with Q = K = I every token likes itself best and nothing moves. The
    field is discontinuous, and solutions through ties are not unique; equal masses in
    a tie are averaged. [geshkovski2023perspective, section 9.3]
    """

    Q: Float[Array, "k d"] | None
    K: Float[Array, "k d"] | None
    V: Float[Array, "d d"] | None
    tie: Float[Array, ""]

    def __init__(self, Q=None, K=None, V=None, *, tie=1e-12):
        self.Q = matrix_or_none("Q", Q)
        self.K = matrix_or_none("K", K)
        self.V = matrix_or_none("V", V)
        self.tie = positive("tie", tie, "It is a difference of inner products.")

    def at(self, t, x: Float[Array, "m d"], mu: AbstractMeasure) -> Array:
        """The mean of V y over the best matches of x."""
        match = apply(self.Q, x) @ apply(self.K, mu.points).T
        best = match >= match.max(axis=1, keepdims=True) - self.tie
        weights = best * mu.weights[None, :]
        mean = (weights @ mu.points) / weights.sum(axis=1, keepdims=True)
        return apply(self.V, mean)

    def drive(self, t, mu: Particles) -> Drive:
        """The mean over the best matches of every particle."""
        return Drive(self.at(t, mu.points, mu))


class HardRelaxation(AbstractMeanField):
    """The zero-temperature limit without layer norm: dz_i/dt = V (mean_{C_i} z - z_i).

    Tokens relax to the hull vertex they follow. [geshkovski2023clusters]
    """

    Q: Float[Array, "k d"] | None
    K: Float[Array, "k d"] | None
    V: Float[Array, "d d"] | None
    tie: Float[Array, ""]

    def __init__(self, Q=None, K=None, V=None, *, tie=1e-12):
        self.Q = matrix_or_none("Q", Q)
        self.K = matrix_or_none("K", K)
        self.V = matrix_or_none("V", V)
        self.tie = positive("tie", tie, "It is a difference of inner products.")

    def at(self, t, x: Float[Array, "m d"], mu: AbstractMeasure) -> Array:
        """V times the gap between x and its best matches."""
        hard = HardAttention(self.Q, self.K, self.V, tie=self.tie)
        return hard.at(t, x, mu) - apply(self.V, x)

    def drive(self, t, mu: Particles) -> Drive:
        """The gap at every particle."""
        return Drive(self.at(t, mu.points, mu))
