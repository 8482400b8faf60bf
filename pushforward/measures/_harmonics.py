"""Spherical harmonics on S^2; ducc0 does the transforms, on the host."""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jax.custom_derivatives import linear_call
from jaxtyping import Array, Float

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.measures._basis import AbstractBasis
from pushforward.spaces import Sphere

ACCURACY = 1e-12  # of the transforms at scattered points
ROOT = np.sqrt(2.0)
UNIT = np.sqrt(
    4 * np.pi
)  # from orthonormal for dOmega to orthonormal for a probability


class Harmonics(AbstractBasis):
    """sqrt(4 pi) times the real spherical harmonics on S^2 up to degree `resolution`.

    The mode (l, m) of a measure is sqrt(4 pi / (2l + 1)) int conj(Y_lm) dmu; for m = 0
    it is int P_l(z) dmu. Transforms go through ducc0, on a Gauss-Legendre grid.

    >>> Harmonics(16).points.shape
    (1250, 3)
    """

    resolution: int = eqx.field(static=True)

    def __init__(self, resolution: int):
        self.resolution = whole("resolution", resolution, 1, "It is the degree.")
        _ducc()

    @property
    def space(self):
        """S^2."""
        return Sphere(3)

    @property
    def degrees(self):
        """Real parts in the order m = 0, 1, ..., l = m, ..., L; imaginary parts of
        m > 0 after them."""
        L = self.resolution
        l = np.concatenate([np.arange(m, L + 1) for m in range(L + 1)])
        return np.concatenate([l, l[L + 1 :]])

    @property
    def points(self):
        """Rings from north to south."""
        return _grid(self.resolution)[0]

    @property
    def weights(self):
        """Those of Gauss and Legendre, which sum to one."""
        return _grid(self.resolution)[1]

    @property
    def frame(self):
        """South and east."""
        return _grid(self.resolution)[2]

    def values(self, c: Float[Array, "j"]) -> Float[Array, "n"]:
        """Synthesis."""
        return self._linear(_values, _adjoint_values, c, len(self.weights))

    def project(self, f: Float[Array, "n"]) -> Float[Array, "j"]:
        """The adjoint of synthesis, with quadrature weights."""
        return self._linear(
            _adjoint_values, _values, self.weights * f, len(self.degrees)
        )

    def gradient(self, c: Float[Array, "j"]) -> Float[Array, "n q"]:
        """Synthesis of first derivatives."""
        flat = self._linear(_gradient, _adjoint_gradient, c, 2 * len(self.weights))
        return flat.reshape(2, -1).T

    def divergence(self, flux: Float[Array, "n q"]) -> Float[Array, "j"]:
        """Minus the adjoint of the gradient."""
        flat = (self.weights[:, None] * flux).T.reshape(-1)
        return -self._linear(_adjoint_gradient, _gradient, flat, len(self.degrees))

    def at(self, c: Float[Array, "j"], x: Float[Array, "m d"]) -> Float[Array, "m"]:
        """Synthesis at scattered points."""
        shape = jax.ShapeDtypeStruct((x.shape[0],), jnp.float64)
        call = functools.partial(_scattered_values, self.resolution)
        return jax.pure_callback(call, shape, c, x, vmap_method="sequential")

    def moments(
        self, x: Float[Array, "m d"], w: Float[Array, "m"]
    ) -> Float[Array, "j"]:
        """Its adjoint."""
        shape = jax.ShapeDtypeStruct((len(self.degrees),), jnp.float64)
        call = functools.partial(_scattered_moments, self.resolution)
        return jax.pure_callback(call, shape, x, w, vmap_method="sequential")

    def place(self, k: int, m: int) -> tuple[int, int | None, float]:
        """Where real and imaginary part of (l, m) are kept."""
        L, k, m = self.resolution, whole("k", k, 0), whole("m", m, 0)
        if k > L or m > k:
            raise InputError(
                f"`k` must be at most the resolution {L} and `m` at most k, got "
                f"k = {k}, m = {m}."
            )
        index = m * (2 * L + 1 - m) // 2 + k
        scale = 1 / np.sqrt(2 * k + 1)
        if m == 0:
            return index, None, float(scale)
        half = (L + 1) * (L + 2) // 2
        return index, half + index - (L + 1), float(scale / ROOT)

    def _linear(self, forward, backward, c, size):
        """A linear map on the host that JAX can transpose."""
        call = lambda work, a, n: jax.pure_callback(  # noqa: E731
            functools.partial(work, self.resolution),
            jax.ShapeDtypeStruct((n,), jnp.float64),
            a,
            vmap_method="sequential",
        )
        there = lambda _, a: call(forward, a, size)  # noqa: E731
        back = lambda _, a: call(backward, a, c.shape[0])  # noqa: E731
        return linear_call(there, back, (), c)


