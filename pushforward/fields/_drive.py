"""What a field gives: a drive before projection, the motion it becomes, an affine
velocity on a Gaussian; and the matrices that act on tokens.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward._checks import Number
from pushforward.errors import InputError
from pushforward.measures import Gaussian, Particles


class Motion(NamedTuple):
    """Velocity of every particle and growth rate of its weight (None: no growth)."""

    v: Float[Array, "n d"]
    g: Float[Array, "n"] | None


class Drive(NamedTuple):
    """What drives every particle before it is made tangent: vector_i + radial_i x_i.

    A multiple of x_i has no tangent part on the sphere; keeping it apart saves the
    digits that its projection would cost. `growth` is the rate at which the logarithm
    of the weight grows. `radial` None means zero; `growth` None means mass is kept.
    """

    vector: Float[Array, "n d"]
    radial: Float[Array, "n"] | None = None
    growth: Float[Array, "n"] | None = None

    def ambient(self, x: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """vector_i + radial_i x_i."""
        if self.radial is None:
            return self.vector
        return self.vector + self.radial[:, None] * x

    def beside_normal(self, mu: Particles) -> Float[Array, "n d"]:
        """The same at mu, without a radial part where that is normal to the space."""
        return self.vector if mu.space.radial_is_normal else self.ambient(mu.points)

    def after(self, m: int) -> "Drive":
        """The drive of all particles but the first m."""
        return Drive(*(None if part is None else part[m:] for part in self))  # type: ignore[arg-type]

    def like(self, points: Float[Array, "n d"]) -> "Drive":
        """In the precision of the tokens: the numbers of a field may have another."""
        parts = (None if p is None else p.astype(points.dtype) for p in self)
        return Drive(*parts)  # type: ignore[arg-type]

    def filled(self) -> "Drive":
        """Zeros instead of None: branches of a switch must return the same shapes."""
        zeros = jnp.zeros_like(self.vector[:, 0])
        radial = zeros if self.radial is None else self.radial
        growth = zeros if self.growth is None else self.growth
        return Drive(self.vector, radial, growth)


def added(drives: Sequence[Drive]) -> Drive:
    """The sum of drives, growth included."""
    vector, radial, growth = (_sum(parts) for parts in zip(*drives, strict=True))
    return Drive(vector, radial, growth)  # type: ignore[arg-type]


def multiplied(c: Float[Array, ""], drive: Drive) -> Drive:
    """c times a drive, growth included."""
    c = c.astype(drive.vector.dtype)
    return Drive(*(None if part is None else c * part for part in drive))  # type: ignore[arg-type]


def divided(drive: Drive, log_unit: Float[Array, ""]) -> Drive:
    """A drive over e^{log_unit}; what is zero stays zero however small the unit."""

    def over(part: Array | None) -> Array | None:
        if part is None:
            return None
        return jnp.where(part == 0, 0.0, part * jnp.exp(-log_unit).astype(part.dtype))

    return Drive(*map(over, drive))  # type: ignore[arg-type]


def added_motions(motions: Sequence[Motion]) -> Motion:
    """The sum of motions, growth included."""
    v, g = (_sum(parts) for parts in zip(*motions, strict=True))
    return Motion(v, g)  # type: ignore[arg-type]


def multiplied_motion(c: Float[Array, ""], motion: Motion) -> Motion:
    """c times a motion, growth included."""
    return Motion(c * motion.v, None if motion.g is None else c * motion.g)


def _sum(parts) -> Array | None:
    present = [part for part in parts if part is not None]
    return sum(present[1:], present[0]) if present else None


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
