"""Flat space, for tokens without layer normalization."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import whole
from pushforward.spaces._space import AbstractSpace


class Euclidean(AbstractSpace):
    """R^d: nothing to project, every vector is tangent."""

    d: int = eqx.field(static=True)

    def __init__(self, d: int):
        self.d = whole("d", d, 1, "It is the dimension of R^d.")

    def project(self, x: Float[Array, "*n d"]) -> Float[Array, "*n d"]:
        """x itself."""
        return x

    def tangent(
        self, x: Float[Array, "*n d"], v: Float[Array, "*n d"]
    ) -> Float[Array, "*n d"]:
        """v itself."""
        return v

    def distance(
        self, x: Float[Array, "*n d"], y: Float[Array, "*n d"]
    ) -> Float[Array, "*n"]:
        """|x - y|."""
        return jnp.linalg.norm(x - y, axis=-1)

    def residual(self, x: Float[Array, "*n d"]) -> Float[Array, "*n"]:
        """Zero: every vector is a point."""
        return jnp.zeros_like(x[..., 0])

    def exp(
        self, x: Float[Array, "*n d"], v: Float[Array, "*n d"]
    ) -> Float[Array, "*n d"]:
        """x + v."""
        return x + v

    def log(
        self, x: Float[Array, "*n d"], y: Float[Array, "*n d"]
    ) -> Float[Array, "*n d"]:
        """y - x."""
        return y - x

    def __repr__(self) -> str:
        return f"Euclidean({self.d})  # R^{self.d}"
