"""What every space can do: project, make tangent, retract, measure distance.

The length of a vector, with a derivative also where it is zero.
"""

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import AnyArray
from pushforward.errors import InputError


def norm(x: Float[AnyArray, "*n d"], *, keepdims: bool = False) -> Array:
    """|x| along the last axis; its derivative at zero is zero, not 0/0."""
    return root(jnp.sum(x * x, axis=-1, keepdims=keepdims))


def root(square: Float[Array, "..."]) -> Float[AnyArray, "..."]:
    """The square root of a sum of squares; its derivative at zero is zero."""
    some = square > 0
    return jnp.where(some, jnp.sqrt(jnp.where(some, square, 1.0)), 0.0)


class AbstractSpace(eqx.Module):
    """Where points live, as a subset of R^d.

    All methods act on the last axis, so a point `(d,)` and a cloud `(n, d)` are
    treated alike. The point comes first and the vector second, always.
    """

    d: eqx.AbstractVar[int]
    """The ambient dimension: the length of a point."""

    @property
    def radial_is_normal(self) -> bool:
        """Whether every multiple of x is normal to the space at x, as on a sphere."""
        return False

    @abc.abstractmethod
    def project(self, x: Float[AnyArray, "*n d"]) -> Float[AnyArray, "*n d"]:
        """The point of the space nearest to x."""

    @abc.abstractmethod
    def tangent(
        self, x: Float[AnyArray, "*n d"], v: Float[AnyArray, "*n d"]
    ) -> Float[AnyArray, "*n d"]:
        """The part of v that keeps x on the space: P_x v."""

    @abc.abstractmethod
    def distance(
        self, x: Float[AnyArray, "*#n d"], y: Float[AnyArray, "*#n d"]
    ) -> Float[AnyArray, "..."]:
        """Geodesic distance between x and y."""

    @abc.abstractmethod
    def residual(self, x: Float[AnyArray, "*n d"]) -> Float[AnyArray, "*n"]:
        """How far x is from the space; zero on it."""

    def coordinates(
        self, x: Float[AnyArray, "*n d"], v: Float[AnyArray, "*n d"]
    ) -> Float[AnyArray, "*n k"]:
        """A tangent vector at x in an orthonormal basis of the tangent space."""
        raise self._without_coordinates()

    def vectors(
        self, x: Float[AnyArray, "*n d"], c: Float[Array, "*n k"]
    ) -> Float[AnyArray, "*n d"]:
        """The tangent vector at x with these coordinates."""
        raise self._without_coordinates()

    def _without_coordinates(self) -> InputError:
        return InputError(
            f"{type(self).__name__} has no tangent coordinates: give it the methods "
            "`coordinates(x, v)` and `vectors(x, c)`, inverse to each other and "
            "orthonormal."
        )
