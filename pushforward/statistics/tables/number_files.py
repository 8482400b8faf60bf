"""Numeric tables from files, read safely: a clear error or all the numbers."""

import math
import re
from dataclasses import dataclass, replace
from enum import Enum
from itertools import compress
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pushforward._checks import as_path
from pushforward._files import read_npy
from pushforward.errors import InputError, StoreError
from pushforward.statistics.tables._delimited import (
    MISSING,
    Row,
    decimal,
    has_decimal_comma,
    is_number,
    rows_of_numbers,
    told_apart,
)

EXAMPLE = "Expected a table of numbers such as:\n  x,y\n  0.1,2.5"
UNIT = re.compile(r"\s*[(\[][^)\]]*[)\]]\s*$")  # (km/s) at the end of a name


class BadCell(InputError):
    """A cell that is no finite number: where it is, what is wrong, what to do."""

    def __str__(self) -> str:
        where, what, fix = self.args
        return f"{where}: {what}. {fix}"


class Missing(Enum):
    """What becomes of empty cells and the like (NA, NaN, -)."""

    REFUSE = "refuse"
    DROP = "drop"
    KEEP = "keep"


@dataclass(frozen=True, eq=False)
class NumericTable:
    """Rows of numbers with the names of their columns; NaN is a missing value.

    `lines` are the lines of the file the rows come from, `decisions` how it was read,
    `names` those of the rows, none if a column of words does not tell them apart;
    `every` are the columns of the file.
    """

    columns: tuple[str, ...]
    values: Float[np.ndarray, "n d"]
    lines: tuple[int, ...] = ()
    decisions: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    every: tuple[str, ...] = ()

    def column(self, name: str) -> Float[np.ndarray, "n"]:
        """The numbers of one column, by its name."""
        return self.values[:, self.place(name)]

    def place(self, name: str) -> int:
        """The position of a column, by its name with or without its unit."""
        return _place("the file", list(self.columns), name)


def read_numbers(
    path: str | Path,
    columns: tuple[str, ...] | None = None,
    *,
    missing: Missing = Missing.REFUSE,
) -> NumericTable:
    """Read a table of numbers; the header, the delimiter and decimal commas are found.

    Files are text (.csv, .tsv, ...), .npy, and, with the extra `tables`, .xlsx (one
    sheet of several as book.xlsx#NAME) and .parquet. Lines with # before the table are
    left out. `columns` picks columns by name, with or without the unit in brackets (or
    by position, "1" the first, when the file has no header). Columns of words are no
    numbers: the first that tells all rows apart, or has no name, names them. Single
    words and ragged rows are refused with their line, and so is what is missing unless
    `missing` says otherwise.
    """
    path = as_path("path", path)
    if path.suffix == ".npy":
        table = _from_array(path, columns, missing)
        if table is not None:
            return table
    rows, told = rows_of_numbers(path)
    names, body = _headed(path, rows, told)
    words = [k for k in range(len(names)) if _is_words(body, k)]
    chosen = _chosen(path, names, columns)
    if columns is None:
        chosen = _of_numbers(names, body, chosen, words, told)
    comma = has_decimal_comma(str(path), body, chosen)
    values = np.empty((len(body), len(chosen)))
    for i, (line, cells) in enumerate(body):
        if len(cells) != len(names):
            raise InputError(
                f"{path}, line {line}: {len(cells)} cells where the first row has "
                f"{len(names)}. {EXAMPLE}"
            )
        for j, k in enumerate(chosen):
            values[i, j] = _number(path, line, names[k], cells[k], missing)
    told += ["decimal comma"] if comma else []
    labels = _labels(names, body, words, told)
    table = NumericTable(
        tuple(names[k] for k in chosen),
        values,
        tuple(line for line, _ in body),
        tuple(told),
        labels,
        tuple(names),
    )
    return without_missing(table) if missing is Missing.DROP else table


def _headed(
    path: Path, rows: list[Row], told: list[str]
) -> tuple[list[str], list[Row]]:
    """Names of the columns, numbers if there is no header, and the rows below."""
    first = rows[0][1]
    plain = [is_number(cell) for cell in first]
    data = [ok or _is_words(rows, k) for k, ok in enumerate(plain)]
    if all(plain) or (
        all(data) and any(c and ok for c, ok in zip(first, plain, strict=True))
    ):
        told.append("no header: columns are numbered from 1")
        return [str(k + 1) for k in range(len(first))], rows
    if len(rows) == 1:
        raise InputError(f"{path} has a header but no data. {EXAMPLE}")
    names, again = told_apart(tuple(first), "columns")
    told += again
    return list(names), rows[1:]


def _is_words(rows: list[Row], k: int) -> bool:
    """Whether nothing in a column is a number and something is a word."""
    cells = [cells[k] for _, cells in rows if k < len(cells)]
    some = [cell for cell in cells if cell.lower() not in MISSING]
    return bool(some) and not any(is_number(cell) for cell in some)


