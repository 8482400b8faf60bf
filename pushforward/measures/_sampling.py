"""Particles drawn from a density.

Which basis belongs to a space.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.measures._basis import AbstractBasis, Fourier
from pushforward.measures._harmonics import Harmonics
from pushforward.measures._zonal import Zonal
from pushforward.spaces import AbstractSpace, Circle, Sphere


def basis_of(space: AbstractSpace | AbstractBasis, resolution: int) -> AbstractBasis:
    """The basis that belongs to a space; a basis is kept at its own resolution."""
    if isinstance(space, AbstractBasis):
        return space
    if isinstance(space, Circle) or (isinstance(space, Sphere) and space.d == 2):
        return Fourier(resolution)
    if isinstance(space, Sphere):
        return Harmonics(resolution) if space.d == 3 else Zonal(space.d, resolution)
    raise InputError(
        f"`space` must be Circle() or a Sphere(d) for a density, got {space!r}. "
        "Elsewhere use Particles."
    )


FINE = 64  # points per mode of the table of the distribution function
MARGIN = 1.05  # the maximum on the grid may lie a little below the true one
BATCH = 2_000_000  # proposals at a time


@functools.singledispatch
def sampled(
    basis: AbstractBasis, c: Float[Array, "j"], key: PRNGKeyArray, n: int
) -> Float[Array, "n d"]:
    """n independent points of the density with coefficients c."""
    raise InputError(
        f"`basis` must be Fourier, Zonal or Harmonics to be sampled, got "
        f"{type(basis).__name__}. Register its rule with `sampled.register`."
    )


@sampled.register
def _(basis: Fourier, c, key, n):
    """The inverse of the distribution function, from a table."""
    n = whole("n", n, 1)
    theta = jnp.linspace(0.0, 2 * np.pi, FINE * basis.resolution + 1)
    rho = basis.at(c, basis.space.points(theta))
    return basis.space.points(_inverse(jax.random.uniform(key, (n,)), theta, rho))


@sampled.register
def _(basis: Zonal, c, key, n):
    """The angle to the axis from a table, the direction about it uniform."""
    n = whole("n", n, 1)
    key_angle, key_direction = jax.random.split(key)
    theta = jnp.linspace(0.0, np.pi, FINE * basis.resolution + 1)
    poles = jnp.zeros((len(theta), basis.d)).at[:, -1].set(jnp.cos(theta))
    rho = basis.at(c, poles) * jnp.sin(theta) ** (basis.d - 2)
    angle = _inverse(jax.random.uniform(key_angle, (n,)), theta, rho)[:, None]
    around = jax.random.normal(key_direction, (n, basis.d - 1))
    around = around / jnp.linalg.norm(around, axis=1, keepdims=True)
    return jnp.concatenate([jnp.sin(angle) * around, jnp.cos(angle)], axis=1)


@sampled.register
def _(basis: Harmonics, c, key, n):
    """Rejection: uniform proposals, kept with probability rho / max rho."""
    n = whole("n", n, 1)
    top = MARGIN * float(jnp.max(basis.values(c)))
    size = min(BATCH, int(1.1 * n * top) + 100)
    kept: list[np.ndarray] = []
    while sum(map(len, kept)) < n:
        key, key_points, key_keep = jax.random.split(key, 3)
        x = basis.space.project(jax.random.normal(key_points, (size, 3)))
        share = jax.random.uniform(key_keep, (size,)) * top
        kept.append(np.asarray(x)[np.asarray(share < basis.at(c, x))])
    return jnp.asarray(np.concatenate(kept)[:n])


def _inverse(u: Float[Array, "n"], t: Float[Array, "g"], rho: Float[Array, "g"]):
    """Quantiles of the density rho on the grid t, by the trapezoidal rule."""
    rho = jnp.maximum(rho, 0.0)
    steps = 0.5 * (rho[1:] + rho[:-1])
    total = jnp.concatenate([jnp.zeros(1), jnp.cumsum(steps)])
    return jnp.interp(u, total / total[-1], t)
