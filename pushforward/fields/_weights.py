"""The weights of attention: beta, Q, K, V, and V as a product of two factors."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Real

from pushforward._checks import as_float_array, is_traced, matrix_or_none, scalar
from pushforward._shapes import Number
from pushforward.errors import InputError

# Q and K as callers pass them; None is the identity of R^d.
Matrix: TypeAlias = Real[ArrayLike, "k d"] | Sequence | None


class Factored(eqx.Module):
    """The matrix `out @ inward` of rank k, as a head of a Transformer has it.

    The sum over tokens is then one of vectors of k numbers, which `out` maps back.
    """

    out: Float[Array, "d k"]
    inward: Float[Array, "k d"]

    @property
    def shape(self) -> tuple[int, int]:
        """That of the product."""
        return self.out.shape[0], self.inward.shape[1]


# V as callers pass it, a pair of its factors included.
Values: TypeAlias = Real[ArrayLike, "e d"] | Sequence | Factored | None


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


def inward(V: Float[Array, "_ _"] | Factored | None) -> Float[Array, "_ _"] | None:
    """What is applied to tokens before they are summed."""
    return V.inward if isinstance(V, Factored) else None


def outward(V: Float[Array, "_ _"] | Factored | None) -> Float[Array, "_ _"] | None:
    """What is applied to the sums."""
    return V.out if isinstance(V, Factored) else V


def apply(
    matrix: Float[Array, "k d"] | None, x: Float[Array, "n d"], name: str = "V"
) -> Float[Array, "n k"]:
    """x_i -> M x_i for every row, where None is the identity."""
    if matrix is None:
        return x
    if matrix.shape[-1] != x.shape[-1]:
        raise InputError(
            f"`{name}` must act on points of dimension {x.shape[-1]}, got a matrix of "
            f"shape {matrix.shape}."
        )
    return x @ matrix.T.astype(x.dtype)


def without_matrices(field: Any) -> bool:
    """Whether Q, K and V are the identity, so that no direction is special."""
    return field.Q is None and field.K is None and field.V is None
