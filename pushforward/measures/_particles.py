"""Weighted atoms: the measures that move."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from pushforward._checks import as_float_array, check_finite, is_traced, positive
from pushforward.errors import InputError
from pushforward.measures import _initial
from pushforward.measures._components import components
from pushforward.measures._measure import AbstractMeasure
from pushforward.spaces import AbstractSpace, Circle, Euclidean

OFF_SPACE = 1e-6  # farther than this from the space is a mistake, not rounding


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

    def __init__(self, space: AbstractSpace, points, weights=None):
        self.space = space
        self.points = _checked_points(space, points)
        self.log_weights = _checked_log_weights(self.points, weights)

    @property
    def weights(self) -> Float[Array, "n"]:
        """The mass of each particle."""
        return jnp.exp(self.log_weights)

    @property
    def n(self) -> int:
        """The number of particles."""
        return self.points.shape[-2]

    @property
    def d(self) -> int:
        """The ambient dimension."""
        return self.points.shape[-1]

    def moved(self, points: Array, log_weights: Array | None = None) -> Particles:
        """The same particles elsewhere, unchecked; what solvers use in their loops."""
        new = (points, self.log_weights if log_weights is None else log_weights)
        return eqx.tree_at(lambda mu: (mu.points, mu.log_weights), self, new)

    def push(self, T: Callable, space: AbstractSpace | None = None) -> Particles:
        """The image measure T_# mu; T acts on the whole (n, d) array of points."""
        image = T(self.points)
        return Particles(space or self.space, image, jnp.exp(self.log_weights))

    def mean(self) -> Float[Array, "d"]:
        """int x dmu, in the ambient space."""
        return self.weights @ self.points

    def labels(self, radius: float) -> Int[np.ndarray, "n"]:
        """Which particles lie together: components at a geodesic radius, 0, 1, ..."""
        radius = float(positive("radius", radius, "It is a geodesic distance."))
        return components(self.space, np.asarray(self.points), radius)

    def merge(self, radius: float) -> Particles:
        """One atom per component at the radius: weights add, points are averaged."""
        labels = self.labels(radius)
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

    def astype(self, dtype) -> Particles:
        """The same measure in another precision; the only way to get float32."""
        return self.moved(self.points.astype(dtype), self.log_weights.astype(dtype))

    @classmethod
    def normalized(cls, space: AbstractSpace, points, weights=None) -> Particles:
        """Project the points onto the space, and rescale weights to sum to one."""
        x = as_float_array("points", points)
        if not isinstance(space, AbstractSpace):
            raise InputError(
                f"`space` must be a space such as Sphere(3), got {space!r}."
            )
        if x.ndim != 2 or x.shape[1] != space.d or not x.shape[0]:
            raise InputError(_shape_message(space, x.shape))
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
        cls, space: AbstractSpace, n: int, *, mean=0.0, scale=1.0, key: PRNGKeyArray
    ) -> Particles:
        """Normal vectors of mean `mean` and standard deviation `scale`, projected."""
        return cls(space, _initial.gaussian(space, n, mean, scale, key))

    @classmethod
    def vonmises_fisher(
        cls, space: AbstractSpace, n: int, *, mean, kappa: float, key: PRNGKeyArray
    ) -> Particles:
        """Density proportional to e^{kappa <mean, x>} on the sphere."""
        return cls(space, _initial.vonmises_fisher(space, n, mean, kappa, key))

    @classmethod
    def orthonormal(cls, space: AbstractSpace, n: int) -> Particles:
        """The first n basis vectors: pairwise cosines are zero."""
        return cls(space, _initial.orthonormal(space, n))

    @classmethod
    def clustered(
        cls, space: AbstractSpace, n: int, *, centers, scale=0.1, key: PRNGKeyArray
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
    def from_file(cls, space: AbstractSpace | None, path) -> Particles:
        """Points from a .npy, .npz (entry `points`), .csv or .txt file, one per row.

        Without a space the points are taken as they are, in R^d.
        """
        points, weights = _initial.read_points(path)
        space = Euclidean(points.shape[1]) if space is None else space
        return cls(space, points, weights)

    def __repr__(self) -> str:
        return f"Particles(n={self.n}, {repr(self.space).split('  #')[0]})"


def _checked_points(space: AbstractSpace, points) -> Array:
    if not isinstance(space, AbstractSpace):
        raise InputError(f"`space` must be a space such as Sphere(3), got {space!r}.")
    x = as_float_array("points", points)
    if x.ndim != 2 or x.shape[1] != space.d or x.shape[0] == 0:
        raise InputError(_shape_message(space, x.shape))
    check_finite("points", x)
    if not is_traced(x):
        residual = np.asarray(space.residual(x))
        if residual.max() > OFF_SPACE:
            row = int(np.argmax(residual > OFF_SPACE))
            raise InputError(
                f"`points` must lie on {repr(space).split('  #')[0]}: "
                f"{int((residual > OFF_SPACE).sum())} of {len(residual)} rows do not, "
                f"first row {row} (off by {residual[row]:.3g}). "
                "Use Particles.normalized(space, points) if scaling them is right."
            )
    return x


def _shape_message(space: AbstractSpace, shape: tuple[int, ...]) -> str:
    want = f"(n, {space.d}) for {repr(space).split('  #')[0]}, n >= 1"
    message = f"`points` must have shape {want}, got {shape}."
    if len(shape) == 2 and shape[0] == space.d and shape[1] > 0:
        return message + " Particles come first: pass points.T."
    if len(shape) == 1 and isinstance(space, Circle):
        return message + " For angles use Circle().points(theta)."
    return message


def _checked_log_weights(points: Array, weights) -> Array:
    n, dtype = points.shape[0], points.dtype
    if weights is None:
        return jnp.full(n, -np.log(n), dtype)
    w = as_float_array("weights", weights).astype(dtype)
    if w.shape != (n,):
        raise InputError(f"`weights` must have shape ({n},), got {w.shape}.")
    check_finite("weights", w)
    if not is_traced(w):
        values = np.asarray(w)
        if values.min() < 0:
            row = int(np.argmin(values))
            raise InputError(
                f"`weights` must not be negative, got {values[row]:g} at {row}."
            )
        slack = 1e-9 if dtype == jnp.float64 else 1e-5
        if abs(values.sum() - 1) > slack:
            raise InputError(
                f"`weights` must sum to one, got {values.sum():.6g}. "
                "Pass weights / weights.sum()."
            )
    return jnp.log(w)


def stack(measures: list[Particles]) -> Particles:
    """Measures of one size as one batched object, for vmap and for trajectories."""
    return jax.tree_util.tree_map(lambda *leaves: jnp.stack(leaves), *measures)
