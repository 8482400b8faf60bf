"""Weighted atoms: the measures that move."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, Real

from pushforward._checks import (
    Number,
    as_float_array,
    check_finite,
    double_precision,
    is_traced,
    positive,
)
from pushforward._printing import short
from pushforward.errors import InputError
from pushforward.measures import _initial
from pushforward.measures._components import components
from pushforward.measures._measure import (
    AbstractMeasure,
    checked_log_weights,
    checked_points,
    shape_message,
    taken,
)
from pushforward.spaces import AbstractSpace, Euclidean


class Particles(AbstractMeasure):
    """mu = sum_i w_i delta_{x_i}: n points of a space with weights that sum to one.

    Without `weights` every particle has mass 1/n. Points must lie on the space to 1e-6;
    `Particles.normalized` puts them there.

    >>> mu = Particles(Sphere(3), [[1.0, 0, 0], [0, 1.0, 0]], weights=[0.25, 0.75])
    >>> mu
    Particles(n=2, Sphere(3))
    """

    space: AbstractSpace
    points: Float[Array, "n d"]
    log_weights: Float[Array, "n"]

    def __init__(
        self,
        space: AbstractSpace,
        points: Real[ArrayLike, "n d"] | Sequence,
        weights: Real[ArrayLike, "n"] | Sequence | None = None,
    ):
        self.space = space
        self.points = checked_points(space, points)
        self.log_weights = checked_log_weights(self.points, weights)

    @property
    def weights(self) -> Float[Array, "*b n"]:
        """The mass of each particle."""
        return jnp.exp(self.log_weights)

    def moved(
        self,
        points: Float[Array, "*b n d"],
        log_weights: Float[Array, "*b n"] | None = None,
    ) -> Particles:
        """The same particles elsewhere, unchecked; what solvers use in their loops."""
        new = (points, self.log_weights if log_weights is None else log_weights)
        return eqx.tree_at(lambda mu: (mu.points, mu.log_weights), self, new)

    def push(self, T: Callable, space: AbstractSpace | None = None) -> Particles:
        """The image measure T_# mu; T acts on the whole (n, d) array of points."""
        image = T(self.points)
        return Particles(space or self.space, image, jnp.exp(self.log_weights))

    def arrays(self) -> dict[str, Array]:
        """Points, and the logarithms of the weights: their exponential loses a bit."""
        return {"points": self.points, "log_weights": self.log_weights}

    def with_arrays(self, arrays: Mapping[str, Any]) -> Particles:
        """Other particles of the same space, unchecked but for their shape."""
        x, logs = (jnp.asarray(taken(arrays, name)) for name in self.arrays())
        if x.ndim < 2 or x.shape[-1] != self.space.d or logs.shape != x.shape[:-1]:
            raise InputError(
                f"`arrays` must hold points (n, {self.space.d}) and log_weights (n,), "
                f"got shapes {x.shape} and {logs.shape}."
            )
        return self.moved(x, logs)

    def readable_arrays(self) -> dict[str, Array]:
        """The weights themselves."""
        return {"weights": self.weights}

    def blended(self, other: Particles, s: float) -> Particles:
        """Points and weights mix linearly; points are put back onto the space."""
        pairs = (self.points, self.weights), (other.points, other.weights)
        points, weights = mixed(self.space, *pairs, s)
        return self.moved(points, jnp.log(weights))

    @property
    def is_finite(self) -> Bool[Array, ""]:
        """Whether every point is."""
        return jnp.all(jnp.isfinite(self.points))

    @property
    def is_resolved(self) -> Bool[Array, ""]:
        """Particles always are."""
        return jnp.array(True)

    def rule_of(self, field: Any) -> Callable:
        """The field itself."""
        return field

    def increment_of(
        self, noise: Any, key: PRNGKeyArray, h: Number
    ) -> Float[Array, "n d"]:
        """A vector for every particle."""
        return noise.increment(key, h, self).astype(self.points.dtype)

    def labels(self, radius: float) -> Int[np.ndarray, "n"]:
        """Which particles lie together: components at a geodesic radius, 0, 1, ..."""
        radius = float(positive("radius", radius, "It is a geodesic distance."))
        return components(self.space, self.points, radius)

    def merge(self, radius: float) -> Particles:
        """One atom per component at the radius: weights add, points are averaged."""
        return self.gathered(self.labels(radius))

    def gathered(self, labels: Int[np.ndarray, "n"]) -> Particles:
        """One atom per label 0, 1, ...: weights add, points are averaged."""
        k = int(labels.max()) + 1
        dtype = self.points.dtype
        weights = np.bincount(labels, np.asarray(self.weights), minlength=k)
        # Where a component has no mass, its particles count equally.
        shares = np.where(weights[labels] > 0, np.asarray(self.weights), 1.0)
        sums = np.zeros((k, self.d))
        np.add.at(sums, labels, np.asarray(self.points) * shares[:, None])
        totals = np.bincount(labels, shares, minlength=k)
        atoms = self.space.project(jnp.asarray(sums / totals[:, None]))
        return self.moved(atoms.astype(dtype), jnp.log(jnp.asarray(weights, dtype)))

    def astype(self, dtype: str | type | np.dtype) -> Particles:
        """The same measure in another precision, "float32" or "float64"."""
        if np.dtype(dtype) == np.float64:
            double_precision("this measure in float64")
        return self.moved(self.points.astype(dtype), self.log_weights.astype(dtype))

    @classmethod
    def normalized(
        cls,
        space: AbstractSpace,
        points: Real[ArrayLike, "n d"] | Sequence,
        weights: Real[ArrayLike, "n"] | Sequence | None = None,
    ) -> Particles:
        """Project the points onto the space, and rescale weights to sum to one."""
        x = as_float_array("points", points)
        if not isinstance(space, AbstractSpace):
            raise InputError(
                f"`space` must be a space such as Sphere(3), got {space!r}."
            )
        if x.ndim != 2 or x.shape[1] != space.d or not x.shape[0]:
            raise InputError(shape_message(space, x.shape))
        check_finite("points", x)
        if weights is not None:
            weights = as_float_array("weights", weights)
            check_finite("weights", weights)
            total = weights.sum()
            if not is_traced(total) and not total > 0:
                raise InputError(
                    f"`weights` must have a positive sum, got {float(total):g}. "
                    "Leave them out for equal masses."
                )
            weights = weights / total
        if not isinstance(space, Euclidean) and not is_traced(x) and x.ndim == 2:
            zero = np.flatnonzero(~np.asarray(x).any(axis=1))
            if len(zero):
                raise InputError(
                    f"`points` has a zero vector in row {zero[0]}: it has no "
                    "direction. Remove it."
                )
        return cls(space, space.project(x), weights)

    @classmethod
    def uniform(cls, space: AbstractSpace, n: int, *, key: PRNGKeyArray) -> Particles:
        """n independent uniform points; on R^d, uniform on [-1, 1]^d."""
        return cls(space, _initial.uniform(space, n, key))

    @classmethod
    def gaussian(
        cls,
        space: AbstractSpace,
        n: int,
        *,
        mean: Real[ArrayLike, "*d"] | Sequence = 0.0,
        scale: Number = 1.0,
        key: PRNGKeyArray,
    ) -> Particles:
        """Normal vectors of mean `mean` and standard deviation `scale`, projected."""
        return cls(space, _initial.gaussian(space, n, mean, scale, key))

    @classmethod
    def vonmises_fisher(
        cls,
        space: AbstractSpace,
        n: int,
        *,
        mean: Real[ArrayLike, "*d"] | Sequence,
        kappa: Number,
        key: PRNGKeyArray,
    ) -> Particles:
        """Density proportional to e^{kappa <mean, x>} on the sphere."""
        return cls(space, _initial.vonmises_fisher(space, n, mean, kappa, key))

    @classmethod
    def orthonormal(cls, space: AbstractSpace, n: int) -> Particles:
        """The first n basis vectors: pairwise cosines are zero."""
        return cls(space, _initial.orthonormal(space, n))

    @classmethod
    def clustered(
        cls,
        space: AbstractSpace,
        n: int,
        *,
        centers: Real[ArrayLike, "k d"] | Real[ArrayLike, "d"] | Sequence | int,
        scale: Number = 0.1,
        key: PRNGKeyArray,
    ) -> Particles:
        """n points spread evenly over the centers, each moved by a Gaussian of `scale`.

        `centers` is a (k, d) array, or the number of random centers.
        """
        return cls(space, _initial.clustered(space, n, centers, scale, key))

    @classmethod
    def equispaced(cls, space: AbstractSpace, n: int) -> Particles:
        """n points at equal angles on the circle."""
        return cls(space, _initial.equispaced(space, n))

    @classmethod
    def from_file(
        cls, space: AbstractSpace | None, path: str | pathlib.PurePath
    ) -> Particles:
        """Points from a .npy, .npz (entry `points`), .csv or .txt file, one per row.

        Without a space the points are taken as they are, in R^d.
        """
        points, weights = _initial.read_points(path)
        space = Euclidean(points.shape[1]) if space is None else space
        return cls(space, points, weights)

    def __repr__(self) -> str:
        return f"Particles(n={self.n}, {short(self.space)})"


def mixed(space: AbstractSpace, before: tuple, after: tuple, s: float) -> tuple:
    """(points, weights) a share s of the way from one such pair to another."""
    (x, w), (y, v) = before, after
    return space.project((1 - s) * x + s * y), (1 - s) * w + s * v
