"""What every basis of functions offers to densities and to their flows; Fourier modes
on the circle.
"""

import abc
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Complex, Float, Int

from pushforward._checks import whole
from pushforward._printing import shown
from pushforward.errors import InputError
from pushforward.spaces import AbstractSpace, Circle


class AbstractBasis(eqx.Module):
    """Functions phi_j, orthonormal for the uniform probability, each of one degree.

    phi_0 = 1, and the Laplacian is diagonal: -l (l + d - 2) at degree l <= resolution.
    The grid is fine enough to integrate products of three of them exactly, which is
    what keeps quadratic terms free of aliasing.
    """

    resolution: eqx.AbstractVar[int]

    __repr__ = shown

    @property
    @abc.abstractmethod
    def space(self) -> AbstractSpace:
        """Where the functions live."""

    @property
    @abc.abstractmethod
    def degrees(self) -> Int[np.ndarray, "j"]:
        """The degree of every function."""

    @property
    @abc.abstractmethod
    def points(self) -> Float[np.ndarray, "n d"]:
        """The points of the grid."""

    @property
    @abc.abstractmethod
    def weights(self) -> Float[np.ndarray, "n"]:
        """The weights of the grid; they sum to one."""

    @property
    @abc.abstractmethod
    def frame(self) -> Float[np.ndarray, "n q d"]:
        """Orthonormal tangent vectors at the grid: velocities are given in them."""

    @abc.abstractmethod
    def values(self, c: Float[Array, "j"]) -> Float[Array, "n"]:
        """sum_j c_j phi_j on the grid."""

    @abc.abstractmethod
    def project(self, f: Float[Array, "n"]) -> Float[Array, "j"]:
        """int f phi_j, from values on the grid."""

    @abc.abstractmethod
    def gradient(self, c: Float[Array, "j"]) -> Float[Array, "n q"]:
        """The gradient of sum_j c_j phi_j on the grid, in the frame."""

    @abc.abstractmethod
    def divergence(self, flux: Float[Array, "n q"]) -> Float[Array, "j"]:
        """int phi_j div(flux) = -int <grad phi_j, flux>."""

    @abc.abstractmethod
    def at(self, c: Float[Array, "j"], x: Float[Array, "m d"]) -> Float[Array, "m"]:
        """sum_j c_j phi_j at any points of the space."""

    @abc.abstractmethod
    def moments(
        self, x: Float[Array, "m d"], w: Float[Array, "m"]
    ) -> Float[Array, "j"]:
        """sum_i w_i phi_j(x_i)."""

    @abc.abstractmethod
    def place(self, k: int, m: int) -> tuple[int, int | None, float]:
        """Which coefficients make mode (k, m): scale (c_re + i c_im)."""

    @property
    def eigenvalues(self) -> Float[np.ndarray, "j"]:
        """l (l + d - 2): minus the Laplacian."""
        return self.degrees * (self.degrees + self.space.d - 2.0)


ROOT = math.sqrt(2.0)


class Fourier(AbstractBasis):
    """1, sqrt(2) cos k theta and -sqrt(2) sin k theta for k = 1, ..., resolution.

    The mode of a measure is int e^{-ik theta} dmu.

    >>> Fourier(64).points.shape
    (200, 2)
    """

    resolution: int = eqx.field(static=True)

    def __init__(self, resolution: int):
        self.resolution = whole("resolution", resolution, 1, "It is the largest k.")

    @property
    def space(self):
        """The circle."""
        return Circle()

    @property
    def degrees(self):
        """0, then 1, ..., K twice: cosines, then sines."""
        k = np.arange(1, self.resolution + 1)
        return np.concatenate([[0], k, k])

    @property
    def angles(self) -> np.ndarray:
        """Equispaced, at least 3 K + 1 of them."""
        n = scipy.fft.next_fast_len(3 * self.resolution + 1, real=True)
        return 2 * np.pi * np.arange(n) / n

    @property
    def points(self):
        """(cos theta, sin theta) on the grid."""
        return np.stack([np.cos(self.angles), np.sin(self.angles)], axis=1)

    @property
    def weights(self):
        """All equal."""
        n = len(self.angles)
        return np.full(n, 1.0 / n)

    @property
    def frame(self):
        """The direction of growing theta."""
        x = self.points
        return np.stack([-x[:, 1], x[:, 0]], axis=1)[:, None, :]

    def values(self, c: Float[Array, "j"]) -> Float[Array, "n"]:
        """By the fast Fourier transform, zero above K."""
        return self._on_grid(self.modes(c))

    def project(self, f: Float[Array, "n"]) -> Float[Array, "j"]:
        """By the fast Fourier transform, cut at K."""
        half = jnp.fft.rfft(f)[: self.resolution + 1] / f.shape[0]
        return self._packed(half)

    def gradient(self, c: Float[Array, "j"]) -> Float[Array, "n q"]:
        """Times ik."""
        return self._on_grid(self._ik * self.modes(c))[:, None]

    def divergence(self, flux: Float[Array, "n q"]) -> Float[Array, "j"]:
        """Times ik."""
        half = jnp.fft.rfft(flux[:, 0])[: self.resolution + 1] / flux.shape[0]
        return self._packed(self._ik * half)

    def at(self, c: Float[Array, "j"], x: Float[Array, "m d"]) -> Float[Array, "m"]:
        """f_0 + 2 Re sum_k f_k z^k, one power of z after the other."""
        z = jax.lax.complex(x[:, 0], x[:, 1])

        def add(state, f):
            power, total = state
            power = power * z
            return (power, total + 2 * (f * power).real), None

        f = self.modes(c)
        start = (jnp.ones_like(z), jnp.broadcast_to(f[0].real, z.shape))
        return jax.lax.scan(add, start, f[1:])[0][1]

    def moments(
        self, x: Float[Array, "m d"], w: Float[Array, "m"]
    ) -> Float[Array, "j"]:
        """sum_i w_i z_i^{-k}."""
        z = jax.lax.complex(x[:, 0], -x[:, 1])

        def one(power, _):
            return power * z, jnp.sum(power)

        _, f = jax.lax.scan(one, _as_complex(w), length=self.resolution + 1)
        return self._packed(f)

    def place(self, k: int, m: int) -> tuple[int, int | None, float]:
        """Cosine k and sine k."""
        k = whole("k", k, 0)
        if k > self.resolution or m != 0:
            raise InputError(
                f"`k` must be at most the resolution {self.resolution} and `m` 0 on "
                f"the circle, got k = {k}, m = {m}."
            )
        if k == 0:
            return 0, None, 1.0
        return k, k + self.resolution, 1 / ROOT

    def modes(self, c: Float[Array, "j"]) -> Complex[Array, "k"]:
        """f_0, ..., f_K."""
        K = self.resolution
        tail = jax.lax.complex(c[1 : K + 1], c[K + 1 :]) / ROOT
        return jnp.concatenate([_as_complex(c[:1]), tail])

    @property
    def _ik(self):
        return 1j * np.arange(self.resolution + 1)

    def _on_grid(self, half: Complex[Array, "k"]):
        n = len(self.angles)
        return jnp.fft.irfft(half * n, n=n)

    def _packed(self, half: Complex[Array, "k"]):
        tail = ROOT * half[1:]
        return jnp.concatenate([half[:1].real, tail.real, tail.imag])


def _as_complex(real: Float[Array, "k"]) -> Complex[Array, "k"]:
    return jax.lax.complex(real, jnp.zeros_like(real))
