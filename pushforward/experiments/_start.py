"""How the tokens of an experiment start, as objects that a text can hold."""

from __future__ import annotations

import abc
import pathlib
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import as_float_array, positive, scalar, whole
from pushforward._printing import shown
from pushforward._seeds import key_for
from pushforward.errors import InputError
from pushforward.measures import AbstractBasis, Density, Gaussian, Particles
from pushforward.spaces import AbstractSpace, Circle, Euclidean, Sphere

SPACES = ("sphere", "euclidean")


class AbstractStart(eqx.Module):
    """The initial measure of an experiment, drawn from its seed."""

    __repr__ = shown

    @abc.abstractmethod
    def __call__(self, seed: Any) -> Any:
        """The measure; the same seed gives the same bits."""


class _Tokens(AbstractStart):
    """n tokens of dimension d, on the sphere or in R^d."""

    n: eqx.AbstractVar[int]
    d: eqx.AbstractVar[int]
    space: eqx.AbstractVar[str]

    @property
    def home(self) -> AbstractSpace:
        """The space itself; the sphere of the plane is the circle, with its angles."""
        if self.space == "euclidean":
            return Euclidean(self.d)
        return Circle() if self.d == 2 else Sphere(self.d)


def _sizes(n: int, d: int, space: str) -> tuple[int, int, str]:
    if not isinstance(space, str) or space not in SPACES:
        raise InputError(f"`space` must be one of {', '.join(SPACES)}, got {space!r}.")
    least = 1 if space == "euclidean" else 2
    why = "Sphere(d) is the unit sphere of R^d." if least == 2 else ""
    return whole("n", n, 1), whole("d", d, least, why), space


class Uniform(_Tokens):
    """Independent and uniform: on the sphere, or in the cube [-side, side]^d of R^d."""

    n: int = eqx.field(static=True)
    d: int = eqx.field(static=True)
    space: str = eqx.field(static=True)
    side: Float[Array, ""]

    def __init__(self, n=64, d=3, space="sphere", side=1.0):
        self.n, self.d, self.space = _sizes(n, d, space)
        self.side = positive("side", side, "It is half the side of the cube.")

    def __call__(self, seed):
        """Particles from the key of the tokens."""
        mu = Particles.uniform(self.home, self.n, key=key_for(seed, "tokens"))
        return mu.moved(self.side * mu.points) if self.space == "euclidean" else mu


class Normal(_Tokens):
    """Normal vectors about `mean` (default: the first axis), put on the space."""

    n: int = eqx.field(static=True)
    d: int = eqx.field(static=True)
    space: str = eqx.field(static=True)
    mean: Float[Array, "d"] | None
    scale: Float[Array, ""]

    def __init__(self, n=64, d=3, space="sphere", mean=None, scale=0.5):
        self.n, self.d, self.space = _sizes(n, d, space)
        self.mean = None if mean is None else as_float_array("mean", mean)
        self.scale = positive("scale", scale, "It is a standard deviation.")

    def __call__(self, seed):
        """Particles from the key of the tokens."""
        mean = jnp.eye(self.d)[0] if self.mean is None else self.mean
        key = key_for(seed, "tokens")
        return Particles.gaussian(
            self.home, self.n, mean=mean, scale=self.scale, key=key
        )


class Clustered(_Tokens):
    """Spread evenly over `centers`, each token moved by a Gaussian of `scale`.

    `centers` is the number of random centers, or an array of shape (k, d).
    """

    n: int = eqx.field(static=True)
    d: int = eqx.field(static=True)
    space: str = eqx.field(static=True)
    centers: int | Float[Array, "k d"]
    scale: Float[Array, ""]

    def __init__(self, n=64, d=3, space="sphere", centers=4, scale=0.2):
        self.n, self.d, self.space = _sizes(n, d, space)
        many = isinstance(centers, int | np.integer)
        self.centers = (
            whole("centers", centers, 1) if many else as_float_array("centers", centers)
        )
        self.scale = positive("scale", scale, "It is a standard deviation.")

    def __call__(self, seed):
        """Particles from the key of the tokens."""
        return Particles.clustered(
            self.home,
            self.n,
            centers=self.centers,
            scale=self.scale,
            key=key_for(seed, "tokens"),
        )


class VonMisesFisher(_Tokens):
    """Density proportional to e^{kappa <mean, x>} on the sphere."""

    n: int = eqx.field(static=True)
    d: int = eqx.field(static=True)
    space: str = eqx.field(static=True, default="sphere", init=False)
    kappa: Float[Array, ""]
    mean: Float[Array, "d"] | None

    def __init__(self, n=64, d=3, kappa=4.0, mean=None):
        self.n, self.d, self.space = _sizes(n, d, "sphere")
        self.kappa = positive("kappa", kappa, "It is a concentration.")
        self.mean = None if mean is None else as_float_array("mean", mean)

    def __call__(self, seed):
        """Particles from the key of the tokens."""
        mean = jnp.eye(self.d)[0] if self.mean is None else self.mean
        return Particles.vonmises_fisher(
            self.home,
            self.n,
            mean=mean,
            kappa=self.kappa,
            key=key_for(seed, "tokens"),
        )


class Equispaced(AbstractStart):
    """n tokens at equal angles on the circle."""

    n: int = eqx.field(static=True)

    def __init__(self, n=64):
        self.n = whole("n", n, 1)

    def __call__(self, seed):
        """The seed plays no part."""
        return Particles.equispaced(Circle(), self.n)


class Orthonormal(_Tokens):
    """The first n basis vectors: pairwise cosines are zero."""

    n: int = eqx.field(static=True)
    d: int = eqx.field(static=True)
    space: str = eqx.field(static=True)

    def __init__(self, n=3, d=3, space="sphere"):
        self.n, self.d, self.space = _sizes(n, d, space)

    def __call__(self, seed):
        """The seed plays no part."""
        return Particles.orthonormal(self.home, self.n)


class Given(AbstractStart):
    """These points of this space, with these weights (equal if left out)."""

    space: AbstractSpace
    points: Float[Array, "n d"]
    weights: Float[Array, "n"] | None

    def __init__(self, space: AbstractSpace, points, weights=None):
        mu = Particles(space, points, weights)  # checks all three
        self.space, self.points = mu.space, mu.points
        self.weights = None if weights is None else as_float_array("weights", weights)

    def __call__(self, seed):
        """The seed plays no part."""
        return Particles(self.space, self.points, self.weights)


class FromFile(AbstractStart):
    """Points from a .npy, .npz, .csv or .txt file, as they are or put on the sphere."""

    path: str = eqx.field(static=True)
    space: str = eqx.field(static=True)

    def __init__(self, path, space="sphere"):
        if not isinstance(path, str | pathlib.PurePath):
            raise InputError(f"`path` must be the path of a file, got {path!r}.")
        if not isinstance(space, str) or space not in SPACES:
            known = ", ".join(SPACES)
            raise InputError(f"`space` must be one of {known}, got {space!r}.")
        self.path, self.space = str(path), space

    def __call__(self, seed):
        """The seed plays no part."""
        raw = Particles.from_file(None, self.path)
        if self.space == "euclidean":
            return raw
        home = Circle() if raw.d == 2 else Sphere(raw.d)
        return Particles.normalized(home, raw.points, raw.weights)


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
