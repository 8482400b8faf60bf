"""Maps that preserve volume, as permutations of small cells.

How far a flow is from the map that it should be.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, PRNGKeyArray
from scipy.optimize import linear_sum_assignment

from pushforward._checks import whole
from pushforward.control._checks import finite
from pushforward.control.normalizing.grids import RAMP, centers, permutation
from pushforward.control.normalizing.normalizing_flow import NormalizingFlow
from pushforward.errors import InputError
from pushforward.transport import wasserstein_distance

MOST_CELLS = 8192  # the table of costs of the assignment then has 512 MiB
OUTSIDE = 1e-6  # a map may leave the cube by rounding, not by more

Map = Callable[[np.ndarray], np.ndarray]


def volume_preserving(
    phi: Map, m: int, d: int = 2, *, ramp: float = RAMP
) -> NormalizingFlow:
    """A volume-preserving map of the unit cube, as a permutation of m^d cells.

    phi acts on an (n, d) array. The images of the centers are assigned to the centers
    at least total squared distance; the permutation is run by shears. The L^2 error is
    of order 1/m and the determinant of the flow is one.

    >>> turn = lambda x: np.stack([1 - x[:, 1], x[:, 0]], axis=1)
    >>> flow = volume_preserving(turn, m=2)
    >>> print(np.round(flow.forward([[0.1, 0.2]]), 12))  # cells turn, their inside not
    [[0.6 0.2]]
    """
    m = whole("m", m, 1)
    points = centers(m, d)
    goals = images(phi, points)
    return permutation(nearest_assignment(goals, points), d, ramp=ramp)


def nearest_assignment(
    goals: Float[np.ndarray, "n d"], cells: Float[np.ndarray, "n d"]
) -> Int[np.ndarray, "n"]:
    """The one-to-one assignment of goals to cells of least total squared distance."""
    if len(cells) > MOST_CELLS:
        raise InputError(
            f"{len(cells)} cells are too many for an exact assignment (at most "
            f"{MOST_CELLS}). Take a coarser grid."
        )
    cost = (goals**2).sum(1)[:, None] + (cells**2).sum(1)[None] - 2 * goals @ cells.T
    return linear_sum_assignment(cost)[1]


def images(phi: Map, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
    """phi at the points, refused where it is not a map of the unit cube."""
    y = np.asarray(phi(points), dtype=float)
    if y.shape != points.shape:
        raise InputError(
            f"`phi` must return one point per row: {points.shape} in, {y.shape} out."
        )
    bad = np.flatnonzero(~np.isfinite(y).all(axis=1))
    if len(bad):
        raise InputError(
            f"`phi` is NaN or infinite at {len(bad)} points, first at {points[bad[0]]}."
        )
    out = np.flatnonzero(((y < -OUTSIDE) | (y > 1 + OUTSIDE)).any(axis=1))
    if len(out):
        raise InputError(
            f"`phi` leaves the unit cube at {len(out)} of {len(y)} points: it carries "
            f"{points[out[0]]} to {y[out[0]]}. Rescale it to map [0, 1]^d to itself."
        )
    return y


class Distance(NamedTuple):
    """Errors of a flow, from points of its base law.

    - `l2`, `lp`: (mean |Phi(x) - phi(x)|^p)^{1/p} for p = 2 and for the p asked for.
    - `median`: of |Phi(x) - phi(x)|.
    - `total_variation`: between the image laws, from exact determinants; None when
      the density of the wanted image is not given.
    """

    l2: float
    lp: float
    median: float
    total_variation: float | None


def distance_to_map(
    flow: NormalizingFlow, phi: Map, points, *, p: float = 2.0, log_density=None
) -> Distance:
    """Errors of the flow as an approximation of phi, over the given points.

    `points` follow the base law of the flow. `log_density(y)` is that of the wanted
    image phi_# base; with it the total variation int (q - r)_+ between the density q
    of the flow and the wanted r is the mean of (1 - r/q)_+ at images of the points.
    """
    x = finite("points", points, (None, flow.d))
    if not p >= 1 or math.isinf(p):
        raise InputError(
            f"`p` must be at least 1 and finite, got {p}. Permutations of cells are "
            "discontinuous: the largest error is not small."
        )
    y, log_det = flow.with_log_det(x)
    gap = np.linalg.norm(np.asarray(y) - np.asarray(phi(x)), axis=1)
    tv = None
    if log_density is not None:
        own = flow.base.log_density(jnp.asarray(x)) - log_det
        ratio = np.exp(np.asarray(log_density(np.asarray(y))) - np.asarray(own))
        tv = float(np.maximum(1 - ratio, 0.0).mean())
    l2 = float(np.sqrt((gap**2).mean()))
    return Distance(l2, float((gap**p).mean() ** (1 / p)), float(np.median(gap)), tv)


def sample_distance(flow: NormalizingFlow, samples, *, key: PRNGKeyArray) -> float:
    """W_2 between the samples and as many draws of the flow, exactly.

    A conditional flow draws once for the condition of every sample.
    """
    x = finite("samples", samples, (None, flow.d))
    given = x[:, list(flow.given)] if flow.given else None
    drawn = flow.sample(key, len(x), given=given)
    return wasserstein_distance(np.asarray(drawn), x)
