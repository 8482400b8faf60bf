"""Columns of a file in the parts they play: a wrong cell is told by its line."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from pushforward.errors import InputError
from pushforward.statistics.tables.number_files import NumericTable

Rule = tuple[Callable[[np.ndarray], np.ndarray], str]


def _whole(x: np.ndarray) -> np.ndarray:
    return (x >= 0) & (x == np.floor(x))


RULES: dict[str, Rule] = {
    "sigma": (lambda x: x > 0, "a standard deviation is positive"),
    "exposure": (lambda x: x > 0, "an exposure is positive"),
    "trials": (lambda x: _whole(x) & (x > 0), "trials are whole numbers from 1 on"),
    "weights": (lambda x: x >= 0, "a weight is not negative"),
    "counts": (_whole, "a count is a whole number from 0 on"),
}


def refuse_part(path: str | Path, table: NumericTable, name: str, part: str) -> None:
    """The column can play its part, in every row; NaN is a cell with nothing in it."""
    holds, rule = RULES[part]
    values = table.column(name)
    _refuse(path, table, name, np.isnan(values) | ~holds(values), rule)


def refuse_excess(
    path: str | Path, table: NumericTable, name: str, trials: float | np.ndarray
) -> None:
    """No more successes than trials."""
    most = np.broadcast_to(trials, (len(table.values),))
    bad = table.column(name) > most
    _refuse(path, table, name, bad, f"there were {most[int(np.argmax(bad))]:g} trials")


def _refuse(
    path: str | Path, table: NumericTable, name: str, bad: np.ndarray, rule: str
) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        value = table.column(name)[row]
        what = "nothing" if np.isnan(value) else f"{value:g}"
        raise InputError(
            f"{path}, line {table.lines[row]}, column "
            f"{table.columns[table.place(name)]!r} has {what}, but {rule}. Mend it, or "
            "take the row out (--drop-missing drops those with gaps)."
        )
