"""What every space can do: project, make tangent, retract, measure distance."""

import abc

import equinox as eqx
from jaxtyping import Array, Float


class AbstractSpace(eqx.Module):
    """Where points live, as a subset of R^d.

    All methods act on the last axis, so a point `(d,)` and a cloud `(n, d)` are
    treated alike. The point comes first and the vector second, always.
    """

    d: eqx.AbstractVar[int]
    """The ambient dimension: the length of a point."""

    @abc.abstractmethod
    def project(self, x: Float[Array, "*n d"]) -> Float[Array, "*n d"]:
        """The point of the space nearest to x."""

    @abc.abstractmethod
    def tangent(
        self, x: Float[Array, "*n d"], v: Float[Array, "*n d"]
    ) -> Float[Array, "*n d"]:
        """The part of v that keeps x on the space: P_x v."""

    @abc.abstractmethod
    def distance(
        self, x: Float[Array, "*n d"], y: Float[Array, "*n d"]
    ) -> Float[Array, "*n"]:
        """Geodesic distance between x and y."""

    @abc.abstractmethod
    def residual(self, x: Float[Array, "*n d"]) -> Float[Array, "*n"]:
        """How far x is from the space; zero on it."""
