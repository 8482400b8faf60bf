"""Grids of the unit cube whose cells are shifted, cycled and permuted by neurons, and
any permutation of them as a word of such shifts.
"""

import itertools
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from pushforward._checks import whole
from pushforward.control._checks import finite
from pushforward.control.normalizing.normalizing_flow import (
    AbstractLaw,
    NormalizingFlow,
    UnitCube,
    identity,
)
from pushforward.errors import InputError

Cell = tuple[int, ...]


class Shift(NamedTuple):
    """Cells with coordinate `of` equal to `slab` move by `amount` along `along`."""

    along: int
    of: int
    slab: int
    amount: int

    def moved(self, cell: Cell) -> Cell:
        """Where the shift carries a cell."""
        if cell[self.of] != self.slab:
            return cell
        i = self.along
        return (*cell[:i], cell[i] + self.amount, *cell[i + 1 :])


Word = tuple[Shift, ...]
"""Shifts, applied from left to right."""


def image(word: Word, cell: Cell) -> Cell:
    """Where the word carries a cell."""
    for shift in word:
        cell = shift.moved(cell)
    return cell


def inverse(word: Word) -> Word:
    """The word that undoes it."""
    return tuple(s._replace(amount=-s.amount) for s in reversed(word))


def commutator(first: Word, second: Word) -> Word:
    """first, second, first undone, second undone."""
    return (*first, *second, *inverse(first), *inverse(second))


def plane_cycle(corner: Cell, axes: tuple[int, int], p: int, q: int) -> Word:
    """The three-cycle corner - p e_i -> corner -> corner - q e_j -> back.

    i, j are the two axes. In dimension 3 and more each of the three stands for all
    cells that share its coordinates i and j. Four shifts.
    """
    if p == 0 or q == 0:
        raise InputError(f"`p` and `q` must not be zero, got {p} and {q}.")
    i, j = axes
    row = Shift(along=i, of=j, slab=corner[j], amount=p)
    column = Shift(along=j, of=i, slab=corner[i], amount=q)
    return commutator((row,), (column,))


def line_cycle(source: Cell, goal: Cell, i: int, outside: int) -> Word:
    """A three-cycle of single cells that carries `source` to `goal` along axis i.

    The third cell has a coordinate of at least `outside`. In the plane this is one
    commutator, four shifts. In each further dimension it moves whole lines, so it is
    crossed with a cycle that meets these lines in the goal alone: four times as many.
    """
    taken = {*source, *goal}
    free = (k for k in itertools.count(outside) if k not in taken)
    others = [j for j in range(len(source)) if j != i]
    apart = source[i] - goal[i]
    word = plane_cycle(
        source, (i, others[0]), apart, source[others[0]] - (spare := next(free))
    )
    if image(word, source) != goal:
        word = inverse(word)
    for j in others[1:]:
        # Two cells at a coordinate i that no other cell has, one at the goal.
        corner = (*goal[:i], next(free), *goal[i + 1 :])
        crossing = plane_cycle(corner, (j, i), corner[j] - spare, corner[i] - goal[i])
        word = commutator(word, crossing)  # source -> goal -> somewhere outside
    return word


def route(target: Int[np.ndarray, "cells"], m: int, d: int) -> list[Word]:
    """Words, one cycle each, that together carry cell k of an m^d grid to target[k].

    Cells are numbered with the last coordinate slowest, so that in the plane the
    number of (x_1, x_2) is x_1 + m x_2. Destinations are served in this order; a cell
    that is served is not disturbed again. Items may wait outside the grid, where a
    dummy row or slab takes care of the parity.
    """
    goals = {cell_of(int(target[k]), m, d): k for k in range(m**d)}
    home = {k: cell_of(k, m, d) for k in range(m**d)}  # where item k is now
    holder = {cell: k for k, cell in home.items()}  # which item a cell has
    cycle = _plane_step if d == 2 else _space_step
    words = []
    for rank in range(m**d):
        goal = cell_of(rank, m, d)
        present = home[goals[goal]]
        if present == goal:
            continue
        word, moved = cycle(present, goal, m)
        _follow(word, moved, home, holder)
        words.append(word)
    return words


def cell_of(k: int, m: int, d: int) -> Cell:
    """The coordinates of cell number k."""
    cell = []
    for _ in range(d):
        cell.append(k % m)
        k //= m
    return tuple(cell)


def _plane_step(present: Cell, goal: Cell, m: int) -> tuple[Word, list[Cell]]:
    """The three-cycle that carries present to goal; all later cells are free.

    Coordinates are (column, row); rows are served from below.
    """
    (column, row), (goal_column, goal_row) = present, goal
    if row == goal_row:  # the third cell lies in the row above, or in the dummy row
        word = plane_cycle(present, (0, 1), column - goal_column, -1)
        return inverse(word), [present, goal, (column, row + 1)]
    if column == goal_column:  # the third cell is any other one of the present row
        mate = column + 1 if column + 1 < m else column - 1
        word = plane_cycle(present, (0, 1), column - mate, row - goal_row)
        return word, [present, goal, (mate, row)]
    corner = (goal_column, row)
    word = plane_cycle(corner, (0, 1), goal_column - column, row - goal_row)
    return inverse(word), [present, goal, corner]


def _space_step(present: Cell, goal: Cell, m: int) -> tuple[Word, list[Cell]]:
    """The same in any dimension: align with shifts, run a line cycle, shift back."""
    j = next(j for j in range(len(goal)) if present[j] != goal[j])
    align = tuple(
        Shift(along=i, of=j, slab=present[j], amount=goal[i] - present[i])
        for i in range(len(goal))
        if goal[i] != present[i] and i != j
    )
    cycle = line_cycle(image(align, present), goal, j, m)
    word = (*align, *cycle, *inverse(align))
    third = image(word, goal)
    return word, [present, goal, third]


def _follow(word: Word, moved: list[Cell], home: dict, holder: dict) -> None:
    items = [holder.pop(cell, None) for cell in moved]
    for cell, item in zip(moved, items, strict=True):
        if item is not None:
            home[item] = image(word, cell)
            holder[home[item]] = item


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
