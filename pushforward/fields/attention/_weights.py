"""A matrix that acts on tokens: absent, whole, or a product of two factors."""

import equinox as eqx
from jaxtyping import Array, Float

from pushforward.errors import InputError


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
