"""Flat space, for tokens without layer normalization."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import AnyArray, whole
from pushforward.spaces._space import AbstractSpace, norm


class Euclidean(AbstractSpace):
    """R^d: nothing to project, every vector is tangent."""

    d: int = eqx.field(static=True)

    def __init__(self, d: int):
        self.d = whole("d", d, 1, "It is the dimension of R^d.")

    def project(self, x: Float[AnyArray, "*n d"]) -> Float[AnyArray, "*n d"]:
        """x itself."""
        return x

    def tangent(
        self, x: Float[AnyArray, "*n d"], v: Float[AnyArray, "*n d"]
    ) -> Float[AnyArray, "*n d"]:
        """v itself."""
        return v

    def distance(
        self, x: Float[AnyArray, "*#n d"], y: Float[AnyArray, "*#n d"]
    ) -> Float[AnyArray, "..."]:
        """|x - y|."""
        return norm(x - y)

    def residual(self, x: Float[AnyArray, "*n d"]) -> Float[AnyArray, "*n"]:
        """Zero: every vector is a point."""
        return jnp.zeros_like(x[..., 0])

    def exp(
        self, x: Float[AnyArray, "*n d"], v: Float[AnyArray, "*n d"]
    ) -> Float[AnyArray, "*n d"]:
        """x + v."""
        return x + v

    def log(
        self, x: Float[AnyArray, "*n d"], y: Float[AnyArray, "*n d"]
    ) -> Float[AnyArray, "*n d"]:
        """y - x."""
        return y - x

    def coordinates(
        self, x: Float[AnyArray, "*n d"], v: Float[AnyArray, "*n d"]
    ) -> Float[AnyArray, "*n d"]:
        """v itself."""
        return v

    def vectors(
        self, x: Float[AnyArray, "*n d"], c: Float[Array, "*n d"]
    ) -> Float[AnyArray, "*n d"]:
        """c itself."""
        return c

    def __repr__(self) -> str:
        return f"Euclidean({self.d})  # R^{self.d}"
