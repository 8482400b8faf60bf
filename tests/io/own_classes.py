"""Classes and functions that a user might write; test_own_classes.py stores them."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp

import pushforward as pf
from pushforward.fields import AbstractField, Drive
from pushforward.flows import AbstractNoise


class Pull(AbstractField):
    """Toward a target, with a strength that is an array and a shape that is not."""

    target: jax.Array
    strength: jax.Array
    bend: object = eqx.field(static=True)

    def drive(self, t, mu):
        pull = self.bend(self.strength) * self.target
        return Drive(jnp.broadcast_to(pull, mu.points.shape))


class Doubled(AbstractField):
    """A constructor that keeps something else under the name of its argument."""

    strength: jax.Array
    powers: tuple = eqx.field(static=True)

    def __init__(self, strength, powers=(1, 2)):
        self.strength = 2 * jnp.asarray(strength)
        self.powers = powers

    def drive(self, t, mu):
        return Drive(self.strength * mu.points[:, ::-1] ** self.powers[1])


class Shake(AbstractNoise):
    """Independent noise along the first axis alone."""

    sigma: jax.Array

    def increment(self, key, h, mu):
        normal = jax.random.normal(key, mu.points.shape) * jnp.array([[1.0, 0, 0]])
        return self.sigma * jnp.sqrt(h) * normal


@dataclasses.dataclass(frozen=True)
class Above:
    """A rule for `until`, and an observable."""

    height: float

    def __call__(self, mu):
        return jnp.min(mu.points[:, 2]) > self.height


def bent(x):
    """An activation of one's own."""
    return x / (1 + x**2)


def relu(x):
    """Not jax.nn.relu, whatever its name."""
    return jnp.maximum(x, 0.0) ** 2


def height(mu):
    """An observable."""
    return jnp.mean(mu.points[:, 2])


CLASSES = [Pull, Doubled, Shake, Above, bent, relu, height]
NORTH = jnp.array([0.0, 0.0, 1.0])


def pull():
    return Pull(NORTH, jnp.asarray(0.7), bent) + pf.Attention(1.0)
