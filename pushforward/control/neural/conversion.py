"""From trained controls to a field that `flow` understands, and back to layers."""

import jax.numpy as jnp

from pushforward.control.neural.families import AbstractFamily
from pushforward.control.neural.trained import Trained
from pushforward.fields import Perceptron, Switched


def layer_field(family: AbstractFamily, u) -> Perceptron:
    """One layer's control as a `Perceptron`: x' = W sigma(A x + b) + c."""
    W, A, b, c = family.matrices(jnp.asarray(u))
    activation = family.activation  # type: ignore[attr-defined]
    return Perceptron(W, A, b, activation, c=c)


def as_field(trained: Trained) -> Switched:
    """The trained network as a field on `Euclidean(d)`, piecewise constant in time.

    `flow(field, mu, horizon, solver=Layers(dt))` repeats a network trained with
    `Euler`; other schemes agree with the exact flow up to their order in dt.
    """
    fields = [layer_field(trained.problem.family, u) for u in trained.controls]
    return Switched(fields, trained.times)
