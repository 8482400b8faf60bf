"""Points with velocities: where motions of second order live."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._printing import short
from pushforward._shapes import AnyArray
from pushforward.errors import InputError
from pushforward.spaces._space import AbstractSpace, norm, root


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
