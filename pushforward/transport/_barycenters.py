"""Barycenters: the measure of least mean squared distance to several others."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float, Real

from pushforward.errors import InputError
from pushforward.transport._atoms import as_atoms, same_dimension, simplex_weights
from pushforward.transport._gaussian import Gaussian, bures_map
from pushforward.transport.exact._exact import optimal_plan


@dataclass(frozen=True, eq=False)
class GaussianBarycenter:
    """The barycenter, and the gradient norm |T - I| at each iterate (W_2 gradient)."""

    gaussian: Gaussian
    gradient_norms: list[float] = field(repr=False)
    iterations: int


@dataclass(frozen=True, eq=False)
class FreeBarycenter:
    """Points and weights of a barycenter, its mean squared distance and residual.

    `residual` is the root mean square move of the last iteration: zero at a fixed
    point. The problem is not convex in the points: a fixed point, not a proof.
    """

    points: Float[np.ndarray, "k d"]
    weights: Float[np.ndarray, "k"]
    value: float
    residual: float
    iterations: int


def gaussian_barycenter(
    gaussians: Sequence[Gaussian],
    *,
    weights: Real[ArrayLike, "m"] | Sequence | None = None,
    step: float = 1.0,
    tol: float = 1e-13,
    iterations: int = 500,
) -> GaussianBarycenter:
    """The W_2 barycenter of Gaussians by gradient descent on the Bures manifold.

        T = sum_i w_i T_{S -> C_i},   S <- ((1 - h) I + h T) S ((1 - h) I + h T).

    `step` h = 1 is the classical fixed-point iteration; convergence is linear.
    """
    if not len(gaussians):
        raise InputError("gaussians must not be empty; pass at least one.")
    if not 0 < step <= 1:
        raise InputError(f"step must lie in (0, 1], got {step}.")
    d = gaussians[0].d
    if any(g.d != d for g in gaussians):
        raise InputError(
            f"gaussians must have one dimension, got {[g.d for g in gaussians]}."
        )
    w = simplex_weights("weights", weights, len(gaussians))
    mean = w @ np.stack([g.mean for g in gaussians])
    covariances = [g.covariance for g in gaussians]
    s = np.einsum("i,ijk->jk", w, np.stack(covariances))
    norms: list[float] = []
    while len(norms) < iterations:
        t = np.einsum("i,ijk->jk", w, np.stack([bures_map(s, c) for c in covariances]))
        offset = t - np.eye(d)
        norms.append(float(np.sqrt(np.trace(offset @ s @ offset).clip(0))))
        if norms[-1] <= tol * np.sqrt(np.trace(s)):
            break
        move = np.eye(d) + step * offset
        s = move @ s @ move
    return GaussianBarycenter(Gaussian(mean, (s + s.T) / 2), norms, len(norms))


def free_barycenter(
    measures: Sequence[object],
    start: Float[np.ndarray, "k d"],
    *,
    weights: Real[ArrayLike, "m"] | Sequence | None = None,
    tol: float = 1e-9,
    iterations: int = 100,
) -> FreeBarycenter:
    """A W_2 barycenter carried by as many equal atoms as `start` has rows.

    Each atom moves to the weighted mean of its images under the optimal plans to the
    measures, until nothing moves.
    """
    if not len(measures):
        raise InputError("measures must not be empty; pass at least one.")
    w = simplex_weights("weights", weights, len(measures))
    current = as_atoms("start", start)
    for k, mu in enumerate(measures):
        same_dimension(current, as_atoms(f"measures[{k}]", mu))
    points, residual, value, count = current.points, np.inf, np.inf, 0
    while count < iterations and residual > tol:
        plans = [optimal_plan((points, current.weights), mu) for mu in measures]
        moved = sum(
            (wk * plan.map for wk, plan in zip(w, plans, strict=True)),
            start=np.zeros_like(points),
        )
        residual = float(np.sqrt(np.mean(np.sum((moved - points) ** 2, axis=1))))
        value = float(sum(wk * plan.cost for wk, plan in zip(w, plans, strict=True)))
        points, count = moved, count + 1
    return FreeBarycenter(points, current.weights, value, residual, count)
