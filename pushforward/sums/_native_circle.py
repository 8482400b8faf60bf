"""Fourier modes of tokens on the circle by compiled loops, on a CPU in float64."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from pushforward.sums import _native
from pushforward.sums._circle import (
    GROUP,
    GROUPS,
    Modes,
    coefficients,
    groups_needed,
    moment_series,
)
from pushforward.sums._native_grid import moments as by_grid
from pushforward.sums._transform import AbstractTransform

MOST = GROUP * GROUPS + 2
GRIDS = (9, GROUPS)  # groups of modes; the smaller grids fit into the cache


class NativeModes(AbstractTransform):
    """The transform on the circle, with as many modes as beta asks for."""

    tail: float = eqx.field(static=True)
    limit: float = eqx.field(static=True)

    def evaluate(self, q, k, u, beta):
        """From the modes of every column."""
        count = self._count(beta)
        m = _modes(k, u.T, count)
        a = coefficients(beta)[None, :MOST]
        table = jnp.stack([a * m[:, 0], -a * m[:, 1]], axis=1)
        shape = jax.ShapeDtypeStruct((q.shape[0], u.shape[1]), q.dtype)
        return _native.call("circle_series", shape, q, table, count)

    def error(self, beta, largest):
        """Rounding, for weights that sum to one, and the tail."""
        return Modes(self.tail, self.limit).error(beta, largest)

    def of_points(self, q, k, w, beta):
        """Few modes one after the other, many by a grid."""
        groups, _ = groups_needed(beta, self.tail)
        grids = [partial(by_grid, modes=GROUP * g) for g in GRIDS]
        which = jnp.searchsorted(jnp.asarray([1, *GRIDS]), groups)
        which = jnp.where(jnp.abs(beta) <= self.limit, which, 0)
        found = jax.lax.switch(which, [self._few, *grids], q, k, w, beta)
        return jnp.concatenate([found[0][:, None], found[1]], axis=1)

    def _few(self, q, k, w, beta) -> tuple[Array, Array]:
        """From one set of modes: a total, and a radial and a tangent part."""
        count = self._count(beta)
        real, imaginary = _modes(k, w.T, count)[0]
        series = moment_series(beta, real, imaginary)
        table = jnp.stack([jnp.stack([a, -b]) for a, b in series])
        shapes = [
            jax.ShapeDtypeStruct(shape, q.dtype) for shape in (q.shape[:1], q.shape)
        ]
        return tuple(_native.call("circle_moments", shapes, q, table, count))

    def _count(self, beta) -> Int[Array, ""]:
        # Two modes more, since a moment mixes neighbors and the tail is that of totals.
        count = GROUP * groups_needed(beta, self.tail)[0] + 2
        return jnp.where(jnp.abs(beta) <= self.limit, count, 0).astype(jnp.int32)


def _modes(k: Float[Array, "n 2"], u: Float[Array, "c n"], count) -> Array:
    """Real and imaginary parts of sum_j u_j z_j^k, as (c, 2, k)."""
    shape = jax.ShapeDtypeStruct((u.shape[0], 2, MOST), u.dtype)
    return _native.call("circle_modes", shape, k, u, count)
