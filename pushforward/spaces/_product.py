"""Spaces made of spaces: products, and points together with their velocities."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import AnyArray, listed
from pushforward._printing import short
from pushforward.errors import InputError
from pushforward.spaces._space import AbstractSpace, norm, root


class Product(AbstractSpace):
    """M_1 x ... x M_k: a point is the concatenation of one point of each factor.

    Distances add in squares.

    >>> Product([Sphere(3), Euclidean(2)]).d
    5
    """

    factors: tuple[AbstractSpace, ...]
    d: int = eqx.field(static=True)

    def __init__(self, factors: list[AbstractSpace] | tuple[AbstractSpace, ...]):
        factors = listed("factors", factors, "spaces")
        if not factors or not all(isinstance(f, AbstractSpace) for f in factors):
            raise InputError(
                f"`factors` must be a non-empty list of spaces, got {list(factors)!r}. "
                "For example Product([Sphere(3), Euclidean(2)])."
            )
        self.factors = tuple(factors)
        self.d = sum(f.d for f in factors)

    def split(self, x: Float[AnyArray, "*n d"]) -> list[Float[Array, "*n k"]]:
        """The coordinates of x in each factor."""
        ends, start = [], 0
        for factor in self.factors[:-1]:
            start += factor.d
            ends.append(start)
        return jnp.split(x, ends, axis=-1)

    def project(self, x: Float[AnyArray, "*n d"]) -> Float[AnyArray, "*n d"]:
        """Factor by factor."""
        parts = zip(self.factors, self.split(x), strict=True)
        return jnp.concatenate([f.project(xk) for f, xk in parts], axis=-1)

    def tangent(
        self, x: Float[AnyArray, "*n d"], v: Float[AnyArray, "*n d"]
    ) -> Float[AnyArray, "*n d"]:
        """Factor by factor."""
        parts = zip(self.factors, self.split(x), self.split(v), strict=True)
        return jnp.concatenate([f.tangent(xk, vk) for f, xk, vk in parts], axis=-1)

    def distance(
        self, x: Float[AnyArray, "*#n d"], y: Float[AnyArray, "*#n d"]
    ) -> Float[AnyArray, "..."]:
        """sqrt(sum_k dist_k^2)."""
        parts = zip(self.factors, self.split(x), self.split(y), strict=True)
        return root(jnp.asarray(sum(f.distance(xk, yk) ** 2 for f, xk, yk in parts)))

    def residual(self, x: Float[AnyArray, "*n d"]) -> Float[AnyArray, "*n"]:
        """The largest residual of any factor."""
        parts = zip(self.factors, self.split(x), strict=True)
        return functools.reduce(jnp.maximum, [f.residual(xk) for f, xk in parts])

    def coordinates(
        self, x: Float[AnyArray, "*n d"], v: Float[AnyArray, "*n d"]
    ) -> Float[AnyArray, "*n k"]:
        """Factor by factor."""
        parts = zip(self.factors, self.split(x), self.split(v), strict=True)
        return jnp.concatenate([f.coordinates(xk, vk) for f, xk, vk in parts], axis=-1)

    def vectors(
        self, x: Float[AnyArray, "*n d"], c: Float[Array, "*n k"]
    ) -> Float[AnyArray, "*n d"]:
        """Factor by factor."""
        parts, start = [], 0
        for factor, xk in zip(self.factors, self.split(x), strict=True):
            end = start + jax.eval_shape(factor.coordinates, xk, xk).shape[-1]
            parts.append(factor.vectors(xk, c[..., start:end]))
            start = end
        return jnp.concatenate(parts, axis=-1)

    def __repr__(self) -> str:
        names = ", ".join(short(f) for f in self.factors)
        return f"Product([{names}])"


class TangentBundle(AbstractSpace):
    """All (x, v) with x in a space and v tangent at x, as vectors of length 2 d.

    `project` puts places on the space first and then velocities in their tangent
    spaces: onto the bundle, but not to its nearest point. Distances add in squares: two
    tokens are one where place and velocity agree.

    >>> TangentBundle(Sphere(3)).d
    6
    """

    base: AbstractSpace

    def __init__(self, base: AbstractSpace):
        if not isinstance(base, AbstractSpace):
            raise InputError(f"`base` must be a space such as Sphere(3), got {base!r}.")
        self.base = base

    @property  # type: ignore[misc]
    def d(self) -> int:  # type: ignore[override]
        """Twice that of the base."""
        return 2 * self.base.d

    def split(self, x: Float[AnyArray, "*n d"]) -> list[Float[Array, "*n k"]]:
        """Places and velocities."""
        return jnp.split(x, 2, axis=-1)

    def project(self, x: Float[AnyArray, "*n d"]) -> Float[AnyArray, "*n d"]:
        """The place on the base, and the part of the velocity that is tangent there."""
        place, velocity = self.split(x)
        place = self.base.project(place)
        velocity = self.base.tangent(place, velocity)
        return jnp.concatenate([place, velocity], axis=-1)

    def tangent(
        self, x: Float[AnyArray, "*n d"], v: Float[AnyArray, "*n d"]
    ) -> Float[AnyArray, "*n d"]:
        """The derivative of `project`: on a sphere, v turns with x by -<v, dx> x."""
        return jax.jvp(self.project, (x,), (v,))[1]

    def distance(
        self, x: Float[AnyArray, "*#n d"], y: Float[AnyArray, "*#n d"]
    ) -> Float[AnyArray, "..."]:
        """sqrt(dist^2 + |v - w|^2)."""
        (a, v), (b, w) = self.split(x), self.split(y)
        return root(jnp.asarray(self.base.distance(a, b) ** 2 + norm(v - w) ** 2))

    def residual(self, x: Float[AnyArray, "*n d"]) -> Float[AnyArray, "*n"]:
        """The larger of that of the place, and of the normal part of the velocity."""
        place, velocity = self.split(x)
        normal = norm(velocity - self.base.tangent(place, velocity))
        return jnp.maximum(self.base.residual(place), normal)

    def __repr__(self) -> str:
        return f"TangentBundle({short(self.base)})"
