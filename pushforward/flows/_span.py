"""When d > n, tokens never leave their span: rotate into it and work in R^n.

With trivial weights the Gram matrix evolves by itself, so the rotated system has the
same trajectories at the cost of dimension n instead of d.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward.fields import (
    AbstractField,
    Attention,
    CausalAttention,
    GradientFlow,
    HardAttention,
    Heads,
    Multiple,
    Sum,
    Switched,
    UnnormalizedAttention,
)
from pushforward.functionals import FunctionalMultiple, FunctionalSum, InteractionEnergy
from pushforward.measures import Particles
from pushforward.spaces import Sphere


def rotate(
    field: AbstractField, mu: Particles
) -> tuple[Particles, Float[Array, "n d"] | None]:
    """mu in coordinates of its span, and the basis that leads back, if useful."""
    if not (
        isinstance(mu.space, Sphere) and 2 <= mu.n < mu.d and depends_on_gram(field)
    ):
        return mu, None
    basis, coordinates = jnp.linalg.qr(mu.points.T)  # X^T = basis R
    reduced = Particles.orthonormal(Sphere(mu.n), mu.n)
    return reduced.moved(coordinates.T, mu.log_weights), basis.T


def rotate_back(
    mu: Particles, original: Particles, basis: Float[Array, "n d"] | None
) -> Particles:
    """The reduced measure in the coordinates of the original."""
    if basis is None:
        return mu
    return original.moved(mu.points @ basis, mu.log_weights)


def depends_on_gram(field: AbstractField) -> bool:
    """Whether velocities are combinations of tokens with Gram-matrix coefficients."""
    if isinstance(
        field, Attention | UnnormalizedAttention | CausalAttention | HardAttention
    ):
        return field.Q is None and field.K is None and field.V is None
    if isinstance(field, Multiple):
        return depends_on_gram(field.field)
    if isinstance(field, Sum | Switched):
        return all(depends_on_gram(f) for f in field.fields)
    if isinstance(field, Heads):
        return all(depends_on_gram(f) for f in field.heads)
    if isinstance(field, GradientFlow):
        return _functional_of_gram(field.F)
    return False


def _functional_of_gram(F) -> bool:
    if isinstance(F, FunctionalMultiple):
        return _functional_of_gram(F.F)
    if isinstance(F, FunctionalSum):
        return all(_functional_of_gram(G) for G in F.terms)
    return isinstance(F, InteractionEnergy)
