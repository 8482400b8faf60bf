"""Any diffeomorphism of the unit square: permute, compress, permute."""

import numpy as np
from jaxtyping import Float, Int

from pushforward._checks import whole
from pushforward.control.normalizing.bases import UnitCube
from pushforward.control.normalizing.grids import RAMP, centers, permutation
from pushforward.control.normalizing.lines import monotone_map
from pushforward.control.normalizing.normalizing_flow import NormalizingFlow
from pushforward.control.normalizing.rearrangements import (
    Map,
    images,
    nearest_assignment,
)
from pushforward.errors import InputError

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
