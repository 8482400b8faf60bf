"""The feed-forward sublayer: every token by itself."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Real

from pushforward._checks import as_float_array, check_finite, matrix_or_none
from pushforward._shapes import Number
from pushforward.errors import InputError
from pushforward.fields._mean_field import AbstractMeanField
from pushforward.measures import AbstractMeasure


class Perceptron(AbstractMeanField):
    """One hidden layer: dx/dt = P_x [ W sigma(A x + b) ].

    W is (d, h), A is (h, d), b is (h,). `activation` is any function of an array.

    >>> field = Perceptron(W=jnp.eye(2), A=jnp.eye(2), b=jnp.zeros(2))
    """

    W: Float[Array, "d h"]
    A: Float[Array, "h d"]
    b: Float[Array, "h"]
    activation: Callable = eqx.field(static=True)

    def __init__(
        self,
        W: Real[ArrayLike, "d h"] | Sequence,
        A: Real[ArrayLike, "h d"] | Sequence,
        b: Real[ArrayLike, "h"] | Sequence | None = None,
        activation: Callable = jax.nn.relu,
    ):
        outer, inner = matrix_or_none("W", W), matrix_or_none("A", A)
        if outer is None or inner is None:
            raise InputError("`W` and `A` must be matrices, got None.")
        self.W, self.A = outer, inner
        h = self.A.shape[0]
        self.b = jnp.zeros(h) if b is None else as_float_array("b", b)
        check_finite("b", self.b)
        if self.W.shape[1] != h or self.b.shape != (h,):
            raise InputError(
                f"`W`, `A`, `b` must have shapes (d, h), (h, d), (h,); got "
                f"{self.W.shape}, {self.A.shape}, {self.b.shape}."
            )
        self.activation = activation

    def at(
        self, t: Number, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """W sigma(A x + b); the measure plays no part."""
        if (self.A.shape[-1], self.W.shape[-2]) != (x.shape[-1],) * 2:
            raise InputError(
                f"`A` and `W` must act on points of dimension {x.shape[-1]}, got "
                f"shapes {self.A.shape} and {self.W.shape}."
            )
        W, A, b = (leaf.astype(x.dtype) for leaf in (self.W, self.A, self.b))
        return self.activation(x @ A.T + b[None, :]) @ W.T
