"""Causal self-attention: token k sees tokens 1, ..., k."""

from jaxtyping import Array, Float

from pushforward.fields._attention import (
    attention_matrices,
    inverse_temperature,
    own_apart,
    seen_by_itself,
)
from pushforward.fields._field import AbstractField, Drive
from pushforward.measures import Particles
from pushforward.sums import AbstractSum, Auto


class CausalAttention(AbstractField):
    """Causal self-attention (CSA), the dynamics of a decoder.

    dx_k/dt = P_{x_k} [ (1/Z_k) sum_{j <= k} w_j e^{beta <Q x_k, K x_j>} V x_j ].

    A field of ordered tokens: it has no value "at any x". The first token sees only
    itself. [karagodin2024causal]
    """

    beta: Float[Array, ""]
    Q: Float[Array, "k d"] | None
    K: Float[Array, "k d"] | None
    V: Float[Array, "d d"] | None
    sums: AbstractSum

    def __init__(self, beta, Q=None, K=None, V=None, *, sums: AbstractSum = Auto()):
        self.beta = inverse_temperature(beta)
        self.Q, self.K, self.V = attention_matrices(Q, K, V)
        self.sums = sums

    def drive(self, t, mu: Particles) -> Drive:
        """The softmax average over the past, and the share kept by itself."""
        total = self.sums(seen_by_itself(self, mu, causal=True))
        return own_apart(self.V, total.average(), total.share(), mu)
