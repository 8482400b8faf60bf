"""Noise that drives the particles beside the field."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from pushforward._checks import Number, listed, positive
from pushforward._printing import shown
from pushforward.errors import InputError
from pushforward.measures import Particles


class AbstractNoise(eqx.Module):
    """A Stratonovich noise: particles receive P_x (sigma dW).

    A noise of your own implements `increment`. On a density its independent part acts
    as diffusion; its common part, the same for all particles, stays random: a density
    then is the law given that part. What both are there only the noise can say: unless
    it does, densities and Gaussians refuse it.
    """

    __repr__ = shown

    @abc.abstractmethod
    def increment(
        self, key: PRNGKeyArray, h: Number, mu: Particles
    ) -> Float[Array, "n d"]:
        """sigma (W(t + h) - W(t)) for every particle, before projection."""

    def shared(self, key: PRNGKeyArray, h: Number, d: int) -> Float[Array, "d"] | None:
        """The part of the increment that all particles have in common, if any."""
        return self._for_particles_only()

    @property
    def diffusion(self) -> Float[Array, ""] | None:
        """sigma^2 / 2 of the independent part: the factor of the Laplacian."""
        return self._for_particles_only()

    @property
    def common(self) -> Float[Array, ""] | None:
        """sigma of the common part, or None: then a density needs no key."""
        return self._for_particles_only()

    def _for_particles_only(self) -> Any:
        raise InputError(
            f"`noise` must have a form on a measure without particles, got "
            f"{type(self).__name__}, which has none. Use Particles, or Brownian(sigma) "
            "or CommonNoise(sigma); a noise of your own says it by `diffusion`, "
            "`common` and `shared`."
        )

    def __add__(self, other: AbstractNoise) -> NoiseSum:
        return NoiseSum([self, other])


class Brownian(AbstractNoise):
    """Independent Brownian motions: dX_i = v dt + sigma P_{X_i} o dW_i.

    The law has generator (sigma^2 / 2) Laplace-Beltrami; the papers' inverse
    temperature kappa is 2 / sigma^2.
    """

    sigma: Float[Array, ""]

    def __init__(self, sigma: Number):
        self.sigma = positive("sigma", sigma, "For no noise leave `noise` out.")

    def increment(
        self, key: PRNGKeyArray, h: Number, mu: Particles
    ) -> Float[Array, "n d"]:
        """sigma sqrt(h) times independent normal vectors."""
        normal = jax.random.normal(key, mu.points.shape, mu.points.dtype)
        return (self.sigma * jnp.sqrt(h)).astype(normal.dtype) * normal

    def shared(self, key: PRNGKeyArray, h: Number, d: int) -> Float[Array, "d"] | None:
        """None: particles have nothing in common."""
        return None

    @property
    def diffusion(self):
        """sigma^2 / 2."""
        return self.sigma**2 / 2

    @property
    def common(self):
        """None."""
        return None


class CommonNoise(AbstractNoise):
    """One Brownian motion of R^d for all: dX_i = v dt + sigma P_{X_i} o dW.

    Alone, each particle diffuses as under `Brownian(sigma)`, but together they
    approach each other at the rate (d - 1) sigma^2 / 2. Given W, particles of one law
    remain independent in the limit; that conditional law is what a `Density` follows
    under the same key and step. [koubbi2026homogenized]

    >>> noise = Brownian(0.1) + CommonNoise(0.3)
    """

    sigma: Float[Array, ""]

    def __init__(self, sigma: Number):
        self.sigma = positive("sigma", sigma, "For no noise leave `noise` out.")

    def increment(
        self, key: PRNGKeyArray, h: Number, mu: Particles
    ) -> Float[Array, "n d"]:
        """The same vector for every particle: it does not depend on their number."""
        increment = self.shared(key, h, mu.points.shape[-1])
        return jnp.broadcast_to(increment, mu.points.shape).astype(mu.points.dtype)

    def shared(self, key: PRNGKeyArray, h: Number, d: int) -> Float[Array, "d"]:
        """sigma sqrt(h) times one normal vector."""
        return self.sigma * jnp.sqrt(h) * jax.random.normal(key, (d,))

    @property
    def diffusion(self):
        """None: given W there is no diffusion."""
        return None

    @property
    def common(self):
        """sigma."""
        return self.sigma


class NoiseSum(AbstractNoise):
    """Noises that act together, each with a key of its own; `noise + noise` makes one.

    The key of a term depends on its position alone.
    """

    terms: tuple[AbstractNoise, ...]

    def __init__(self, terms: Sequence):
        self.terms = listed("terms", terms, "noises")
        good = all(isinstance(term, AbstractNoise) for term in self.terms)
        if not self.terms or not good:
            raise InputError(
                f"`terms` must be a non-empty list of noises, got {self.terms!r}."
            )

    def increment(self, key: PRNGKeyArray, h: Number, mu: Particles):
        """The sum of the increments."""
        keys = [jax.random.fold_in(key, i) for i in range(len(self.terms))]
        parts = zip(self.terms, keys, strict=True)
        return sum(term.increment(own, h, mu) for term, own in parts)

    def shared(self, key: PRNGKeyArray, h: Number, d: int):
        """The sum of the common parts."""
        keys = [jax.random.fold_in(key, i) for i in range(len(self.terms))]
        parts = zip(self.terms, keys, strict=True)
        return _sum_or_none([term.shared(own, h, d) for term, own in parts])

    @property
    def diffusion(self):
        """Variances add."""
        return _sum_or_none([term.diffusion for term in self.terms])

    @property
    def common(self):
        """Variances add."""
        sigmas = [term.common for term in self.terms]
        total = _sum_or_none([None if s is None else s**2 for s in sigmas])
        return None if total is None else jnp.sqrt(total)


def _sum_or_none(parts: list) -> Array | None:
    present = [part for part in parts if part is not None]
    return sum(present[1:], present[0]) if present else None