def _ducc() -> Any:
    try:
        import ducc0
    except ImportError as error:
        raise InputError(
            "densities on Sphere(3) need the package ducc0, which is not installed: "
            "pip install ducc0. Densities on Circle() and Zonal(3, resolution) do not."
        ) from error
    return ducc0.sht


def _sizes(L: int) -> tuple[int, int]:
    return (3 * L) // 2 + 1, scipy.fft.next_fast_len(3 * L + 1, real=True)


@functools.cache
def _grid(L: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rings, around = _sizes(L)
    z, w = np.polynomial.legendre.leggauss(rings)
    z, w = z[::-1], w[::-1] / (2 * around)
    phi = 2 * np.pi * np.arange(around) / around
    z, phi = (a.ravel() for a in np.meshgrid(z, phi, indexing="ij"))
    r, zero = np.sqrt(1 - z**2), np.zeros_like(z)
    points = np.stack([r * np.cos(phi), r * np.sin(phi), z], axis=1)
    south = np.stack([z * np.cos(phi), z * np.sin(phi), -r], axis=1)
    east = np.stack([-np.sin(phi), np.cos(phi), zero], axis=1)
    return points, np.repeat(w, around), np.stack([south, east], axis=1)


def _alm(L: int, c) -> np.ndarray:
    """Coefficients of an orthonormal expansion in the layout of ducc0."""
    c = np.asarray(c)
    half = (L + 1) * (L + 2) // 2
    alm = UNIT * c[:half].astype(complex)
    alm[L + 1 :] = UNIT / ROOT * (c[L + 1 : half] + 1j * c[half:])
    return alm[None, :]


def _coefficients(L: int, sums: np.ndarray) -> np.ndarray:
    """int f phi_j from int f conj(Y_lm)."""
    real, tail = UNIT * sums[0].real.copy(), UNIT * ROOT * sums[0, L + 1 :]
    real[L + 1 :] = tail.real
    return np.concatenate([real, tail.imag])


def _values(L: int, c) -> np.ndarray:
    rings, around = _sizes(L)
    return (
        _ducc()
        .synthesis_2d(
            alm=_alm(L, c), spin=0, lmax=L, geometry="GL", ntheta=rings, nphi=around
        )[0]
        .ravel()
    )


def _adjoint_values(L: int, f) -> np.ndarray:
    f = np.asarray(f).reshape(1, *_sizes(L))
    return _coefficients(
        L, _ducc().adjoint_synthesis_2d(map=f, spin=0, lmax=L, geometry="GL")
    )


def _gradient(L: int, c) -> np.ndarray:
    rings, around = _sizes(L)
    size: dict[str, Any] = {"ntheta": rings, "nphi": around, "geometry": "GL"}
    return (
        _ducc()
        .synthesis_2d(alm=_alm(L, c), spin=1, lmax=L, mode="DERIV1", **size)
        .ravel()
    )


def _adjoint_gradient(L: int, flux) -> np.ndarray:
    flux = np.asarray(flux).reshape(2, *_sizes(L))
    sums = _ducc().adjoint_synthesis_2d(
        map=flux, spin=1, lmax=L, mode="DERIV1", geometry="GL"
    )
    return _coefficients(L, sums)


def _angles(x) -> np.ndarray:
    x = np.asarray(x)
    colatitude = np.arctan2(np.hypot(x[:, 0], x[:, 1]), x[:, 2])
    longitude = np.arctan2(x[:, 1], x[:, 0]) % (2 * np.pi)
    return np.column_stack([colatitude, longitude])


def _scattered_values(L: int, c, x) -> np.ndarray:
    options: dict[str, Any] = {"loc": _angles(x), "lmax": L, "epsilon": ACCURACY}
    return _ducc().synthesis_general(alm=_alm(L, c), spin=0, **options)[0]


def _scattered_moments(L: int, x, w) -> np.ndarray:
    options: dict[str, Any] = {"loc": _angles(x), "lmax": L, "epsilon": ACCURACY}
    w = np.ascontiguousarray(np.asarray(w)[None, :])
    return _coefficients(L, _ducc().adjoint_synthesis_general(map=w, spin=0, **options))
