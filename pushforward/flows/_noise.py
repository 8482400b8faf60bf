"""Noise that drives the particles beside the field."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from pushforward._checks import positive
from pushforward._printing import shown
from pushforward.measures import Particles


class AbstractNoise(eqx.Module):
    """A Stratonovich noise: particles receive P_x (sigma dW)."""

    __repr__ = shown

    @abc.abstractmethod
    def increment(
        self, key: PRNGKeyArray, h: Float[Array, ""], mu: Particles
    ) -> Float[Array, "n d"]:
        """sigma (W(t + h) - W(t)) for every particle, before projection."""


class Brownian(AbstractNoise):
    """Independent Brownian motions: dX_i = v dt + sigma P_{X_i} o dW_i.

    The law has generator (sigma^2 / 2) Laplace-Beltrami; the papers' inverse
    temperature kappa is 2 / sigma^2.
    """

    sigma: Float[Array, ""]

    def __init__(self, sigma):
        self.sigma = positive("sigma", sigma, "For no noise leave `noise` out.")

    def increment(self, key, h, mu):
        """sigma sqrt(h) times independent normal vectors."""
        normal = jax.random.normal(key, mu.points.shape, mu.points.dtype)
        return (self.sigma * jnp.sqrt(h)).astype(normal.dtype) * normal
