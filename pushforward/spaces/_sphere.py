"""The unit sphere of R^d, where layer-normalized tokens live.

The unit circle, with its angles.
"""

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Real

from pushforward._checks import AnyArray, whole
from pushforward.spaces._space import AbstractSpace, norm


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

    @property
    def radial_is_normal(self) -> bool:
        """Yes."""
        return True

    def project(self, x: Float[AnyArray, "*n d"]) -> Float[AnyArray, "*n d"]:
        """x / |x|."""
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    def tangent(
        self, x: Float[AnyArray, "*n d"], v: Float[AnyArray, "*n d"]
    ) -> Float[AnyArray, "*n d"]:
        """P_x v = v - <x, v> x."""
        return v - jnp.sum(x * v, axis=-1, keepdims=True) * x

    def distance(
        self, x: Float[AnyArray, "*#n d"], y: Float[AnyArray, "*#n d"]
    ) -> Float[AnyArray, "..."]:
        """The angle between x and y, accurate at both ends of [0, pi]."""
        return angle(x, y)

    def residual(self, x: Float[AnyArray, "*n d"]) -> Float[AnyArray, "*n"]:
        """| |x| - 1 |."""
        return jnp.abs(jnp.linalg.norm(x, axis=-1) - 1.0)

    def exp(
        self, x: Float[AnyArray, "*n d"], v: Float[AnyArray, "*n d"]
    ) -> Float[AnyArray, "*n d"]:
        """Walk from x along the great circle with initial velocity v for unit time."""
        speed = norm(v, keepdims=True)
        return jnp.cos(speed) * x + jnp.sinc(speed / jnp.pi) * v

    def log(
        self, x: Float[AnyArray, "*n d"], y: Float[AnyArray, "*n d"]
    ) -> Float[AnyArray, "*n d"]:
        """The shortest velocity with exp_x(v) = y; undefined (NaN) at the antipode."""
        v = self.tangent(x, y - x)
        length = norm(v, keepdims=True)
        theta = angle(x, y)[..., None]
        antipodal = jnp.sum(x * y, axis=-1, keepdims=True) < 0
        scale = jnp.where(length > 0, theta / jnp.where(length > 0, length, 1.0), 1.0)
        return jnp.where((length == 0) & antipodal, jnp.nan, scale * v)

    def coordinates(
        self, x: Float[AnyArray, "*n d"], v: Float[AnyArray, "*n d"]
    ) -> Float[AnyArray, "*n k"]:
        """The last d - 1 entries of v, reflected as x is onto the first axis."""
        return _reflected(x, v)[..., 1:]

    def vectors(
        self, x: Float[AnyArray, "*n d"], c: Float[Array, "*n k"]
    ) -> Float[AnyArray, "*n d"]:
        """The reflection back."""
        return _reflected(x, jnp.concatenate([jnp.zeros_like(x[..., :1]), c], axis=-1))

    def __repr__(self) -> str:
        return f"Sphere({self.d})  # S^{self.d - 1} in R^{self.d}"


def _reflected(x: Float[AnyArray, "*n d"], v: Float[AnyArray, "*n d"]) -> Array:
    """v mirrored such that the unit vector x goes to +- e_1 (Householder)."""
    side = jnp.where(x[..., 0] >= 0, 1.0, -1.0).astype(x.dtype)
    u = x.at[..., 0].add(side)  # away from x = side e_1: nothing cancels
    along = jnp.sum(u * v, axis=-1, keepdims=True) / (1 + jnp.abs(x[..., :1]))
    return v - along * u


def angle(
    x: Float[AnyArray, "*#n d"], y: Float[AnyArray, "*#n d"]
) -> Float[AnyArray, "..."]:
    """The angle between unit vectors, 2 atan2(|x - y|, |x + y|).

    arccos<x, y> would lose half of the digits near 0 and pi. Where x = y there is no
    derivative; zero is given.
    """
    return 2.0 * jnp.arctan2(norm(x - y), norm(x + y))


class Circle(AbstractSpace):
    """The unit circle in R^2: points are (cos theta, sin theta).

    The same set as `Sphere(2)`, plus angles. Fast sums and Fourier densities know it.

    >>> Circle().points(0.0).tolist()
    [1.0, 0.0]
    """

    d: int = eqx.field(static=True, default=2, init=False)

    @property
    def radial_is_normal(self) -> bool:
        """Yes."""
        return True

    def project(self, x: Float[AnyArray, "*n 2"]) -> Float[AnyArray, "*n 2"]:
        """x / |x|."""
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    def tangent(
        self, x: Float[AnyArray, "*n 2"], v: Float[AnyArray, "*n 2"]
    ) -> Float[AnyArray, "*n 2"]:
        """P_x v = <x^perp, v> x^perp, which cancels nothing."""
        across = x[..., 0] * v[..., 1] - x[..., 1] * v[..., 0]
        return across[..., None] * jnp.stack([-x[..., 1], x[..., 0]], axis=-1)

    def coordinates(
        self, x: Float[AnyArray, "*n 2"], v: Float[AnyArray, "*n 2"]
    ) -> Float[AnyArray, "*n 1"]:
        """The angular velocity <x^perp, v>."""
        return x[..., :1] * v[..., 1:] - x[..., 1:] * v[..., :1]

    def vectors(
        self, x: Float[AnyArray, "*n 2"], c: Float[Array, "*n 1"]
    ) -> Float[AnyArray, "*n 2"]:
        """c x^perp."""
        return c * jnp.stack([-x[..., 1], x[..., 0]], axis=-1)

    def distance(
        self, x: Float[AnyArray, "*#n 2"], y: Float[AnyArray, "*#n 2"]
    ) -> Float[AnyArray, "..."]:
        """The angle between x and y, in [0, pi]."""
        return angle(x, y)

    def residual(self, x: Float[AnyArray, "*n 2"]) -> Float[AnyArray, "*n"]:
        """| |x| - 1 |."""
        return jnp.abs(jnp.linalg.norm(x, axis=-1) - 1.0)

    def angles(self, x: Float[AnyArray, "*n 2"]) -> Float[AnyArray, "*n"]:
        """The angle theta in (-pi, pi] of x = (cos theta, sin theta)."""
        return jnp.arctan2(x[..., 1], x[..., 0])

    def points(self, theta: Real[ArrayLike, "*n"]) -> Float[AnyArray, "*n 2"]:
        """(cos theta, sin theta)."""
        theta = jnp.asarray(theta)
        return jnp.stack([jnp.cos(theta), jnp.sin(theta)], axis=-1)

    def __repr__(self) -> str:
        return "Circle()  # S^1 in R^2"
