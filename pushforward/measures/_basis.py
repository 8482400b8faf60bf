"""What every basis of functions offers to densities and to their flows."""

import abc

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, Int

from pushforward._printing import shown
from pushforward.spaces import AbstractSpace


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
