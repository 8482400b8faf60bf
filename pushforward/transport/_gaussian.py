"""Transport between Gaussians: Bures distance, affine maps, entropic closed forms.

W_2^2 = |a - b|^2 + tr A + tr B - 2 tr (A^{1/2} B A^{1/2})^{1/2},
T(x) = b + A^{-1/2} (A^{1/2} B A^{1/2})^{1/2} A^{-1/2} (x - a).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from pushforward._checks import above_zero
from pushforward.errors import InputError
from pushforward.transport._atoms import as_atoms


@dataclass(frozen=True, eq=False, init=False)
class Gaussian:
    """N(mean, covariance), checked; the covariance may be singular."""

    mean: Float[np.ndarray, "d"]
    covariance: Float[np.ndarray, "d d"]

    def __init__(self, mean: ArrayLike, covariance: ArrayLike):
        try:
            mean = np.atleast_1d(np.asarray(mean, dtype=float))
            matrix = np.atleast_2d(np.asarray(covariance, dtype=float))
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"mean and covariance must be numbers ({error}); pass arrays."
            ) from error
        d = len(mean)
        if not mean.size or mean.ndim != 1 or matrix.shape != (d, d):
            raise InputError(
                f"covariance must be ({d}, {d}) for a mean of shape {mean.shape}, got "
                f"{matrix.shape}."
            )
        if not (np.isfinite(mean).all() and np.isfinite(matrix).all()):
            raise InputError("mean and covariance must be finite.")
        scale = float(np.abs(matrix).max())
        if np.abs(matrix - matrix.T).max() > 1e-10 * scale:
            raise InputError("covariance must be symmetric; use (S + S.T) / 2.")
        lowest = float(np.linalg.eigvalsh(matrix)[0])
        if lowest < -1e-10 * scale:
            raise InputError(
                f"covariance must be positive, its lowest eigenvalue is {lowest:.3g}."
            )
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "covariance", (matrix + matrix.T) / 2)

    @property
    def d(self) -> int:
        """Dimension."""
        return len(self.mean)

    @classmethod
    def fit(cls, mu: object, *, ridge: float = 0.0) -> "Gaussian":
        """Mean and covariance of a discrete measure, plus `ridge` times I."""
        atoms = as_atoms("mu", mu)
        mean = atoms.weights @ atoms.points
        centered = atoms.points - mean
        covariance = centered.T @ (atoms.weights[:, None] * centered)
        return cls(mean, covariance + ridge * np.eye(len(mean)))


def check_gaussians(**measures: object) -> None:
    """Refuse what is not a Gaussian, by the name of the argument."""
    for name, value in measures.items():
        if not isinstance(value, Gaussian):
            raise InputError(
                f"{name} must be a Gaussian, got {type(value).__name__}; use "
                "Gaussian(mean, covariance) or Gaussian.fit(points)."
            )


@dataclass(frozen=True, eq=False)
class AffineMap:
    """x -> target + slope (x - source), the optimal map between two Gaussians."""

    source: Float[np.ndarray, "d"]
    target: Float[np.ndarray, "d"]
    slope: Float[np.ndarray, "d d"]

    def __call__(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """The images of the rows of x."""
        return self.target + (np.asarray(x) - self.source) @ self.slope.T


def gaussian_distance(mu: Gaussian, nu: Gaussian) -> float:
    """W_2 between two Gaussians; the Bures distance when the means agree."""
    check_gaussians(mu=mu, nu=nu)
    _same(mu, nu)
    root = square_root(mu.covariance)
    cross = square_root(root @ nu.covariance @ root)
    bures = np.trace(mu.covariance) + np.trace(nu.covariance) - 2 * np.trace(cross)
    shift = float(np.sum((mu.mean - nu.mean) ** 2))
    return float(np.sqrt(max(shift + bures, 0.0)))


def gaussian_map(mu: Gaussian, nu: Gaussian) -> AffineMap:
    """The optimal map from mu to nu; mu must have an invertible covariance."""
    check_gaussians(mu=mu, nu=nu)
    _same(mu, nu)
    return AffineMap(mu.mean, nu.mean, bures_map(mu.covariance, nu.covariance))


def entropic_gaussian_value(mu: Gaussian, nu: Gaussian, eps: float) -> float:
    """min E|X - Y|^2 + eps KL(P | mu x nu), in closed form.

    With s = eps / 2 and D = (4 A^{1/2} B A^{1/2} + s^2)^{1/2}:
    |a - b|^2 + tr A + tr B - tr D + d s (1 - log 2s) + s log det(D + s).
    """
    check_gaussians(mu=mu, nu=nu)
    eps = _regularization(eps, "use gaussian_distance for eps = 0.")
    _same(mu, nu)
    s = eps / 2
    root = square_root(mu.covariance)
    d_values = np.sqrt(
        4 * np.linalg.eigvalsh(_symmetric(root @ nu.covariance @ root)).clip(0) + s**2
    )
    shift = float(np.sum((mu.mean - nu.mean) ** 2))
    traces = float(np.trace(mu.covariance) + np.trace(nu.covariance))
    entropy = mu.d * s * (1 - np.log(2 * s)) + s * float(np.log(d_values + s).sum())
    value = shift + traces - float(d_values.sum()) + entropy
    if not np.isfinite(value):
        raise InputError(f"`eps` {eps:g} is too small: use gaussian_distance for 0.")
    return value


def entropic_gaussian_map(mu: Gaussian, nu: Gaussian, eps: float) -> AffineMap:
    """E[Y | X = x] under the entropic plan: slope A^{-1/2} (D - s) A^{-1/2} / 2."""
    check_gaussians(mu=mu, nu=nu)
    eps = _regularization(eps, "use gaussian_map for eps = 0.")
    _same(mu, nu)
    s = eps / 2
    root, inverse = square_root(mu.covariance), _inverse_root(mu.covariance)
    d = square_root(4 * root @ nu.covariance @ root + s**2 * np.eye(mu.d))
    slope = inverse @ (d - s * np.eye(mu.d)) @ inverse / 2
    return AffineMap(mu.mean, nu.mean, slope)


def gaussian_sinkhorn_divergence(mu: Gaussian, nu: Gaussian, eps: float) -> float:
    """OT_eps(mu, nu) - OT_eps(mu, mu) / 2 - OT_eps(nu, nu) / 2, in closed form."""
    check_gaussians(mu=mu, nu=nu)
    within = entropic_gaussian_value(mu, mu, eps) + entropic_gaussian_value(nu, nu, eps)
    return entropic_gaussian_value(mu, nu, eps) - within / 2


def _regularization(eps: float, instead: str) -> float:
    """A positive number whose square is a float."""
    value = above_zero("eps", eps, instead)
    if value > 1e100:
        raise InputError(f"`eps` must be at most 1e100, got {value:g}.")
    return value


def square_root(matrix: Float[np.ndarray, "d d"]) -> Float[np.ndarray, "d d"]:
    """The positive square root of a positive symmetric matrix."""
    values, vectors = np.linalg.eigh(_symmetric(matrix))
    return (vectors * np.sqrt(values.clip(0))) @ vectors.T


def bures_map(
    a: Float[np.ndarray, "d d"], b: Float[np.ndarray, "d d"]
) -> Float[np.ndarray, "d d"]:
    """The positive matrix T with T A T = B."""
    root, inverse = square_root(a), _inverse_root(a)
    return _symmetric(inverse @ square_root(root @ b @ root) @ inverse)


def _inverse_root(matrix: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(_symmetric(matrix))
    if values[0] <= 1e-14 * max(values[-1], 1e-300):
        raise InputError(
            f"the source covariance is singular (eigenvalues {values[0]:.2g} to "
            f"{values[-1]:.2g}); add a ridge, Gaussian.fit(x, ridge=...)."
        )
    return (vectors / np.sqrt(values)) @ vectors.T


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return (matrix + matrix.T) / 2


def _same(mu: Gaussian, nu: Gaussian) -> None:
    if mu.d != nu.d:
        raise InputError(f"mu and nu must have one dimension, got {mu.d} and {nu.d}.")
