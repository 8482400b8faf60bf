"""Fourier modes of tokens on the circle by compiled loops, on a CPU in float64.

Many modes on the circle by a grid: the cost does not grow with beta.

Weights are spread on a grid by a window phi, transformed and divided by the transform
Phi of the window; a series goes the other way. With the window
phi(x) = e^{36.8 (sqrt(1 - (x / 8)^2) - 1)} of 16 points and twice as many points as
modes, rounding is what is left of the error.
"""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from numpy.polynomial import chebyshev

from pushforward.sums import _native
from pushforward.sums.modes._circle import (
    GROUP,
    GROUPS,
    AbstractModes,
    coefficients,
    groups_needed,
    moment_series,
)

HALF = 8  # points of the grid that the window reaches to each side
SHARPNESS = 2.3 * 2 * HALF  # least error at two points to a mode
TERMS = 7  # of the polynomials of the window: 1e-16; also in native/grid.cc


def moments(
    q: Float[Array, "m 2"],
    k: Float[Array, "n 2"],
    w: Float[Array, "n 1"],
    beta: Float[Array, ""],
    modes: int,
) -> tuple[Float[Array, "m"], Float[Array, "m 2"]]:
    """sum_j w_j e^{beta cos(theta - theta_j) - |beta|} (1, k_j)."""
    table, transform = (
        jnp.asarray(window_polynomials()),
        jnp.asarray(transformed(modes)),
    )
    grid = 4 * modes
    shape = jax.ShapeDtypeStruct((grid,), q.dtype)
    spread = _native.compiled_call("circle_spread", shape, k, w[:, 0], table)
    found = jnp.fft.rfft(spread)[:modes]
    series = moment_series(beta, found.real / transform, -found.imag / transform)
    a, b = (jnp.stack(parts) for parts in zip(*series, strict=True))
    halves = jnp.where(jnp.arange(modes) == 0, 1.0, 0.5)
    scale = (grid * halves / transform)[None, :]
    spectrum = jax.lax.complex(a * scale, -b * scale)
    functions = jnp.fft.irfft(spectrum, n=grid, axis=1)
    shapes = [jax.ShapeDtypeStruct(shape, q.dtype) for shape in (q.shape[:1], q.shape)]
    return tuple(_native.compiled_call("circle_gather", shapes, q, functions, table))


def window(x: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """phi at a distance of x points, without a difference of near numbers."""
    square = np.minimum((x / HALF) ** 2, 1)
    return np.exp(-SHARPNESS * square / (1 + np.sqrt(1 - square)))


@cache
def window_polynomials() -> np.ndarray:
    """phi(m - 8 + (s + 1) / 2) = E_m(s^2) + s O_m(s^2) for m < 8, as (2, terms, 8).

    Interpolated at Chebyshev points, and what is left once more, since powers of s are
    ill conditioned; highest power first.
    """
    count = 2 * TERMS
    s = np.cos(np.pi * (np.arange(count) + 0.5) / count)
    values = window(np.arange(HALF)[None, :] - HALF + (s[:, None] + 1) / 2)
    powers = np.zeros((count, HALF))
    for _ in range(2):
        left = values - np.polynomial.polynomial.polyval(s, powers).T
        fit = 2 / count * chebyshev.chebvander(s, count - 1).T @ left
        fit[0] /= 2
        powers += np.stack([chebyshev.cheb2poly(c) for c in fit.T], axis=1)
    return np.stack([powers[0::2][::-1], powers[1::2][::-1]])


@cache
def transformed(modes: int) -> Float[np.ndarray, "k"]:
    """Phi_k = int phi(x) cos(2 pi k x / grid) dx for every mode.

    The trapezoidal rule is exact: the window ends at 1e-16.
    """
    x = np.arange(-8 * HALF, 8 * HALF + 1) / 8
    phase = np.pi / (2 * modes) * np.arange(modes)[:, None] * x[None, :]
    return np.cos(phase) @ window(x) / 8


MOST = GROUP * GROUPS + 2
GRIDS = (9, GROUPS)  # groups of modes; the smaller grids fit into the cache


class NativeModes(AbstractModes):
    """The transform on the circle, with as many modes as beta asks for."""

    def evaluate(
        self,
        q: Float[Array, "m d"],
        k: Float[Array, "n d"],
        u: Float[Array, "n c"],
        beta: Float[Array, ""],
    ) -> Float[Array, "m c"]:
        """From the modes of every column."""
        count = self._count(beta)
        m = _modes(k, u.T, count)
        a = coefficients(beta)[None, :MOST]
        table = jnp.stack([a * m[:, 0], -a * m[:, 1]], axis=1)
        shape = jax.ShapeDtypeStruct((q.shape[0], u.shape[1]), q.dtype)
        return _native.compiled_call("circle_series", shape, q, table, count)

    def of_points(
        self,
        q: Float[Array, "m d"],
        k: Float[Array, "n d"],
        w: Float[Array, "n 1"],
        beta: Float[Array, ""],
    ) -> Float[Array, "m e"]:
        """Few modes one after the other, many by a grid."""
        groups, _ = groups_needed(beta, self.tail)
        grids = [partial(moments, modes=GROUP * g) for g in GRIDS]
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
        return tuple(_native.compiled_call("circle_moments", shapes, q, table, count))

    def _count(self, beta) -> Int[Array, ""]:
        # Two modes more, since a moment mixes neighbors and the tail is that of totals.
        count = GROUP * groups_needed(beta, self.tail)[0] + 2
        return jnp.where(jnp.abs(beta) <= self.limit, count, 0).astype(jnp.int32)


def _modes(k: Float[Array, "n 2"], u: Float[Array, "c n"], count) -> Array:
    """Real and imaginary parts of sum_j u_j z_j^k, as (c, 2, k)."""
    shape = jax.ShapeDtypeStruct((u.shape[0], 2, MOST), u.dtype)
    return _native.compiled_call("circle_modes", shape, k, u, count)
