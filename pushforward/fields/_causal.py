"""Causal self-attention: token k sees tokens 1, ..., k."""

import jax
import jax.numpy as jnp
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

NO_MASS = -1e30  # a logarithm no real weight has: what sees only such tokens rests


class CausalAttention(AbstractField):
    """Causal self-attention (CSA), the dynamics of a decoder.

    dx_k/dt = P_{x_k} [ (1/Z_k) sum_{j <= k} w_j e^{beta <Q x_k, K x_j>} V x_j ].

    A field of ordered tokens: it has no value "at any x". The first token sees only
    itself; a token before which, and at which, there is no mass sees nothing and stands
    still. [karagodin2024causal]
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
        sees = jax.lax.cummax(mu.log_weights) > -jnp.inf
        # A finite stand-in, so that 0/0 is not met on the way to the zeros below.
        present = mu.moved(mu.points, jnp.where(sees, mu.log_weights, NO_MASS))
        total = self.sums(seen_by_itself(self, present, causal=True))
        others = jnp.where(sees[:, None], total.average(), 0.0)
        own = jnp.where(sees, total.share(), 0.0)
        return own_apart(self.V, others, own, mu)
