"""Transport maps estimated from samples, defined at every point of space."""

from dataclasses import dataclass, field

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from pushforward._checks import above_zero
from pushforward.errors import InputError
from pushforward.transport._atoms import Atoms, Plan, as_atoms, same_dimension
from pushforward.transport._gaussian import AffineMap, Gaussian, gaussian_map
from pushforward.transport.entropic._entropic import entropic_plan
from pushforward.transport.entropic._entropic_plan import EntropicPlan
from pushforward.transport.entropic._pairing import squared_pairing
from pushforward.transport.entropic._sinkhorn import log_of
from pushforward.transport.exact._exact import optimal_plan


@dataclass(frozen=True, eq=False)
class EntropicMap:
    """T(x) = sum_j y_j softmax_j((g_j - |x - y_j|^2) / eps + log b_j).

    The conditional mean of the entropic plan, extended to all of R^d; it is the
    gradient of a smooth convex function. `plan` carries the certificate.
    """

    target: Atoms = field(repr=False)
    potential: Float[np.ndarray, "m"] = field(repr=False)
    eps: float
    plan: EntropicPlan = field(repr=False)

    def __call__(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """The images of the rows of x."""
        x = _queries(x, self.target)
        y, g, eps = (
            jnp.asarray(z) for z in (self.target.points, self.potential, self.eps)
        )
        logs = log_of(jnp.asarray(self.target.weights)) + g / eps
        found = squared_pairing(jnp.asarray(x), y).averages(logs, y, eps)
        return np.asarray(found.mean)


@dataclass(frozen=True, eq=False)
class NearestNeighborMap:
    """Sends x to the image of the nearest source point under the exact plan."""

    plan: Plan = field(repr=False)

    def __call__(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """The images of the rows of x."""
        source = self.plan.source
        alive = source.weights > 0
        x = _queries(x, source)
        nearest = cKDTree(source.points[alive]).query(x)[1]
        return self.plan.map[alive][nearest]


def entropic_map(
    mu: object, nu: object, eps: float, *, tol: float = 1e-8, iterations: int = 20_000
) -> EntropicMap:
    """The entropic map estimator, squared-distance cost. [pooladian2021entropic]"""
    eps = above_zero("eps", eps, "Try 2 n^(-1/(d + 2)) in the units of the cost.")
    plan = entropic_plan(mu, nu, eps, tol=tol, iterations=iterations)
    return EntropicMap(plan.target, plan.potentials[1], eps, plan)


def nearest_neighbor_map(mu: object, nu: object) -> NearestNeighborMap:
    """The 1-nearest-neighbor plug-in map; squared error n^{-2/d}. [manole2024plugin]"""
    return NearestNeighborMap(optimal_plan(mu, nu))


def gaussian_plugin_map(mu: object, nu: object, *, ridge: float = 0.0) -> AffineMap:
    """The affine map between Gaussians fitted to the samples; error n^{-1}."""
    a, b = as_atoms("mu", mu), as_atoms("nu", nu)
    same_dimension(a, b)
    fitted = (
        Gaussian.fit((atoms.points, atoms.weights), ridge=ridge) for atoms in (a, b)
    )
    return gaussian_map(*fitted)


def _queries(x: object, atoms: Atoms) -> np.ndarray:
    points = as_atoms("x", x).points
    if points.shape[1] != atoms.points.shape[1]:
        raise InputError(
            f"x must have {atoms.points.shape[1]} columns, got shape {points.shape}."
        )
    return points
