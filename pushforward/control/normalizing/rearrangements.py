"""Maps that preserve volume, as permutations of small cells; with them any
diffeomorphism of the unit square.
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
from pushforward.control.normalizing.lines import monotone_map
from pushforward.control.normalizing.normalizing_flow import NormalizingFlow, UnitCube
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


EDGE = 16  # points per edge of a cell when its image is measured


def diffeomorphism(
    phi: Map, m: int, refinement: int, *, ramp: float = RAMP
) -> NormalizingFlow:
    """A diffeomorphism of the unit square onto itself, close in L^2 and in density.

    (1) m x m cells are permuted so that the areas of their images increase from
    column to column; (2) columns are stretched to the mean area of their cells,
    rounded to multiples of the fine width 1/(m refinement), which is the gradient of
    a convex function; (3) the fine cells are permuted to where phi carries them. The
    error is of order 1/m with 16 (m^2 + (m refinement)^2) + O(m) pieces.

    phi acts on an (n, 2) array and preserves orientation.
    """
    m, fine = whole("m", m, 1), whole("refinement", refinement, 1) * m
    cells, grid = centers(m), centers(fine)
    _check_orientation(phi, fine)
    areas = image_areas(phi, m)
    order = np.argsort(areas, kind="stable")  # least first
    sorting = np.empty(m * m, dtype=int)
    rank = np.arange(m * m)
    sorting[order] = rank // m + m * (rank % m)
    widths = whole_widths(areas[order].reshape(m, m).mean(axis=1) * fine * m, fine)
    edges = np.concatenate([[0], np.cumsum(widths)]) / fine
    knots = np.arange(m + 1) / m
    first = permutation(sorting, ramp=ramp)
    stretch = monotone_map([1.0, 0.0], knots, edges, UnitCube())
    # the fine centers, back through the stretch and the first permutation
    squeezed = np.column_stack([np.interp(grid[:, 0], edges, knots), grid[:, 1]])
    number = cell_numbers(squeezed, m)
    back = np.argsort(sorting)
    sources = squeezed - cells[number] + cells[back[number]]
    last = permutation(nearest_assignment(images(phi, sources), grid), ramp=ramp)
    return first.then(stretch).then(last)


def image_areas(phi: Map, m: int) -> Float[np.ndarray, "cells"]:
    """The signed area of phi(cell) for the cells of an m x m grid.

    It is the integral of det D phi over the cell, taken around its edge: no
    derivative is needed, and the areas add up to that of phi(square).
    """
    n = m * EDGE
    fine = np.arange(n + 1) / n
    coarse = np.arange(m + 1) / m
    across = _edge_integrals(phi, np.stack(np.meshgrid(fine, coarse), axis=-1), m)
    upward = np.stack(np.meshgrid(coarse, fine, indexing="ij"), axis=-1)
    up = _edge_integrals(phi, upward, m)  # (edge, row)
    areas = across[:-1] + up[1:].T - across[1:] - up[:-1].T
    return areas.ravel()


def _edge_integrals(phi: Map, lines: np.ndarray, m: int) -> np.ndarray:
    """(1/2) int x dy - y dx along each edge of a grid; lines is (m+1, n+1, 2)."""
    y = images(phi, lines.reshape(-1, 2)).reshape(lines.shape)
    ahead, here = y[:, 1:], y[:, :-1]
    wedge = 0.5 * (here[..., 0] * ahead[..., 1] - here[..., 1] * ahead[..., 0])
    return wedge.reshape(m + 1, m, EDGE).sum(axis=2)


def _check_orientation(phi: Map, m: int) -> None:
    areas = image_areas(phi, m)
    bad = np.flatnonzero(areas <= 0)
    if not len(bad):
        return
    share = len(bad) / len(areas)
    where = centers(m)[bad[0]]
    if share == 1:
        raise InputError(
            "`phi` has a negative determinant everywhere: it reverses orientation, and "
            "flows cannot. Compose it with a reflection."
        )
    raise InputError(
        f"the determinant of `phi` changes sign: the image of the cell around {where} "
        f"has area {areas[bad[0]]:.3g} ({len(bad)} of {len(areas)} cells). Only "
        "diffeomorphisms are flows."
    )


def whole_widths(widths: np.ndarray, total: int) -> Int[np.ndarray, "m"]:
    """Integers of at least one that add up to `total`, close to the widths."""
    widths = widths * total / widths.sum()
    rounded = np.maximum(1, np.floor(widths)).astype(int)
    while rounded.sum() != total:
        missing = widths - rounded
        if rounded.sum() < total:
            rounded[np.argmax(missing)] += 1
        else:
            rounded[np.argmin(np.where(rounded > 1, missing, np.inf))] -= 1
    return rounded


def cell_numbers(points: np.ndarray, m: int) -> Int[np.ndarray, "n"]:
    """The number of the cell of an m x m grid that each point lies in."""
    index = np.clip(np.floor(points * m).astype(int), 0, m - 1)
    return index[:, 0] + m * index[:, 1]
