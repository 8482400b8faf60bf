"""Gaussian measures: a mean and a covariance that affine motions keep Gaussian."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, PRNGKeyArray, Real

from pushforward._checks import (
    Number,
    as_float_array,
    check_finite,
    double_precision,
    is_traced,
    prng_key,
    whole,
)
from pushforward.errors import InputError
from pushforward.measures._measure import AbstractMeasure, taken
from pushforward.measures._particles import Particles
from pushforward.spaces import Euclidean

SMALL = 1e-12  # eigenvalues below this share of the largest are zero
MOST_NODES = 2_000_000


class Gaussian(AbstractMeasure):
    """N(m, S) on R^d: m is the `center`, S the `covariance`, which may be singular.

    It is carried as m + F z with z standard normal and S = F F^T: an affine velocity
    B x + c moves m by B m + c and F by B F, so that S stays a covariance and its rank
    stays what it is. Its points are m +- sqrt(d) F e_k: they integrate polynomials of
    degree three exactly, and little else; `quadrature` has as many points as you ask.

    >>> mu = Gaussian([0.5], [[0.8]])
    >>> mu
    Gaussian(d=1)
    """

    center: Float[Array, "d"]
    covariance: Float[Array, "d d"]
    factor: Float[Array, "d d"]

    def __init__(
        self,
        center: Real[ArrayLike, "d"] | Sequence,
        covariance: Real[ArrayLike, "d d"] | Sequence,
    ):
        self.center = as_float_array("center", center)
        S = as_float_array("covariance", covariance)
        if self.center.ndim != 1 or not self.center.shape[0]:
            raise InputError(
                f"`center` must be a vector (d,), got shape {self.center.shape}."
            )
        check_finite("center", self.center)
        d = self.center.shape[0]
        if S.shape != (d, d):
            raise InputError(
                f"`covariance` must have shape ({d}, {d}) beside a center of R^{d}, "
                f"got {S.shape}."
            )
        check_finite("covariance", S)
        self.covariance = S.astype(self.center.dtype)
        self.factor = _factor(self.covariance)

    @classmethod
    def from_particles(cls, mu: AbstractMeasure) -> Gaussian:
        """The Gaussian with the mean and the covariance of another measure of R^d."""
        if not isinstance(mu, AbstractMeasure) or not isinstance(mu.space, Euclidean):
            raise InputError(f"`mu` must be a measure on Euclidean(d), got {mu!r}.")
        m = mu.mean()
        centered = mu.points - m[None]
        return cls(m, centered.T @ (mu.weights[:, None] * centered))

    def sample(self, key: PRNGKeyArray, n: int) -> Particles:
        """n independent particles of this law."""
        prng_key("key", key)
        shape = (whole("n", n, 1), self.d)
        normal = jax.random.normal(key, shape, self.center.dtype)
        return Particles(self.space, self.center[None] + normal @ self.factor.T)

    def quadrature(self, nodes: int = 12) -> Particles:
        """`nodes` points of Gauss and Hermite along every axis, as weighted atoms.

        Affine maps keep them such nodes: under attention that is exact on Gaussians
        these particles follow the mean-field limit, up to their tails.
        """
        nodes = whole("nodes", nodes, 1)
        if nodes**self.d > MOST_NODES:
            raise InputError(
                f"`nodes` must leave at most {MOST_NODES:,} points, got {nodes} in "
                f"each of {self.d} directions. Use mu.sample(key, n)."
            )
        x, w = np.polynomial.hermite_e.hermegauss(nodes)
        axes = np.meshgrid(*([x] * self.d), indexing="ij")
        z = jnp.asarray(np.stack([a.ravel() for a in axes], 1), self.center.dtype)
        log_w = np.log(w / w.sum())
        each = np.meshgrid(*([log_w] * self.d), indexing="ij")
        logs = jnp.asarray(np.sum(each, axis=0).ravel(), self.center.dtype)
        blank = Particles(self.space, jnp.zeros_like(z))
        return blank.moved(self.center[None] + z @ self.factor.T, logs)

    def moved(
        self,
        state: Float[Array, "*b r d"],
        log_weights: Float[Array, "*b n"] | None = None,
    ) -> Gaussian:
        """The Gaussian with this `state`, unchecked; what solvers use. It has no
        weights to move."""
        center, F = state[..., 0, :], jnp.swapaxes(state[..., 1:, :], -1, -2)
        new = (center, F @ jnp.swapaxes(F, -1, -2), F)
        return eqx.tree_at(lambda mu: (mu.center, mu.covariance, mu.factor), self, new)

    @property
    def state(self) -> Float[Array, "*b r d"]:
        """What moves: the center, and the columns of the factor."""
        columns = jnp.swapaxes(self.factor, -1, -2)
        return jnp.concatenate([self.center[..., None, :], columns], axis=-2)

    def arrays(self) -> dict[str, Array]:
        """Center, covariance and factor."""
        names = ("center", "covariance", "factor")
        return {name: getattr(self, name) for name in names}

    def with_arrays(self, arrays: Mapping[str, Any]) -> Gaussian:
        """Another Gaussian of the same dimension, unchecked but for its shape."""
        m, S, F = (jnp.asarray(taken(arrays, name)) for name in self.arrays())
        d = self.d
        if m.shape[-1:] != (d,) or {S.shape, F.shape} != {(*m.shape, d)}:
            raise InputError(
                f"`arrays` must hold a center ({d},) and matrices ({d}, {d}), got "
                f"shapes {m.shape}, {S.shape} and {F.shape}."
            )
        where = lambda mu: (mu.center, mu.covariance, mu.factor)  # noqa: E731
        return eqx.tree_at(where, self, (m, S, F))

    def blended(self, other: Gaussian, s: float) -> Gaussian:
        """Centers and factors mix linearly: along one flow, by affine maps."""
        return self.moved((1 - s) * self.state + s * other.state)

    def astype(self, dtype: str | type | np.dtype) -> Gaussian:
        """The same measure in another precision, "float32" or "float64"."""
        if np.dtype(dtype) == np.float64:
            double_precision("this measure in float64")
        return jax.tree_util.tree_map(lambda leaf: leaf.astype(dtype), self)

    @property  # type: ignore[misc]
    def space(self) -> Euclidean:  # type: ignore[override]
        """R^d."""
        return Euclidean(self.center.shape[-1])

    @property  # type: ignore[misc]
    def points(self) -> Float[Array, "*b n d"]:  # type: ignore[override]
        """m +- sqrt(d) F e_k for every k."""
        m, F = self.state[..., :1, :], self.state[..., 1:, :]
        reach = np.sqrt(self.center.shape[-1]).astype(self.center.dtype) * F
        return jnp.concatenate([m + reach, m - reach], axis=-2)

    @property
    def weights(self) -> Float[Array, "*b n"]:
        """Equal."""
        return jnp.exp(self.log_weights)

    @property  # type: ignore[misc]
    def log_weights(self) -> Float[Array, "*b n"]:  # type: ignore[override]
        """Equal."""
        shape = (*self.center.shape[:-1], 2 * self.center.shape[-1])
        return jnp.full(shape, -np.log(shape[-1]), self.center.dtype)

    @property
    def rank(self) -> int:
        """The rank of the covariance: attention keeps it."""
        values = np.linalg.svd(np.asarray(self.factor), compute_uv=False)
        return int((values > np.sqrt(SMALL) * max(values[0], 1e-300)).sum())

    def mean(self) -> Float[Array, "d"]:
        """The center."""
        return self.center

    @property
    def is_finite(self) -> Bool[Array, ""]:
        """Whether its numbers are, the covariance included."""
        ours = jnp.isfinite(self.center), jnp.isfinite(self.covariance)
        return jnp.all(ours[0]) & jnp.all(ours[1])

    @property
    def is_resolved(self) -> Bool[Array, ""]:
        """Two moments always are."""
        return jnp.array(True)

    def rule_of(self, field: Any) -> Callable:
        """The affine velocity of the field."""
        return field.gaussian_rule()

    def increment_of(self, noise: Any, key: PRNGKeyArray, h: Number) -> Array | None:
        """The common part moves the center; the independent part is not random."""
        common = noise.shared(key, h, self.d)
        if common is None:
            return None
        still = jnp.zeros_like(self.state)
        return still.at[0].set(common.astype(still.dtype))

    def __repr__(self) -> str:
        return f"Gaussian(d={self.center.shape[-1]})"


def _factor(S: Float[Array, "d d"]) -> Float[Array, "d d"]:
    """F with F F^T = S: of Cholesky, and where S is singular of its eigenvectors.

    Inside a transformation S must be regular: its values are not known there.
    """
    if is_traced(S):
        return jnp.linalg.cholesky(S)
    M = np.asarray(S, float)
    size = max(np.abs(M).max(), 1e-300)
    if np.abs(M - M.T).max() > 1e-6 * size:
        raise InputError(
            "`covariance` must be symmetric, got an asymmetry of "
            f"{np.abs(M - M.T).max():.3g}. Pass (S + S.T) / 2."
        )
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    if values[0] < -1e-6 * size:
        raise InputError(
            f"`covariance` must not have negative eigenvalues, got {values[0]:.3g}."
        )
    if values[0] > SMALL * size:
        return jnp.linalg.cholesky(S)
    roots = np.sqrt(np.where(values > SMALL * size, values, 0.0))
    return jnp.asarray(vectors * roots, S.dtype)
