"""Numeric tables from CSV files, read safely: a clear error or all the numbers."""

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pushforward._checks import as_path
from pushforward.errors import InputError, StoreError
from pushforward.statistics.mixtures._column_generation import ColumnGeneration
from pushforward.statistics.mixtures._fit import Method, MixtureFit, npmle

DELIMITERS = (",", ";", "\t")
LARGEST_FILE = 512 * 2**20  # bytes
EXAMPLE = "Expected a table of numbers such as:\n  x,y\n  0.1,2.5"


@dataclass(frozen=True, eq=False)
class NumericTable:
    """Rows of numbers with the names of their columns."""

    columns: tuple[str, ...]
    values: Float[np.ndarray, "n d"]


def read_numbers(
    path: str | Path, columns: tuple[str, ...] | None = None
) -> NumericTable:
    """Read a CSV of numbers; the header, the delimiter and decimal commas are found.

    `columns` picks columns by name (or by position, "1" the first, when the file has
    no header). Text, empty cells, NaN and ragged rows are refused with their line.
    """
    path = as_path("path", path)
    rows = _rows(path)
    header = None if all(_is_number(cell) for cell in rows[0][1]) else rows[0][1]
    body = rows if header is None else rows[1:]
    if not body:
        raise InputError(f"{path} has a header but no data. {EXAMPLE}")
    names = header or [str(k + 1) for k in range(len(rows[0][1]))]
    chosen = _chosen(path, names, columns)
    values = np.empty((len(body), len(chosen)))
    for i, (line, cells) in enumerate(body):
        if len(cells) != len(names):
            raise InputError(
                f"{path}, line {line}: {len(cells)} cells where the first row has "
                f"{len(names)}. {EXAMPLE}"
            )
        for j, k in enumerate(chosen):
            values[i, j] = _number(path, line, names[k], cells[k])
    return NumericTable(tuple(names[k] for k in chosen), values)


def npmle_from_csv(
    path: str | Path,
    *,
    columns: tuple[str, ...] | None = None,
    covariance: float | Float[np.ndarray, "d d"] = 1.0,
    method: Method = ColumnGeneration(),
) -> tuple[MixtureFit, NumericTable]:
    """The NPMLE of the rows of a CSV file, and the table that was read.

    `MixtureFit` is `summary(...)`-ready: see `summary` for the JSON form.
    """
    table = read_numbers(path, columns)
    return npmle(table.values, covariance=covariance, method=method), table


def summary(fit: MixtureFit, table: NumericTable) -> dict[str, object]:
    """The fit as plain lists and numbers, for JSON and for printing."""
    return {
        "n": len(table.values),
        "columns": list(table.columns),
        "atoms": fit.atoms.tolist(),
        "weights": fit.weights.tolist(),
        "loss": fit.loss,
        "log_likelihood": fit.log_likelihood,
        "gap": fit.gap,
        "labels": fit.labels.tolist(),
        "posterior_means": fit.posterior_means.tolist(),
    }


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Non-empty rows with their line numbers, split by the delimiter that fits."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InputError(f"{path} is larger than {LARGEST_FILE >> 20} MiB.")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text in UTF-8. {EXAMPLE}") from None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}.") from None
    if "\0" in text:
        raise InputError(f"{path} holds binary data, not text. {EXAMPLE}")
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise InputError(f"{path} is empty. {EXAMPLE}")
    delimiter = max(DELIMITERS, key=lambda mark: (first.count(mark), mark != ","))
    if ";" in first or "\t" in first:  # then a comma is a decimal point
        delimiter = ";" if ";" in first else "\t"
    try:
        parsed = list(csv.reader(lines, delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"{path} is not a CSV file: {error}. {EXAMPLE}") from None
    rows = [
        (k + 1, [cell.strip() for cell in row])
        for k, row in enumerate(parsed)
        if any(cell.strip() for cell in row)
    ]
    if not rows:
        raise InputError(f"{path} has empty cells only. {EXAMPLE}")
    return rows


def _chosen(path: Path, names: list[str], columns: tuple[str, ...] | None) -> list[int]:
    if len(set(names)) != len(names):
        raise InputError(f"{path} has two columns of one name among {names}.")
    if columns is None:
        return list(range(len(names)))
    missing = [name for name in columns if name not in names]
    if missing or not columns:
        raise InputError(
            f"columns {missing or '()'} not found in {path}; it has {names}."
        )
    return [names.index(name) for name in columns]


def _decimal(cell: str) -> str:
    return cell.replace(",", ".") if cell.count(",") == 1 and "." not in cell else cell


def _is_number(cell: str) -> bool:
    try:
        float(_decimal(cell))
    except ValueError:
        return cell == ""
    return True


def _number(path: Path, line: int, column: str, cell: str) -> float:
    try:
        value = float(_decimal(cell))
    except ValueError:
        what = "an empty cell" if cell == "" else f"the text {cell[:40]!r}"
        raise InputError(
            f"{path}, line {line}, column {column!r}: {what} is not a number. Drop the "
            f"row, or choose other columns."
        ) from None
    if not math.isfinite(value):
        raise InputError(
            f"{path}, line {line}, column {column!r}: {cell!r} is not finite. Drop the "
            f"row or impute the value."
        )
    return value
