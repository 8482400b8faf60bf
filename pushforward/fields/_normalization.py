"""Where layer normalization sits decides the speed of every token.

Write x_i = r_i theta_i. With the push A_i(Theta) of a field on the sphere,
d theta_i/dt = (1/s_i) P_{theta_i} A_i, and the scheme is the law of s_i and r_i
[karagodin2025normalization, rigollet2025meanfield]:

| scheme            | s_i             | dr_i/dt                     |
| ----------------- | --------------- | --------------------------- |
| Post-LN           | 1               | 0 (the sphere itself)       |
| Pre-LN            | r_i             | <theta_i, A_i>              |
| Mix-LN            | 1, then r_i     | 0, then <theta_i, A_i>      |
| Peri-LN           | r_i |A_i|       | <theta_i, A_i> / |A_i|      |
| nGPT              | |A_i| / alpha   | 0                           |
| LN-scaling        | r_i sqrt(1 + t) | <theta_i, A_i> / sqrt(1+t)  |

Post-LN is any field on a `Sphere`. The schemes with a moving radius are fields on
`Euclidean(d)`: dx_i/dt is the push evaluated at the directions of the tokens.
"""

import abc

import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import positive, scalar
from pushforward.fields._field import AbstractField, Drive
from pushforward.measures import Particles
from pushforward.spaces import Sphere


class AbstractNormalized(AbstractField):
    """A scheme: the push of `field` at the normalized tokens, rescaled."""

    @abc.abstractmethod
    def rescale(
        self, t, theta: Float[Array, "n d"], push: Float[Array, "n d"]
    ) -> Float[Array, "n d"]:
        """dx/dt from the directions and the push at them."""

    @property
    @abc.abstractmethod
    def inner(self) -> AbstractField:
        """The field being normalized."""

    def drive(self, t, mu: Particles) -> Drive:
        """The rescaled push on every token."""
        sphere = Sphere(mu.d)
        theta = sphere.project(mu.points)
        directions = Particles(sphere, theta, None).moved(theta, mu.log_weights)
        drive = self.inner.drive(t, directions)
        along = 0.0 if drive.along is None else drive.along[:, None] * theta
        return Drive(self.rescale(t, theta, drive.across + along))


class PreNorm(AbstractNormalized):
    """Pre-LN: dx/dt = A(theta), so d theta/dt = (1/r) P A; 1 - rho falls like t^-2."""

    field: AbstractField

    @property
    def inner(self) -> AbstractField:
        """The field being normalized."""
        return self.field

    def rescale(self, t, theta, push):
        """A."""
        return push


class MixNorm(AbstractNormalized):
    """Mix-LN: Post-LN before the time `switch`, Pre-LN after it."""

    field: AbstractField
    switch: Float[Array, ""]

    def __init__(self, field: AbstractField, switch):
        self.field = field
        self.switch = scalar("switch", switch)

    @property
    def inner(self) -> AbstractField:
        """The field being normalized."""
        return self.field

    def rescale(self, t, theta, push):
        """P A before the switch (start on the unit sphere), A after it."""
        tangent = push - jnp.sum(theta * push, axis=-1, keepdims=True) * theta
        return jnp.where(t < self.switch, tangent, push)


class PeriNorm(AbstractNormalized):
    """Peri-LN: the output of the sublayer is normalized too, dx/dt = A / |A|."""

    field: AbstractField

    @property
    def inner(self) -> AbstractField:
        """The field being normalized."""
        return self.field

    def rescale(self, t, theta, push):
        """A / |A|."""
        return _unit(push)


class UnitNorm(AbstractNormalized):
    """nGPT: unit vectors move by alpha P (A / |A|). A field on the sphere."""

    field: AbstractField
    alpha: Float[Array, ""]

    def __init__(self, field: AbstractField, alpha=1.0):
        self.field = field
        self.alpha = positive("alpha", alpha, "It is a learning rate.")

    @property
    def inner(self) -> AbstractField:
        """The field being normalized."""
        return self.field

    def rescale(self, t, theta, push):
        """alpha A / |A|; the sphere makes it tangent."""
        return self.alpha * _unit(push)


class DepthScaledNorm(AbstractNormalized):
    """LN-scaling: Pre-LN with the push divided by the square root of the depth."""

    field: AbstractField

    @property
    def inner(self) -> AbstractField:
        """The field being normalized."""
        return self.field

    def rescale(self, t, theta, push):
        """A / sqrt(1 + t)."""
        return push / jnp.sqrt(1.0 + t)


def _unit(push: Float[Array, "n d"]) -> Float[Array, "n d"]:
    norm = jnp.linalg.norm(push, axis=-1, keepdims=True)
    return jnp.where(norm > 0, push / jnp.where(norm > 0, norm, 1.0), 0.0)
