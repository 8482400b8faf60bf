"""What a field gives: a drive before projection, and the motion it becomes."""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward.measures import Particles


class Motion(NamedTuple):
    """Velocity of every particle and growth rate of its weight (None: no growth)."""

    v: Float[Array, "n d"]
    g: Float[Array, "n"] | None


class Drive(NamedTuple):
    """What drives every particle before it is made tangent: vector_i + radial_i x_i.

    A multiple of x_i has no tangent part on the sphere; keeping it apart saves the
    digits that its projection would cost. `growth` is the rate at which the logarithm
    of the weight grows. `radial` None means zero; `growth` None means mass is kept.
    """

    vector: Float[Array, "n d"]
    radial: Float[Array, "n"] | None = None
    growth: Float[Array, "n"] | None = None

    def ambient(self, x: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """vector_i + radial_i x_i."""
        if self.radial is None:
            return self.vector
        return self.vector + self.radial[:, None] * x

    def beside_normal(self, mu: Particles) -> Float[Array, "n d"]:
        """The same at mu, without a radial part where that is normal to the space."""
        return self.vector if mu.space.radial_is_normal else self.ambient(mu.points)

    def after(self, m: int) -> "Drive":
        """The drive of all particles but the first m."""
        return Drive(*(None if part is None else part[m:] for part in self))  # type: ignore[arg-type]

    def like(self, points: Float[Array, "n d"]) -> "Drive":
        """In the precision of the tokens: the numbers of a field may have another."""
        parts = (None if p is None else p.astype(points.dtype) for p in self)
        return Drive(*parts)  # type: ignore[arg-type]

    def filled(self) -> "Drive":
        """Zeros instead of None: branches of a switch must return the same shapes."""
        zeros = jnp.zeros_like(self.vector[:, 0])
        radial = zeros if self.radial is None else self.radial
        growth = zeros if self.growth is None else self.growth
        return Drive(self.vector, radial, growth)


def added(drives: Sequence[Drive]) -> Drive:
    """The sum of drives, growth included."""
    vector, radial, growth = (_sum(parts) for parts in zip(*drives, strict=True))
    return Drive(vector, radial, growth)  # type: ignore[arg-type]


def multiplied(c: Float[Array, ""], drive: Drive) -> Drive:
    """c times a drive, growth included."""
    c = c.astype(drive.vector.dtype)
    return Drive(*(None if part is None else c * part for part in drive))  # type: ignore[arg-type]


def divided(drive: Drive, log_unit: Float[Array, ""]) -> Drive:
    """A drive over e^{log_unit}; what is zero stays zero however small the unit."""

    def over(part: Array | None) -> Array | None:
        if part is None:
            return None
        return jnp.where(part == 0, 0.0, part * jnp.exp(-log_unit).astype(part.dtype))

    return Drive(*map(over, drive))  # type: ignore[arg-type]


def added_motions(motions: Sequence[Motion]) -> Motion:
    """The sum of motions, growth included."""
    v, g = (_sum(parts) for parts in zip(*motions, strict=True))
    return Motion(v, g)  # type: ignore[arg-type]


def multiplied_motion(c: Float[Array, ""], motion: Motion) -> Motion:
    """c times a motion, growth included."""
    return Motion(c * motion.v, None if motion.g is None else c * motion.g)


def _sum(parts) -> Array | None:
    present = [part for part in parts if part is not None]
    return sum(present[1:], present[0]) if present else None
