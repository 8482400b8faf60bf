"""Attention by distance: nearby tokens count, whatever their length."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._shapes import Number
from pushforward.fields._affine import Affine, logit_matrix
from pushforward.fields._mean_field import AbstractMeanField
from pushforward.fields.attention._attention import kernel_from, softmax_matrix
from pushforward.fields.attention._head import AbstractAttention
from pushforward.fields.attention._weights import apply, outward
from pushforward.measures import AbstractMeasure, Gaussian, Particles
from pushforward.sums import Kernel, reweighted


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
