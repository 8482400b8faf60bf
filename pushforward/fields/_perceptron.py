"""The feed-forward sublayer: every token by itself."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import as_float_array, check_finite, matrix_or_none
from pushforward.errors import InputError
from pushforward.fields._field import AbstractMeanField, Drive
from pushforward.measures import AbstractMeasure, Particles


class Perceptron(AbstractMeanField):
    """One hidden layer: dx/dt = P_x [ W sigma(A x + b) ].

    W is (d, h), A is (h, d), b is (h,). `activation` is any function of an array.

    >>> Perceptron(W=jnp.eye(2), A=jnp.eye(2), b=jnp.zeros(2))
    """

    W: Float[Array, "d h"]
    A: Float[Array, "h d"]
    b: Float[Array, "h"]
    activation: Callable = eqx.field(static=True)

    def __init__(self, W, A, b=None, activation: Callable = jax.nn.relu):
        W, A = matrix_or_none("W", W), matrix_or_none("A", A)
        if W is None or A is None:
            raise InputError("`W` and `A` must be matrices, got None.")
        self.W, self.A = W, A
        h = self.A.shape[0]
        self.b = jnp.zeros(h) if b is None else as_float_array("b", b)
        check_finite("b", self.b)
        if self.W.shape[1] != h or self.b.shape != (h,):
            raise InputError(
                f"`W`, `A`, `b` must have shapes (d, h), (h, d), (h,); got "
                f"{self.W.shape}, {self.A.shape}, {self.b.shape}."
            )
        self.activation = activation

    def at(self, t, x: Float[Array, "m d"], mu: AbstractMeasure) -> Array:
        """W sigma(A x + b); the measure plays no part."""
        return self.activation(x @ self.A.T + self.b[None, :]) @ self.W.T

    def drive(self, t, mu: Particles) -> Drive:
        """W sigma(A x + b) at every particle."""
        return Drive(self.at(t, mu.points, mu))
