"""The feed-forward sublayer: every token by itself."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Real

from pushforward._checks import (
    Number,
    as_float_array,
    check_finite,
    is_traced,
    matrix_or_none,
)
from pushforward.errors import InputError
from pushforward.fields._mean_field import AbstractMeanField
from pushforward.measures import AbstractMeasure


class Perceptron(AbstractMeanField):
    """One hidden layer: dx/dt = P_x [ W sigma(A x + b) + c ].

    W is (d, h), A is (h, d), b is (h,), the output bias c is (d,); biases left out are
    zero. `activation` is any function of an array.

    >>> field = Perceptron(W=jnp.eye(2), A=jnp.eye(2), b=jnp.zeros(2))
    """

    W: Float[Array, "d h"]
    A: Float[Array, "h d"]
    b: Float[Array, "h"]
    c: Float[Array, "d"] | None
    activation: Callable = eqx.field(static=True)

    def __init__(
        self,
        W: Real[ArrayLike, "d h"] | Sequence,
        A: Real[ArrayLike, "h d"] | Sequence,
        b: Real[ArrayLike, "h"] | Sequence | None = None,
        activation: Callable = jax.nn.relu,
        *,
        c: Real[ArrayLike, "d"] | Sequence | None = None,
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
        self.c = None if c is None else as_float_array("c", c)
        if self.c is not None:
            check_finite("c", self.c)
            if self.c.shape != self.W.shape[:1]:
                raise InputError(
                    f"`c` must have shape ({self.W.shape[0]},), one number per row of "
                    f"`W`, got {self.c.shape}."
                )
        if not callable(activation):
            raise InputError(
                f"`activation` must be a function such as jnp.tanh, got "
                f"{activation!r}. An output bias is given by name, c=..., and last."
            )
        self.activation = activation

    def at(
        self, t: Number, x: Float[Array, "m d"], mu: AbstractMeasure
    ) -> Float[Array, "m d"]:
        """W sigma(A x + b) + c; the measure plays no part."""
        if (self.A.shape[-1], self.W.shape[-2]) != (x.shape[-1],) * 2:
            raise InputError(
                f"`A` and `W` must act on points of dimension {x.shape[-1]}, got "
                f"shapes {self.A.shape} and {self.W.shape}."
            )
        W, A, b = (leaf.astype(x.dtype) for leaf in (self.W, self.A, self.b))
        out = self.activation(x @ A.T + b[None, :]) @ W.T
        return out if self.c is None else out + self.c.astype(x.dtype)[None, :]

    def without_output_bias(self) -> "Perceptron":
        """The same field, its output bias as one more hidden unit that is always on."""
        if self.c is None:
            return self
        on = self.activation(jnp.ones(()))
        if not is_traced(on) and abs(float(on)) < 1e-8:
            raise InputError(
                "`activation` is zero at 1, so that no hidden unit can stand for the "
                "output bias `c`. Use another activation, or no `c`."
            )
        W = jnp.concatenate([self.W, (self.c / on)[:, None]], axis=1)
        A = jnp.concatenate([self.A, jnp.zeros((1, self.A.shape[1]))])
        b = jnp.concatenate([self.b, jnp.ones(1)])
        return Perceptron(W, A, b, self.activation)
