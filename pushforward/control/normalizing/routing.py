"""Any permutation of grid cells as a word of slab shifts."""

import numpy as np
from jaxtyping import Int

from pushforward.control.normalizing.lattice import (
    Cell,
    Shift,
    Word,
    image,
    inverse,
    line_cycle,
    plane_cycle,
)


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
