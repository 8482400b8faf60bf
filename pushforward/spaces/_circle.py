"""The unit circle, with its angles."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward.spaces._space import AbstractSpace
from pushforward.spaces._sphere import angle


class Circle(AbstractSpace):
    """The unit circle in R^2: points are (cos theta, sin theta).

    The same set as `Sphere(2)`, plus angles. Fast sums and Fourier densities know it.

    >>> Circle().points(0.0).tolist()
    [1.0, 0.0]
    """

    d: int = eqx.field(static=True, default=2, init=False)

    def project(self, x: Float[Array, "*n 2"]) -> Float[Array, "*n 2"]:
        """x / |x|."""
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    def tangent(
        self, x: Float[Array, "*n 2"], v: Float[Array, "*n 2"]
    ) -> Float[Array, "*n 2"]:
        """P_x v = <x^perp, v> x^perp, which cancels nothing."""
        across = x[..., 0] * v[..., 1] - x[..., 1] * v[..., 0]
        return across[..., None] * jnp.stack([-x[..., 1], x[..., 0]], axis=-1)

    def distance(
        self, x: Float[Array, "*n 2"], y: Float[Array, "*n 2"]
    ) -> Float[Array, "*n"]:
        """The angle between x and y, in [0, pi]."""
        return angle(x, y)

    def residual(self, x: Float[Array, "*n 2"]) -> Float[Array, "*n"]:
        """| |x| - 1 |."""
        return jnp.abs(jnp.linalg.norm(x, axis=-1) - 1.0)

    def angles(self, x: Float[Array, "*n 2"]) -> Float[Array, "*n"]:
        """The angle theta in (-pi, pi] of x = (cos theta, sin theta)."""
        return jnp.arctan2(x[..., 1], x[..., 0])

    def points(self, theta: Float[Array, "*n"] | float) -> Float[Array, "*n 2"]:
        """(cos theta, sin theta)."""
        theta = jnp.asarray(theta)
        return jnp.stack([jnp.cos(theta), jnp.sin(theta)], axis=-1)

    def __repr__(self) -> str:
        return "Circle()  # S^1 in R^2"
