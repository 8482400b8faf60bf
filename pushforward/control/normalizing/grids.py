"""Grids of the unit cube whose cells are shifted, cycled and permuted by shears."""

import numpy as np

from pushforward._checks import whole
from pushforward.control._checks import finite
from pushforward.control.normalizing.bases import AbstractLaw, UnitCube
from pushforward.control.normalizing.normalizing_flow import NormalizingFlow, identity
from pushforward.control.normalizing.routing import Shift, Word, plane_cycle, route
from pushforward.errors import InputError

RAMP = 1e-6  # width of a ramp over width of a cell
LEAST_RAMP = 1e-9


def strip_shift(
    d: int,
    along: int,
    of: int,
    strip,
    amount: float,
    ramp: float,
    base: AbstractLaw | None = None,
) -> NormalizingFlow:
    """Coordinate `along` moves by `amount` where lo < x_of < hi, nothing elsewhere.

    Four shears; inside the strip the shift rises over a width `ramp` at both ends.
    Volume is preserved.

    >>> flow = strip_shift(2, along=0, of=1, strip=(0, 1), amount=2.0, ramp=0.1)
    >>> print(np.round(flow.forward([[0.0, 0.5], [0.0, 1.5]])[:, 0], 12))
    [2. 0.]
    """
    d = whole("d", d, 2, "A flow of the line cannot jump over points.")
    lo, hi = (float(v) for v in finite("strip", strip, (2,)))
    ramp = float(finite("ramp", ramp))
    if along == of or not {along, of} <= set(range(d)):
        raise InputError(
            f"`along` and `of` must be two of the coordinates 0 to {d - 1}, got "
            f"{along} and {of}."
        )
    if not 0 < ramp <= (hi - lo) / 2:
        raise InputError(
            f"`ramp` must be positive and at most half of the strip ({lo:g}, {hi:g}), "
            f"got {ramp:g}."
        )
    left, right, by = (np.array([v]) for v in (lo, hi, float(finite("amount", amount))))
    height, b = (v.ravel() for v in _strip_pieces(left, right, by, ramp))
    w, a = np.zeros((4, d)), np.zeros((4, d))
    w[:, along], a[:, of] = height, 1.0
    return NormalizingFlow(w, a, b, np.ones(4), base)


def three_cycle(
    m: int, corner, p: int, q: int, *, axes=(0, 1), d: int = 2, ramp: float = RAMP
) -> NormalizingFlow:
    """The cycle corner - p e_i -> corner -> corner - q e_j of cells of an m^d grid.

    i, j are the two axes; in dimension 3 and more whole fibers cycle. Sixteen pieces:
    shift of a row, of a column, of the row back, of the column back.
    """
    cell = tuple(int(k) for k in finite("corner", corner, (d,)))
    return flow_of_words([plane_cycle(cell, axes, p, q)], m, d, ramp)


def permutation(target, d: int = 2, *, ramp: float = RAMP) -> NormalizingFlow:
    """The flow that carries cell k of a grid of the unit cube to cell target[k].

    Cell k has coordinates (k % m, k // m, ...). At most 16 pieces per cell in the
    plane, 16 * 4^{d-2} + 8 (d - 1) in dimension d >= 3; a cycle may disturb cells
    that were in place, which then cost a cycle too.
    Outside an area of order `ramp` (relative to the width of a cell) every point
    moves exactly with its cell.

    >>> flow = permutation([1, 0, 2, 3])
    >>> print(flow.pieces, np.round(flow.forward([[0.25, 0.25]]), 12))
    64 [[0.75 0.25]]
    """
    d = whole("d", d, 2, "Flows of the line keep the order of points.")
    chosen = np.asarray(target)
    m = round(chosen.size ** (1 / d)) if chosen.ndim == 1 else 0
    if chosen.ndim != 1 or m**d != chosen.size or m == 0:
        raise InputError(
            f"`target` must list the m^{d} cells of a grid, got shape {chosen.shape}."
        )
    if chosen.dtype.kind not in "iu" or not np.array_equal(
        np.sort(chosen), np.arange(chosen.size)
    ):
        raise InputError(
            f"`target` must be a permutation of 0 to {chosen.size - 1}: every cell is "
            "the goal of exactly one."
        )
    return flow_of_words(route(chosen, m, d), m, d, ramp)


def centers(m: int, d: int = 2) -> np.ndarray:
    """The centers of the m^d cells, in the order in which cells are numbered."""
    line = (np.arange(m) + 0.5) / m
    grid = np.meshgrid(*[line] * d, indexing="ij")
    return np.stack([g.ravel(order="F") for g in grid], axis=1)


def flow_of_words(
    words: list[Word], m: int, d: int, ramp: float = RAMP
) -> NormalizingFlow:
    """Words of slab shifts run as shears on a grid of m^d cells."""
    m, share = whole("m", m, 1), float(finite("ramp", ramp))
    if not LEAST_RAMP <= share <= 0.5:
        raise InputError(
            f"`ramp` is a share of a cell, from {LEAST_RAMP:g} to 0.5; got {share:g}. "
            "Thinner ramps drown in rounding: weights are 1/ramp."
        )
    shifts: list[Shift] = [shift for word in words for shift in word]
    if not shifts:
        return identity(d, UnitCube())
    along, of, slab, amount = np.array(shifts).T
    height, b = _strip_pieces(slab / m, (slab + 1) / m, amount / m, share / m)
    k = len(shifts)
    w, a = np.zeros((k, 4, d)), np.zeros((k, 4, d))
    w[np.arange(k), :, along] = height
    a[np.arange(k), :, of] = 1.0
    rows = (-1, d)
    w, a, b = w.reshape(rows), a.reshape(rows), b.ravel()  # type: ignore[assignment]
    return NormalizingFlow(w, a, b, np.ones(4 * k), UnitCube())


def _strip_pieces(lo, hi, amount, ramp) -> tuple[np.ndarray, np.ndarray]:
    """Weights and biases, (k, 4): up over [lo, up], down over [down, hi].

    The slopes divide by the ramps as they are after rounding, so that the plateau is
    `amount` to the last digit.
    """
    up, down = lo + ramp, hi - ramp
    rise, fall = amount / (up - lo), amount / (hi - down)
    height = np.stack([rise, -rise, -fall, fall], axis=1)
    return height, -np.stack([lo, up, down, hi], axis=1)
