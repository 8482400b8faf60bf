"""Any permutation of grid cells as a word of slab shifts.

Slab shifts of integer cells, and the three-cycles that their commutators are.

A `Shift` moves every cell of Z^d whose coordinate `of` equals `slab` by `amount`
cells along the axis `along`. Two permutations whose supports meet in one cell have a
three-cycle as commutator: that is how infinite slabs come to move single cells.
"""

import itertools
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

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
