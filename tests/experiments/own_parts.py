"""Parts of an experiment that a user might write, one of every kind."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp

import pushforward as pf
from pushforward.experiments import AbstractStart
from pushforward.fields import AbstractField, Drive
from pushforward.flows import AbstractNoise


class Pull(AbstractField):
    """Toward a target: an array, a number, a static function and a static word."""

    target: jax.Array
    strength: jax.Array
    bend: object = eqx.field(static=True)
    word: str = eqx.field(static=True, default="up")

    def drive(self, t, mu):
        pull = self.bend(self.strength) * self.target
        return Drive(jnp.broadcast_to(pull, mu.points.shape))


class Wrapped(AbstractField):
    """A field inside a field, and plain Python numbers."""

    field: AbstractField
    array: tuple = eqx.field(static=True)
    factor: float = eqx.field(static=True, default=0.5)

    def drive(self, t, mu):
        inner = self.field.drive(t, mu).filled()
        return Drive(self.factor ** self.array[0] * inner.vector)


class Doubled(AbstractField):
    """A constructor that keeps something else under the name of its argument."""

    strength: jax.Array
    bend: object = eqx.field(static=True)

    def __init__(self, strength, bend):
        self.strength, self.bend = 2 * jnp.asarray(strength), bend

    def drive(self, t, mu):
        return Drive(self.bend(self.strength) * mu.points[:, ::-1])


class Shake(AbstractNoise):
    """Independent noise along the first axis alone."""

    sigma: jax.Array

    def increment(self, key, h, mu):
        normal = jax.random.normal(key, mu.points.shape)
        return self.sigma * jnp.sqrt(h) * normal * jnp.eye(mu.d)[:1]

    def shared(self, key, h, d):
        return None

    @property
    def diffusion(self):
        return None

    @property
    def common(self):
        return None


class Arc(AbstractStart):
    """n tokens on a quarter of the circle."""

    n: int = eqx.field(static=True)

    def __call__(self, seed):
        return pf.Particles(
            pf.Circle(), pf.Circle().points(jnp.linspace(0.0, 1.5, self.n))
        )


@dataclasses.dataclass(frozen=True)
class Above:
    """A rule for `until`, and an observable."""

    height: float
    kind: str = "any"

    def __call__(self, mu):
        return jnp.min(mu.points[:, 0]) > self.height


def bent(x):
    """An activation of one's own."""
    return x / (1 + x**2)


def height(mu):
    """An observable."""
    return jnp.mean(mu.points[:, 0])


CLASSES = [Pull, Wrapped, Doubled, Shake, Arc, Above, bent, height]