def _of_numbers(
    names: list[str],
    body: list[Row],
    chosen: list[int],
    words: list[int],
    told: list[str],
) -> list[int]:
    """Columns of numbers with a name; one without is for names of rows, or empty."""
    kept = [k for k in chosen if k not in words]
    if not kept:
        return chosen  # told by its first cell
    if words:
        shown = ", ".join(repr(names[k]) for k in words[:5])
        told.append(f"columns of words left out: {shown}{', ...' if words[5:] else ''}")
    empty = {
        k
        for k in kept
        if not names[k] and not any(k < len(cells) and cells[k] for _, cells in body)
    }
    rows = len(kept) > 1 and kept[0] == 0 and not names[0] and 0 not in empty
    if rows:
        told.append(
            "the first column has no name: taken for names of rows and left out"
        )
    return [k for k in kept if k not in empty and not (rows and k == 0)]


def _labels(
    names: list[str], body: list[Row], words: list[int], told: list[str]
) -> tuple[str, ...]:
    """Names of the rows: the first column of words, or without name, that differ."""
    for k in sorted({*words, *([0] if len(names) > 1 and not names[0] else [])}):
        cells = tuple(cells[k] for _, cells in body)
        counted = all(cell.isdigit() for cell in cells)  # 0, 1, ...: no names
        if all(cells) and len(set(cells)) == len(cells) and not counted:
            told += [f"rows are named by column {names[k]!r}"] if names[k] else []
            return cells
    return ()


def without_missing(table: NumericTable) -> NumericTable:
    """The rows with all their values, and a word on the others."""
    whole = np.isfinite(table.values).all(axis=1)
    if whole.all():
        return table
    lost = [line for line, kept in zip(table.lines, whole, strict=True) if not kept]
    if not whole.any():
        raise InputError("every row has a missing value: nothing is left to fit.")
    shown = ", ".join(str(line) for line in lost[:5]) + (", ..." if lost[5:] else "")
    word = f"{len(lost)} of {len(whole)} rows dropped for missing values, lines {shown}"
    return replace(
        table,
        values=table.values[whole],
        lines=tuple(compress(table.lines, whole)),
        decisions=(*table.decisions, word),
        names=tuple(compress(table.names, whole)),
    )


def _from_array(
    path: Path, columns: tuple[str, ...] | None, missing: Missing
) -> NumericTable | None:
    """The table of a bare array; none if its fields have names, as those of text do."""
    if not path.is_file():
        raise StoreError(f"{path} cannot be read: no such file.")
    array = read_npy(path)
    if array.dtype.names is not None:
        return None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.dtype.kind not in "fiu" or not array.size:
        raise InputError(
            f"{path} must hold a table (rows, columns) of numbers, got shape "
            f"{array.shape} of {array.dtype}."
        )
    names = [str(k + 1) for k in range(array.shape[1])]
    chosen = _chosen(path, names, columns)
    values = np.asarray(array[:, chosen], dtype=float)
    if missing is Missing.REFUSE and not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values).all(axis=1)))
        raise InputError(f"{path}, row {row}: not finite. Drop the row or impute it.")
    lines = tuple(range(1, len(values) + 1))
    used = tuple(names[k] for k in chosen)
    table = NumericTable(used, values, lines, every=tuple(names))
    return without_missing(table) if missing is Missing.DROP else table


def _chosen(path: Path, names: list[str], columns: tuple[str, ...] | None) -> list[int]:
    if columns is None:
        return list(range(len(names)))
    if not columns:
        raise InputError(f"columns () not found in {path}; it has {names}.")
    return [_place(str(path), names, name) for name in columns]


def _place(where: str, names: list[str], name: str) -> int:
    """The column of that name, or of that name but for its unit."""
    bare = [UNIT.sub("", n) for n in names]
    found = [i for i, n in enumerate(names) if n == name]
    found = found or [i for i, n in enumerate(bare) if n == name]
    if len(found) > 1:
        shown = ", ".join(repr(names[i]) for i in found)
        raise InputError(f"{where} has several columns {name!r}: say which of {shown}.")
    if not found:
        raise InputError(f"columns [{name!r}] not found in {where}; it has {names}.")
    return found[0]


def _number(path: Path, line: int, column: str, cell: str, missing: Missing) -> float:
    if missing is not Missing.REFUSE and cell.lower() in MISSING:
        return math.nan
    try:
        value = float(decimal(cell))
    except ValueError:
        what = "an empty cell" if cell == "" else f"the text {cell[:40]!r}"
        gone = cell.lower() in MISSING
        fix = "Drop such rows with --drop-missing, or" if gone else "Mend the line, or"
        raise BadCell(
            f"{path}, line {line}, column {column!r}",
            f"{what} is not a number",
            f"{fix} name the columns of numbers with --columns.",
        ) from None
    if not math.isfinite(value):
        raise BadCell(
            f"{path}, line {line}, column {column!r}",
            f"{cell!r} is not finite",
            "Drop the row (--drop-missing) or impute the value.",
        )
    return value
