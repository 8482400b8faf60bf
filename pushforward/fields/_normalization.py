"""Where layer normalization sits decides the speed of every token.

Write x_i = r_i theta_i. With the drive A_i(Theta) of a field on the sphere,
d theta_i/dt = (1/s_i) P_{theta_i} A_i, and the scheme is the law of s_i and r_i
[karagodin2025normalization, rigollet2025meanfield]:

| scheme            | s_i             | dr_i/dt                     |
| ----------------- | --------------- | --------------------------- |
| Post-LN           | 1               | 0 (the sphere itself)       |
| Pre-LN            | r_i             | <theta_i, A_i>              |
| Mix-LN            | 1, then r_i     | 0, then <theta_i, A_i>      |
| Peri-LN           | r_i |A_i|       | <theta_i, A_i> / |A_i|      |
| nGPT              | |A_i| / alpha   | 0                           |
| LN-scaling        | sqrt(1 + t)     | 0                           |
| the same with r_i | r_i sqrt(1 + t) | <theta_i, A_i> / sqrt(1+t)  |

LN-scaling as the paper has it is `DepthNorm`, without a radius; `DepthScaledNorm`
divides the push of Pre-LN and keeps the radius, as the architecture does. At the clock
2 (sqrt(1 + t) - 1) the first is Post-LN, the second Pre-LN.

Post-LN is any field on a `Sphere`. The schemes with a moving radius are fields on
`Euclidean(d)`: dx_i/dt is the drive at the directions of the tokens. Weights
follow the growth rate that the field has there.
"""

import abc
from typing import Self

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import Number, positive, scalar
from pushforward.fields._drive import Drive, Motion
from pushforward.fields._field import AbstractField, Rule
from pushforward.measures import AbstractBasis, Particles
from pushforward.spaces import Sphere, norm


class AbstractNormalized(AbstractField):
    """A scheme: the drive of `field` at the normalized tokens, rescaled."""

    field: eqx.AbstractVar[AbstractField]

    @abc.abstractmethod
    def rescale(
        self, t: Number, theta: Float[Array, "n d"], A: Float[Array, "n d"]
    ) -> Float[Array, "n d"]:
        """dx/dt from the directions and the drive A at them."""

    def drive(self, t: Number, mu: Particles) -> Drive:
        """The rescaled drive on every token, and its growth as it is."""
        sphere = Sphere(mu.d)
        theta = sphere.project(mu.points)
        directions = Particles(sphere, theta, None).moved(theta, mu.log_weights)
        drive = self.field.drive(t, directions)
        vector = self.rescale(t, theta, drive.ambient(theta))
        return Drive(vector, growth=drive.growth)

    @property
    def ordered(self) -> bool:
        """Whether the field is."""
        return self.field.ordered

    @property
    def isotropic(self) -> bool:
        """Whether the field is: lengths know no direction."""
        return self.field.isotropic


class PreNorm(AbstractNormalized):
    """Pre-LN: dx/dt = A(theta), so d theta/dt = (1/r) P A; 1 - rho falls like t^-2."""

    field: AbstractField

    def rescale(
        self, t: Number, theta: Float[Array, "n d"], A: Float[Array, "n d"]
    ) -> Float[Array, "n d"]:
        """A."""
        return A


class MixNorm(AbstractNormalized):
    """Mix-LN: Post-LN before the time `switch`, Pre-LN after it."""

    field: AbstractField
    switch: Float[Array, ""]

    def __init__(self, field: AbstractField, switch: Number):
        self.field = field
        self.switch = scalar("switch", switch)

    def rescale(
        self, t: Number, theta: Float[Array, "n d"], A: Float[Array, "n d"]
    ) -> Float[Array, "n d"]:
        """P A before the switch (start on the unit sphere), A after it."""
        tangent = A - jnp.sum(theta * A, axis=-1, keepdims=True) * theta
        return jnp.where(t < self.switch, tangent, A)

    def switch_times(self) -> list[Float[Array, "k"]]:
        """The switch, and the times of its field."""
        return [self.switch[None], *super().switch_times()]

    def before(self, t_end: Float[Array, ""]) -> Self:
        """Post-LN on an interval that ends at the switch, its end included."""
        switch = jnp.where(self.switch >= t_end, jnp.inf, self.switch)
        return eqx.tree_at(lambda f: f.switch, super().before(t_end), switch)


class PeriNorm(AbstractNormalized):
    """Peri-LN: the output of the sublayer is normalized too, dx/dt = A / |A|."""

    field: AbstractField

    def rescale(
        self, t: Number, theta: Float[Array, "n d"], A: Float[Array, "n d"]
    ) -> Float[Array, "n d"]:
        """A / |A|."""
        return _unit(A)


class UnitNorm(AbstractNormalized):
    """nGPT: unit vectors move by alpha P (A / |A|). A field on the sphere."""

    field: AbstractField
    alpha: Float[Array, ""]

    def __init__(self, field: AbstractField, alpha: Number = 1.0):
        self.field = field
        self.alpha = positive("alpha", alpha, "It is a learning rate.")

    def rescale(
        self, t: Number, theta: Float[Array, "n d"], A: Float[Array, "n d"]
    ) -> Float[Array, "n d"]:
        """alpha A / |A|; the sphere makes it tangent."""
        return self.alpha.astype(A.dtype) * _unit(A)


class DepthNorm(AbstractNormalized):
    """LN-scaling of the paper: the speed falls like the square root of the depth.

    d theta/dt = P A / sqrt(1 + t), with no radius: a field on the sphere.
    """

    field: AbstractField

    def rescale(
        self, t: Number, theta: Float[Array, "n d"], A: Float[Array, "n d"]
    ) -> Float[Array, "n d"]:
        """A / sqrt(1 + t); the sphere makes it tangent."""
        return _over_depth(t, A)

    def on_density(self, basis: AbstractBasis) -> Rule:
        """The velocity of the field over sqrt(1 + t), its growth as it is."""
        rule = self.field.on_density(basis)

        def motion(t, rho) -> Motion:
            v, g = rule(t, rho)
            return Motion(_over_depth(t, v), g)

        return motion


class DepthScaledNorm(AbstractNormalized):
    """LN-scaling of the architecture: Pre-LN with the drive over sqrt(1 + t)."""

    field: AbstractField

    def rescale(
        self, t: Number, theta: Float[Array, "n d"], A: Float[Array, "n d"]
    ) -> Float[Array, "n d"]:
        """A / sqrt(1 + t)."""
        return _over_depth(t, A)


def _over_depth(t: Number, A: Float[Array, "n d"]) -> Float[Array, "n d"]:
    return A / jnp.sqrt(1.0 + t).astype(A.dtype)


def _unit(A: Float[Array, "n d"]) -> Float[Array, "n d"]:
    length = norm(A, keepdims=True)
    return A / jnp.where(length > 0, length, 1.0)
