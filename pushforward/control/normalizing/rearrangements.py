"""Maps that preserve volume, as permutations of small cells."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment

from pushforward._checks import whole
from pushforward.control.normalizing.grids import RAMP, centers, permutation
from pushforward.control.normalizing.normalizing_flow import NormalizingFlow
from pushforward.errors import InputError

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
