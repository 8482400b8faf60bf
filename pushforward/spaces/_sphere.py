"""The unit sphere of R^d, where layer-normalized tokens live."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import whole
from pushforward.spaces._space import AbstractSpace


class Sphere(AbstractSpace):
    """The unit sphere of R^d: `Sphere(3)` is S^2.

    >>> Sphere(3)
    Sphere(3)  # S^2 in R^3
    """

    d: int = eqx.field(static=True)

    def __init__(self, d: int):
        self.d = whole(
            "d", d, 2, "It is the ambient dimension: Sphere(3) is S^2 in R^3."
        )

    def project(self, x: Float[Array, "*n d"]) -> Float[Array, "*n d"]:
        """x / |x|."""
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    def tangent(
        self, x: Float[Array, "*n d"], v: Float[Array, "*n d"]
    ) -> Float[Array, "*n d"]:
        """P_x v = v - <x, v> x."""
        return v - jnp.sum(x * v, axis=-1, keepdims=True) * x

    def distance(
        self, x: Float[Array, "*n d"], y: Float[Array, "*n d"]
    ) -> Float[Array, "*n"]:
        """The angle between x and y, accurate at both ends of [0, pi]."""
        return angle(x, y)

    def residual(self, x: Float[Array, "*n d"]) -> Float[Array, "*n"]:
        """| |x| - 1 |."""
        return jnp.abs(jnp.linalg.norm(x, axis=-1) - 1.0)

    def exp(
        self, x: Float[Array, "*n d"], v: Float[Array, "*n d"]
    ) -> Float[Array, "*n d"]:
        """Walk from x along the great circle with initial velocity v for unit time."""
        speed = jnp.linalg.norm(v, axis=-1, keepdims=True)
        return jnp.cos(speed) * x + jnp.sinc(speed / jnp.pi) * v

    def log(
        self, x: Float[Array, "*n d"], y: Float[Array, "*n d"]
    ) -> Float[Array, "*n d"]:
        """The shortest velocity with exp_x(v) = y; undefined (NaN) at the antipode."""
        v = self.tangent(x, y - x)
        length = jnp.linalg.norm(v, axis=-1, keepdims=True)
        theta = angle(x, y)[..., None]
        antipodal = jnp.sum(x * y, axis=-1, keepdims=True) < 0
        scale = jnp.where(length > 0, theta / jnp.where(length > 0, length, 1.0), 1.0)
        return jnp.where((length == 0) & antipodal, jnp.nan, scale * v)

    def __repr__(self) -> str:
        return f"Sphere({self.d})  # S^{self.d - 1} in R^{self.d}"


def angle(x: Float[Array, "*n d"], y: Float[Array, "*n d"]) -> Float[Array, "*n"]:
    """The angle between unit vectors, 2 atan2(|x - y|, |x + y|).

    arccos<x, y> would lose half of the digits near 0 and pi.
    """
    difference = jnp.linalg.norm(x - y, axis=-1)
    return 2.0 * jnp.arctan2(difference, jnp.linalg.norm(x + y, axis=-1))
