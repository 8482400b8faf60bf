"""Gegenbauer polynomials: densities that depend on one coordinate of the sphere."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.measures._basis import AbstractBasis
from pushforward.spaces import Sphere


class Zonal(AbstractBasis):
    """sqrt(N_k) P_k(s), s the last coordinate, on the unit sphere of R^d for any d.

    P_k is the Gegenbauer polynomial with P_k(1) = 1 and N_k the number of harmonics of
    degree k. Measures are those that rotations about the last axis leave alone; the
    mode is int P_k(s) dmu.

    The grid lies on one meridian: it integrates functions of s only.

    >>> Zonal(8, 32)
    Zonal(d=8, resolution=32)
    """

    d: int = eqx.field(static=True)
    resolution: int = eqx.field(static=True)

    def __init__(self, d: int, resolution: int):
        self.d = whole("d", d, 2, "It is the ambient dimension.")
        self.resolution = whole("resolution", resolution, 1, "It is the degree.")

    @property
    def space(self):
        """The sphere of R^d."""
        return Sphere(self.d)

    @property
    def degrees(self):
        """0, ..., K."""
        return np.arange(self.resolution + 1)

    @property
    def heights(self) -> np.ndarray:
        """The nodes s, of Gauss and Jacobi."""
        return _tables(self.d, self.resolution)[0]

    @property
    def points(self):
        """(sqrt(1 - s^2), 0, ..., 0, s)."""
        return self._meridian(np.sqrt(1 - self.heights**2), self.heights)

    @property
    def weights(self):
        """Those of Gauss, which sum to one."""
        return _tables(self.d, self.resolution)[1]

    @property
    def frame(self):
        """The direction of growing s."""
        s = self.heights
        return self._meridian(-s, np.sqrt(1 - s**2))[:, None, :]

    def values(self, c: Float[Array, "j"]) -> Float[Array, "n"]:
        """A matrix product."""
        return jnp.asarray(_tables(self.d, self.resolution)[2]) @ c

    def project(self, f: Float[Array, "n"]) -> Float[Array, "j"]:
        """By quadrature."""
        return (self.weights * f) @ jnp.asarray(_tables(self.d, self.resolution)[2])

    def gradient(self, c: Float[Array, "j"]) -> Float[Array, "n q"]:
        """sqrt(1 - s^2) d/ds."""
        return (jnp.asarray(_tables(self.d, self.resolution)[3]) @ c)[:, None]

    def divergence(self, flux: Float[Array, "n q"]) -> Float[Array, "j"]:
        """Minus the transpose of the gradient."""
        slopes = jnp.asarray(_tables(self.d, self.resolution)[3])
        return -(self.weights * flux[:, 0]) @ slopes

    def at(self, c: Float[Array, "j"], x: Float[Array, "m d"]) -> Float[Array, "m"]:
        """By the recurrence of the polynomials."""
        weighted = c * np.sqrt(dimensions(self.d, self.resolution))
        s = x[:, -1]
        start = (jnp.zeros_like(s), jnp.ones_like(s), jnp.zeros_like(s))

        def add(state, step):
            k, coefficient = step
            before, here, total = state
            return (here, self._next(k, s, here, before), total + coefficient * here), 0

        steps = (jnp.arange(self.resolution + 1.0), weighted)
        return jax.lax.scan(add, start, steps)[0][2]

    def moments(
        self, x: Float[Array, "m d"], w: Float[Array, "m"]
    ) -> Float[Array, "j"]:
        """sum_i w_i sqrt(N_k) P_k(s_i)."""
        s = x[:, -1]

        def one(state, k):
            before, here = state
            return (here, self._next(k, s, here, before)), w @ here

        start = (jnp.zeros_like(s), jnp.ones_like(s))
        _, sums = jax.lax.scan(one, start, jnp.arange(self.resolution + 1.0))
        return sums * np.sqrt(dimensions(self.d, self.resolution))

    def place(self, k: int, m: int) -> tuple[int, int | None, float]:
        """One real coefficient per degree."""
        k = whole("k", k, 0)
        if k > self.resolution or m != 0:
            raise InputError(
                f"`k` must be at most the resolution {self.resolution} and `m` 0 for "
                f"a zonal density, got k = {k}, m = {m}."
            )
        return k, None, float(1 / np.sqrt(dimensions(self.d, self.resolution)[k]))

    def _next(self, k, s, here, before):
        """P_{k+1} = ((2k + d - 2) s P_k - k P_{k-1}) / (k + d - 2)."""
        bottom = jnp.where(k == 0, 1.0, k + self.d - 2.0)
        top = (2 * k + self.d - 2) * s * here - k * before
        return jnp.where(k == 0, s, top / bottom)

    def _meridian(self, across, along) -> np.ndarray:
        out = np.zeros((len(along), self.d))
        out[:, 0], out[:, -1] = across, along
        return out


def log_dimensions(d: int, k_max: int) -> Float[np.ndarray, "k"]:
    """log N_k, N_k = (2k + d - 2)/k binomial(k + d - 3, k - 1), for k = 0..k_max."""
    k = np.arange(1.0, k_max + 1)
    binomial = (
        scipy.special.gammaln(k + d - 2)
        - scipy.special.gammaln(k)
        - scipy.special.gammaln(d - 1)
    )
    return np.concatenate([[0.0], np.log((2 * k + d - 2) / k) + binomial])


def dimensions(d: int, k_max: int) -> Float[np.ndarray, "k"]:
    """N_0, ..., N_{k_max}: how many harmonics of each degree there are."""
    return np.exp(log_dimensions(d, k_max))


@functools.cache
def _tables(d: int, k_max: int) -> tuple[np.ndarray, ...]:
    """Nodes, weights, values and slopes of the orthonormal functions at the nodes."""
    s, w = scipy.special.roots_jacobi((3 * k_max) // 2 + 2, (d - 3) / 2, (d - 3) / 2)
    values, slopes = np.ones((len(s), k_max + 1)), np.zeros((len(s), k_max + 1))
    values[:, 1], slopes[:, 1] = s, 1.0
    for k in range(1, k_max):
        a, b = (2 * k + d - 2) / (k + d - 2), k / (k + d - 2)
        values[:, k + 1] = a * s * values[:, k] - b * values[:, k - 1]
        slopes[:, k + 1] = a * (values[:, k] + s * slopes[:, k]) - b * slopes[:, k - 1]
    scale = np.sqrt(dimensions(d, k_max))
    return s, w / w.sum(), values * scale, np.sqrt(1 - s**2)[:, None] * slopes * scale
