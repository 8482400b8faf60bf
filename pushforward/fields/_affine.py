"""What a field is on a Gaussian: an affine velocity, which keeps it Gaussian.

Under dx/dt = B x + c the law N(m, F F^T) has dm/dt = B m + c and dF/dt = B F, exactly.
A Gaussian tilted by a linear exponent keeps its covariance, so that softmax attention
is affine there: v(x) = V (m + S A x) with A = beta K^T Q.
[castin2025unified, alcalde2026gaussian]
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._shapes import Number
from pushforward.fields._drive import Drive, Motion
from pushforward.fields.attention._weights import Factored, apply, inward, outward
from pushforward.measures import Gaussian


class Affine(NamedTuple):
    """The velocity x -> matrix x + shift."""

    matrix: Float[Array, "d d"]
    shift: Float[Array, "d"]

    def seen_through(self, V: Float[Array, "e d"] | Factored | None) -> "Affine":
        """x -> V (matrix x + shift)."""
        rows = jnp.concatenate([self.matrix.T, self.shift[None]])
        rows = apply(outward(V), apply(inward(V), rows))
        return Affine(rows[:-1].T, rows[-1])

    def times(self, c: Float[Array, ""]) -> "Affine":
        """c times the velocity."""
        c = c.astype(self.matrix.dtype)
        return Affine(c * self.matrix, c * self.shift)


class GaussianRule(eqx.Module):
    """A field as a rule for the center of a Gaussian and the columns of its factor."""

    field: Any

    def __call__(self, t: Number, mu: Gaussian) -> Motion:
        """dm/dt = B m + c, and dF/dt = B F, in rows."""
        B, c = self.field.on_gaussian(t, mu)
        rows = mu.state @ B.T
        return Motion(rows.at[0].add(c), None)

    def drive(self, t: Number, mu: Gaussian) -> Drive:
        """The same: nothing is projected in R^d."""
        return Drive(self(t, mu).v)

    def sublayers(self) -> tuple["GaussianRule", ...]:
        """Those of the field, one after the other."""
        return tuple(GaussianRule(layer) for layer in self.field.sublayers())


def added_affine(parts: Sequence[Affine]) -> Affine:
    """The sum of velocities."""
    first, *others = parts
    for part in others:
        first = Affine(first.matrix + part.matrix, first.shift + part.shift)
    return first


def logit_matrix(field: Any, mu: Gaussian) -> Float[Array, "d d"]:
    """A = beta K^T Q, with which the logits are <A x, y>."""
    one = jnp.eye(mu.d, dtype=mu.center.dtype)
    keys, queries = apply(field.K, one, "K"), apply(field.Q, one, "Q")
    return field.beta.astype(one.dtype) * keys @ queries.T


def softmax_affine(field: Any, mu: Gaussian) -> Affine:
    """V (m + S A x): the mean of the Gaussian tilted by e^{<A x, y>}."""
    seen = Affine(mu.covariance @ logit_matrix(field, mu), mu.center)
    return seen.seen_through(field.V)
