"""Causal self-attention: token k sees tokens 1, ..., k."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._shapes import Number
from pushforward.fields._affine import Affine, softmax_affine
from pushforward.fields._attention import (
    scaled_softmax,
    self_kernel,
    softmax_matrix,
    with_self,
)
from pushforward.fields._drive import Drive
from pushforward.fields._head import AbstractAttention
from pushforward.measures import Gaussian, Particles
from pushforward.sums import RowScaled

NO_MASS = -1e30  # a logarithm no real weight has: what sees only such tokens rests


class CausalAttention(AbstractAttention, init=False):
    """Causal self-attention (CSA), the dynamics of a decoder.

    dx_k/dt = P_{x_k} [ (1/Z_k) sum_{j <= k} w_j e^{beta <Q x_k, K x_j>} V x_j ].

    A field of ordered tokens: it has no value "at any x". The first token sees only
    itself; a token before which, and at which, there is no mass sees nothing and stands
    still. [karagodin2024causal]
    """

    def drive(self, t: Number, mu: Particles) -> Drive:
        """The softmax average over the past, and the share kept by itself."""
        sees = jax.lax.cummax(mu.log_weights) > -jnp.inf
        # A finite stand-in, so that 0/0 is not met on the way to the zeros below.
        present = mu.moved(mu.points, jnp.where(sees, mu.log_weights, NO_MASS))
        total = self.sums(self_kernel(self, present, causal=True))
        others = jnp.where(sees[:, None], total.average(), 0.0)
        own = jnp.where(sees, total.share(), 0.0)
        return with_self(self.V, others, own, mu)

    def on_gaussian(self, t: Number, mu: Gaussian) -> Affine:
        """That of attention without a mask, for tokens of one law at all positions.

        A long prefix of independent tokens has that law, whichever its length. Tokens
        whose laws differ by position become mixtures: follow them as Particles.
        """
        return softmax_affine(self, mu)

    def scaled_drive(
        self, t: Number, mu: Particles, log_unit: Float[Array, ""]
    ) -> Drive:
        """The same, divided in the exponent."""
        total = RowScaled()(self_kernel(self, mu, causal=True))
        return scaled_softmax(self.V, total, mu, log_unit)

    def attention_matrix(self, t: Number, mu: Particles) -> Float[Array, "n n"]:
        """w_j e^{beta <Q x_k, K x_j>} / Z_k for j <= k, else zero."""
        return softmax_matrix(self_kernel(self, mu, causal=True))
