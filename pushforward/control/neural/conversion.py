"""From trained controls to a field that `flow` understands, and back to layers."""

import jax.numpy as jnp

from pushforward.control.neural.families import AbstractFamily
from pushforward.control.neural.trained import Trained
from pushforward.errors import InputError
from pushforward.fields import Perceptron, Switched


def layer_field(family: AbstractFamily, u) -> Perceptron:
    """One layer's control as a `Perceptron`: x' = W sigma(A x + b).

    The outer bias of `WeightsOutside` and `Bottleneck` becomes one more hidden neuron
    that always says sigma(1).
    """
    W, A, b, c = family.matrices(jnp.asarray(u))
    activation = family.activation  # type: ignore[attr-defined]
    one = activation(jnp.ones(()))
    if float(jnp.abs(one)) < 1e-8:
        raise InputError(
            "the activation vanishes at 1, so an outer bias cannot be written as a "
            "hidden neuron; use another activation."
        )
    W = jnp.concatenate([W, (c / one)[:, None]], axis=1)
    A = jnp.concatenate([A, jnp.zeros((1, family.d))])
    b = jnp.concatenate([b, jnp.ones(1)])
    return Perceptron(W, A, b, activation)


def as_field(trained: Trained) -> Switched:
    """The trained network as a field on `Euclidean(d)`, piecewise constant in time.

    `flow(field, mu, horizon, solver=Layers(dt))` repeats a network trained with
    `Euler`; other schemes agree with the exact flow up to their order in dt.
    """
    fields = [layer_field(trained.problem.family, u) for u in trained.controls]
    return Switched(fields, trained.times)
