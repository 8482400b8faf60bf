"""Experiments that start from a density or a Gaussian instead of tokens."""

from __future__ import annotations

import equinox as eqx
from jaxtyping import Array, Float

from pushforward._checks import scalar, whole
from pushforward.experiments._start import AbstractStart
from pushforward.measures import AbstractBasis, Density, Gaussian
from pushforward.spaces import Circle, Sphere


class UniformDensity(AbstractStart):
    """A density: uniform, with `amplitude` added to mode `k`.

    On the circle by Fourier modes, on S^2 by harmonics, else zonal, `resolution` of
    them.
    """

    d: int = eqx.field(static=True)
    resolution: int = eqx.field(static=True)
    k: int = eqx.field(static=True)
    amplitude: Float[Array, ""]

    def __init__(self, d=2, resolution=64, k=1, amplitude=0.0):
        self.d = whole("d", d, 2, "Sphere(d) is the unit sphere of R^d.")
        self.resolution = whole("resolution", resolution, 1)
        self.k = whole("k", k, 1, "Mode 0 is the mass.")
        self.amplitude = scalar("amplitude", amplitude)

    def __call__(self, seed):
        """The seed plays no part."""
        space = Circle() if self.d == 2 else Sphere(self.d)
        rho = Density.uniform(space, self.resolution)
        return rho.perturbed(self.k, self.amplitude)


class GivenDensity(AbstractStart):
    """The density with these coefficients in this basis, such as `Fourier(64)`.

    >>> rho = Density.from_function(Circle(), 8, lambda x: 1 + 0.5 * x[:, 0])
    >>> start = GivenDensity(rho.basis, rho.coefficients)
    """

    basis: AbstractBasis
    coefficients: Float[Array, "j"]

    def __init__(self, basis: AbstractBasis, coefficients=None):
        rho = Density(basis, coefficients)  # checks both
        self.basis, self.coefficients = rho.basis, rho.coefficients

    def __call__(self, seed):
        """The seed plays no part."""
        return Density(self.basis, self.coefficients)


class GivenGaussian(AbstractStart):
    """The Gaussian with this mean, the `center`, and this covariance.

    >>> start = GivenGaussian([0.5], [[0.8]])
    """

    center: Float[Array, "d"]
    covariance: Float[Array, "d d"]

    def __init__(self, center, covariance):
        mu = Gaussian(center, covariance)  # checks both
        self.center, self.covariance = mu.center, mu.covariance

    def __call__(self, seed):
        """The seed plays no part."""
        return Gaussian(self.center, self.covariance)
