"""Fields on densities: the velocity on a grid, from modes where the kernel allows it.

`on_density(field, basis)` computes once what depends on the field alone and returns
the rule (t, rho) -> Motion on the grid, with velocities in the frame of the basis. A
field that is not known here is evaluated with the grid as weighted particles.
"""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pushforward.errors import InputError
from pushforward.fields._attention import Attention, UnnormalizedAttention
from pushforward.fields._field import (
    AbstractField,
    AbstractMeanField,
    Motion,
    Multiple,
    Sum,
)
from pushforward.fields._gradient import GradientFlow
from pushforward.fields._heads import Heads
from pushforward.fields._switched import Switched
from pushforward.functionals import (
    AbstractFunctional,
    FunctionalMultiple,
    FunctionalSum,
    InteractionEnergy,
    Wasserstein,
)
from pushforward.measures import AbstractBasis, Density, Zonal
from pushforward.sums import kernel_modes

Rule = Callable[..., Motion]
FLOOR = 1e-13  # below this share of its maximum, Z is rounding: no mass sees it


@functools.singledispatch
def on_density(field: AbstractField, basis: AbstractBasis) -> Rule:
    """The rule (t, rho) -> Motion on the grid of the basis."""
    raise InputError(
        f"`field` must be a mean field on a density, got {type(field).__name__}: it "
        "has a value at its tokens only. Use Particles, for example rho.sample(key, n)."
    )


@on_density.register
def _(field: AbstractMeanField, basis):
    if isinstance(basis, Zonal):
        raise InputError(
            f"`field` must keep a zonal density zonal, got {field!r}: only attention "
            "without Q, K, V and flows of InteractionEnergy are known to. Use "
            "Density.uniform(Sphere(3), resolution), or Particles."
        )
    points, frame = jnp.asarray(basis.points), jnp.asarray(basis.frame)

    def motion(t, rho: Density) -> Motion:
        mu = rho.quadrature()
        push = field.at(t, points, mu)
        growth = None
        if isinstance(field, GradientFlow):
            growth = field.metric.growth(field.F, mu)
        return Motion(jnp.einsum("nqd,nd->nq", frame, push), growth)

    return motion


@on_density.register
def _(field: Attention, basis):
    """grad Z / (beta Z)."""
    if not _plain(field):
        return on_density.dispatch(AbstractMeanField)(field, basis)
    total, slope = kernel_modes(field.beta, basis)

    def motion(t, rho: Density) -> Motion:
        Z = basis.values(total * rho.coefficients)
        Z = jnp.maximum(Z, FLOOR * jnp.max(Z))
        return Motion(basis.gradient(slope * rho.coefficients) / Z[:, None], None)

    return motion


@on_density.register
def _(field: UnnormalizedAttention, basis):
    """grad Z / beta."""
    if not _plain(field):
        return on_density.dispatch(AbstractMeanField)(field, basis)
    _, slope = kernel_modes(field.beta, basis)
    scale = jnp.exp(field.log_scale + jnp.abs(field.beta))
    return lambda t, rho: Motion(basis.gradient(scale * slope * rho.coefficients), None)


@on_density.register
def _(field: GradientFlow, basis):
    """-grad dF/dmu, where the variation is known by modes."""
    parts = _variation(field.F, basis)
    if parts is None or not isinstance(field.metric, Wasserstein):
        return on_density.dispatch(AbstractMeanField)(field, basis)
    return lambda t, rho: Motion(-basis.gradient(parts * rho.coefficients), None)


@on_density.register
def _(field: Multiple, basis):
    inner = on_density(field.field, basis)

    def motion(t, rho: Density) -> Motion:
        v, g = inner(t, rho)
        return Motion(field.c * v, None if g is None else field.c * g)

    return motion


@on_density.register
def _(field: Sum, basis):
    return _added([on_density(part, basis) for part in field.fields])


@on_density.register
def _(field: Heads, basis):
    return _added([on_density(head, basis) for head in field.heads])


@on_density.register
def _(field: Switched, basis):
    rules = [on_density(part, basis) for part in field.fields]

    def motion(t, rho: Density) -> Motion:
        k = jnp.searchsorted(field.times, t, side="right") - 1
        inside = (k >= 0) & (k < len(rules))
        branches = [lambda rule=rule: _filled(rule(t, rho)) for rule in rules]
        v, g = jax.lax.switch(jnp.clip(k, 0, len(rules) - 1), branches)
        return Motion(jnp.where(inside, v, 0.0), jnp.where(inside, g, 0.0))

    return motion


def _plain(field) -> bool:
    return field.Q is None and field.K is None and field.V is None


def _added(rules: list[Rule]) -> Rule:
    def motion(t, rho: Density) -> Motion:
        motions = [rule(t, rho) for rule in rules]
        growths = [g for _, g in motions if g is not None]
        v = sum((v for v, _ in motions[1:]), motions[0].v)
        return Motion(v, sum(growths[1:], growths[0]) if growths else None)

    return motion


def _filled(motion: Motion) -> Motion:
    """Zeros instead of None: branches of a switch must return the same shapes."""
    v, g = motion
    return Motion(v, jnp.zeros(v.shape[0]) if g is None else g)


@functools.singledispatch
def _variation(F: AbstractFunctional, basis) -> Float[Array, "j"] | None:
    """m with dF/dmu = sum_j m_j c_j phi_j, or None where there is no such m."""
    return None


@_variation.register
def _(F: InteractionEnergy, basis):
    return 2 * kernel_modes(F.beta, basis)[0]


@_variation.register
def _(F: FunctionalMultiple, basis):
    inner = _variation(F.F, basis)
    return None if inner is None else F.c * inner


@_variation.register
def _(F: FunctionalSum, basis):
    parts = [_variation(term, basis) for term in F.terms]
    if any(part is None for part in parts):
        return None
    return sum(parts)
