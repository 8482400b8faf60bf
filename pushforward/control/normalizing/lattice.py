"""Slab shifts of integer cells, and the three-cycles that their commutators are.

A `Shift` moves every cell of Z^d whose coordinate `of` equals `slab` by `amount`
cells along the axis `along`. Two permutations whose supports meet in one cell have a
three-cycle as commutator: that is how infinite slabs come to move single cells.
"""

import itertools
from typing import NamedTuple

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
