"""Numeric tables from files, read safely: a clear error or all the numbers."""

import csv
import math
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pushforward._checks import as_path
from pushforward._files import read_npy
from pushforward.errors import InputError, StoreError
from pushforward.statistics.tables._delimited import (
    DELIMITERS,
    MISSING,
    read_text,
)

EXAMPLE = "Expected a table of numbers such as:\n  x,y\n  0.1,2.5"
UNIT = re.compile(r"\s*[(\[][^)\]]*[)\]]\s*$")  # (km/s) at the end of a name
Row = tuple[int, list[str]]


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

    `lines` are the lines of the file the rows come from, `decisions` how it was read.
    """

    columns: tuple[str, ...]
    values: Float[np.ndarray, "n d"]
    lines: tuple[int, ...] = ()
    decisions: tuple[str, ...] = ()

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

    Files are text (.csv, .tsv, ...), .npy, and, with the extra `tables`, .xlsx and
    .parquet. Lines with # before the table are left out. `columns` picks columns by
    name, with or without the unit in brackets (or by position, "1" the first, when the
    file has no header); without it a first column with no name is taken for names of
    rows. Text and ragged rows are refused with their line, and so is what is missing
    unless `missing` says otherwise.
    """
    path = as_path("path", path)
    if path.suffix == ".npy":
        table = _from_array(path, columns, missing)
        if table is not None:
            return table
    rows, told = _rows(path)
    header = None if all(_is_number(cell) for cell in rows[0][1]) else rows[0][1]
    body = rows if header is None else rows[1:]
    if not body:
        raise InputError(f"{path} has a header but no data. {EXAMPLE}")
    names = header or [str(k + 1) for k in range(len(rows[0][1]))]
    chosen = _chosen(path, names, columns)
    if header and columns is None and len(names) > 1:
        chosen, word = _named(names, body, chosen)
        told += word
    marks = _decimal_marks(path, body, chosen)
    values = np.empty((len(body), len(chosen)))
    for i, (line, cells) in enumerate(body):
        if len(cells) != len(names):
            raise InputError(
                f"{path}, line {line}: {len(cells)} cells where the first row has "
                f"{len(names)}. {EXAMPLE}"
            )
        for j, k in enumerate(chosen):
            values[i, j] = _number(path, line, names[k], cells[k], missing)
    told += [] if header else ["no header: columns are numbered from 1"]
    told += ["decimal comma"] if marks == {","} else []
    table = NumericTable(
        tuple(names[k] for k in chosen),
        values,
        tuple(line for line, _ in body),
        tuple(told),
    )
    return without_missing(table) if missing is Missing.DROP else table


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
    kept_lines = tuple(np.array(table.lines)[whole].tolist())
    return NumericTable(
        table.columns, table.values[whole], kept_lines, (*table.decisions, word)
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
    table = NumericTable(tuple(names[k] for k in chosen), values, lines)
    return without_missing(table) if missing is Missing.DROP else table


def _rows(path: Path) -> tuple[list[Row], list[str]]:
    """Non-empty rows with their line numbers, split by the delimiter that fits."""
    lines = read_text(path).splitlines()
    skipped, told = _comments(lines)
    first = next((line for line in lines[skipped:] if line.strip()), "")
    delimiter = max(DELIMITERS, key=lambda mark: (first.count(mark), mark != ","))
    if ";" in first or "\t" in first:  # then a comma is a decimal point
        delimiter = ";" if ";" in first else "\t"
    try:
        parsed = list(csv.reader(lines[skipped:], delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"{path} is not a CSV file: {error}. {EXAMPLE}") from None
    if delimiter not in first:
        spaced = [line.split() for line in lines[skipped:]]
        if len({len(row) for row in spaced if row}) == 1 and len(first.split()) > 1:
            parsed, told = spaced, [*told, "delimiter spaces"]
    rows = [
        (k + 1, [cell.strip() for cell in row])
        for k, row in enumerate(parsed, skipped)
        if any(cell.strip() for cell in row)
    ]
    if not rows:
        raise InputError(f"{path} has empty cells only. {EXAMPLE}")
    plain = delimiter == "," or delimiter not in first
    return rows, told if plain else [*told, f"delimiter {DELIMITERS[delimiter]}"]


def _comments(lines: list[str]) -> tuple[int, list[str]]:
    """How many lines stand before the table and begin with #, and a word on them.

    The last of them is the header (its # is taken away) if only numbers follow and it
    has as many cells, as numpy.savetxt writes it.
    """
    count = 0
    while count < len(lines) and (not lines[count].strip() or lines[count][0] == "#"):
        count += 1
    marked = [k for k in range(count) if lines[k][:1] == "#"]
    if not marked or count == len(lines):
        return 0, []
    last, after = lines[marked[-1]].lstrip("# "), lines[count]
    for mark in (*DELIMITERS, None):
        cells = after.split(mark)
        wide = len(cells) > 1 and len(last.split(mark)) == len(cells)
        if wide and all(_is_number(cell.strip()) for cell in cells):
            lines[marked[-1]] = last
            count = marked[-1]
            break
    word = f"lines 1 to {count} before the table left out"
    return count, [word] if count else []


def _named(
    names: list[str], body: list[Row], chosen: list[int]
) -> tuple[list[int], list[str]]:
    """Columns with a name; one without is for names of rows, or empty, or stays."""
    empty = {
        k
        for k in chosen
        if not names[k] and not any(k < len(cells) and cells[k] for _, cells in body)
    }
    rows = not names[0] and 0 not in empty
    kept = [k for k in chosen if k not in empty and not (rows and k == 0)]
    word = "the first column has no name: taken for names of rows and left out"
    return kept, [word] if rows else []


def _chosen(path: Path, names: list[str], columns: tuple[str, ...] | None) -> list[int]:
    if columns is None:
        if len(set(names)) != len(names):
            raise InputError(f"{path} has two columns of one name among {names}.")
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
        raise InputError(f"{where} has two columns of one name {name!r}: rename one.")
    if not found:
        raise InputError(f"columns [{name!r}] not found in {where}; it has {names}.")
    return found[0]


def _decimal_marks(path: Path, body: list[Row], chosen: list[int]) -> set[str]:
    """The decimal marks that numbers use; both is a mixture and refused."""
    first: dict[str, int] = {}
    for line, cells in body[:2000]:
        for k in chosen:
            cell = cells[k] if k < len(cells) else ""
            for mark in ",.":
                if mark in cell and cell.strip("+-")[:1].isdigit():
                    first.setdefault(mark, line)
    if len(first) == 2:
        raise InputError(
            f"{path} writes numbers with '.' in line {first['.']} and with ',' in line "
            f"{first[',']}, so 1,234 and 1.234 cannot be told apart. Export it with "
            "one decimal mark and no thousands separators."
        )
    return set(first)


def _decimal(cell: str) -> str:
    return cell.replace(",", ".") if cell.count(",") == 1 and "." not in cell else cell


def _is_number(cell: str) -> bool:
    try:
        float(_decimal(cell))
    except ValueError:
        return cell == ""
    return True


def _number(path: Path, line: int, column: str, cell: str, missing: Missing) -> float:
    if missing is not Missing.REFUSE and cell.lower() in MISSING:
        return math.nan
    try:
        value = float(_decimal(cell))
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
