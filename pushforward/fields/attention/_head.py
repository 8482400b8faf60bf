"""What heads of attention have in common: beta, Q, K, V, and their constructor."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Real

from pushforward._checks import (
    Number,
    as_float_array,
    is_traced,
    matrix_or_none,
    scalar,
)
from pushforward.errors import InputError
from pushforward.fields._drive import Factored
from pushforward.fields._field import AbstractField
from pushforward.sums import AbstractSum, Auto

# Q and K as callers pass them; None is the identity of R^d.
Matrix: TypeAlias = Real[ArrayLike, "k d"] | Sequence | None

# V as callers pass it, a pair of its factors included.
Values: TypeAlias = Real[ArrayLike, "e d"] | Sequence | Factored | None


class AbstractHead(AbstractField):
    """A field with the matrices Q, K, V of a head.

    Type checkers make a constructor of the fields of a class. `init=False` beside the
    bases tells them that it is the inherited one, as it is in Python.
    """

    Q: eqx.AbstractVar[Float[Array, "k d"] | None]
    K: eqx.AbstractVar[Float[Array, "k d"] | None]
    V: eqx.AbstractVar[Float[Array, "d d"] | Factored | None]

    def __init_subclass__(cls, init: bool = True, **options: Any) -> None:
        super().__init_subclass__(**options)

    @property
    def isotropic(self) -> bool:
        """Whether Q, K and V are the identity, so that no direction is special."""
        return self.Q is None and self.K is None and self.V is None


class AbstractAttention(AbstractHead):
    """A head that sums over all pairs at the inverse temperature beta."""

    beta: Float[Array, ""]
    Q: Float[Array, "k d"] | None
    K: Float[Array, "k d"] | None
    V: Float[Array, "d d"] | Factored | None
    sums: AbstractSum

    def __init__(
        self,
        beta: Number,
        Q: Matrix = None,
        K: Matrix = None,
        V: Values = None,
        *,
        sums: AbstractSum = Auto(),
    ):
        self.beta = inverse_temperature(beta)
        self.Q, self.K, self.V = attention_matrices(Q, K, V, factors=True)
        self.sums = sums


def inverse_temperature(beta: Number) -> Float[Array, ""]:
    """beta as an array; infinity has a model of its own."""
    array = as_float_array("beta", beta)
    if not is_traced(array) and jnp.isinf(array).any():
        raise InputError(
            f"`beta` must be finite, got {array}. The limit of infinite beta is "
            "HardAttention()."
        )
    return scalar("beta", array)


def attention_matrices(
    Q: Any,
    K: Any,
    V: Any,
    *,
    factors: bool = False,
) -> tuple[Any, Any, Any]:
    """Q, K, V as arrays of shapes that fit each other; with `factors` V may be two."""
    if factors and isinstance(V, Factored):
        V = (V.out, V.inward)
    if factors and isinstance(V, tuple | list) and len(V) == 2 and np.ndim(V[0]) == 2:
        Q, K, _ = attention_matrices(Q, K, None)
        return Q, K, _factored(*V)
    Q, K, V = (matrix_or_none(n, m) for n, m in (("Q", Q), ("K", K), ("V", V)))
    if Q is not None and K is not None:
        if Q.shape != K.shape:
            raise InputError(
                f"`Q` and `K` must have one shape (k, d), got {Q.shape} and {K.shape}."
            )
        alone = {"V": V}
    else:  # a missing matrix is the identity of R^d
        alone = {"Q": Q, "K": K, "V": V}
    for name, matrix in alone.items():
        if matrix is not None and matrix.shape[0] != matrix.shape[1]:
            raise InputError(
                f"`{name}` must be square, got shape {matrix.shape}. Only Q and K "
                "together may map to another dimension."
            )
    return Q, K, V


def _factored(O: Any, U: Any) -> Factored:
    out, inward = matrix_or_none("V[0]", O), matrix_or_none("V[1]", U)
    assert out is not None and inward is not None
    if out.shape != inward.shape[::-1]:
        raise InputError(
            "`V` as a pair (O, U) must have shapes (d, k) and (k, d), got "
            f"{out.shape} and {inward.shape}."
        )
    return Factored(out, inward)
