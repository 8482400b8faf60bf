"""Text tables as rows of cells: encoding, delimiter, decimal mark."""

import codecs
import csv
import re
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pushforward._files import read_npy
from pushforward.errors import InputError, StoreError

LARGEST_FILE = 2_000_000_000
DELIMITERS = {"\t": "tab", ";": "';'", ",": "','"}
ENCODINGS = [codecs.lookup(n) for n in ("utf-8-sig", "utf-16", "latin-1")]  # at import
NUMERAL = re.compile(r"[+-]?\d[\d.,]*([eE][+-]?\d+)?$")  # no 1,2-dichloroethane
Row = tuple[int, list[str]]  # a line of the file and its cells
MISSING = {"", "na", "nan", "n/a", "n.a.", "<na>", "null", "none", "-", "#n/a"}


@dataclass(frozen=True)
class Cells:
    """Rows of stripped cells, all of one width, under one reading of the delimiter.

    `lines` are their lines in the file, `widths` the cells they had there; none where
    rows are no lines of it.
    """

    rows: list[list[str]]
    delimiter: str
    lines: tuple[int, ...] = ()
    widths: tuple[int, ...] = ()


def read_text(path: Path) -> str:
    """The text of a file, whatever its byte-order mark; workbooks as text with tabs.

    book.xlsx#NAME is a sheet of a workbook.
    """
    if path.suffix == ".parquet" or ".xlsx" in path.suffix:
        return _sheet(path)
    if path.suffix == ".npy":
        return _fields(path)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InputError(
                f"{path.name} is larger than {LARGEST_FILE / 1e9:.0f} GB. Export the "
                "features and samples to match only."
            )
        raw = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from None
    if raw[:4] == b"PK\x03\x04" or raw[:4] == b"\xd0\xcf\x11\xe0":
        raise InputError(
            f"{path.name} is a workbook. Name it .xlsx, or save it as CSV (UTF-8)."
        )
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    else:
        encoding = "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    if "\x00" in text:
        raise InputError(f"{path.name} is binary. Export the table as text (CSV).")
    if not text.strip():
        raise InputError(f"{path.name} is an empty table: the file has no text.")
    return text


def _sheet(path: Path) -> str:
    """A sheet of a workbook, or a parquet table, as text with tabs."""
    name, _, sheet = path.name.partition("#")
    file = path.with_name(name)
    if not file.is_file():
        raise StoreError(f"{file} cannot be read: no such file.")
    try:
        import pandas

        if file.suffix == ".parquet":
            return str(pandas.read_parquet(file).to_csv(sep="\t", index=False))
        with pandas.ExcelFile(file) as book:
            chosen = _chosen_sheet(book, name, sheet)
            frame = pandas.read_excel(book, sheet_name=chosen, header=None, dtype=str)
        return str(frame.to_csv(sep="\t", index=False, header=False))
    except ImportError:
        raise InputError(
            f"{name} needs pandas with openpyxl and pyarrow; run "
            'pip install "pushforward[tables]", or save it as CSV (UTF-8).'
        ) from None
    except InputError:
        raise
    except (ValueError, OSError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{name} cannot be read as a table: {error}.") from None


def _chosen_sheet(book: Any, name: str, sheet: str) -> str:
    """The sheet that was named; else the only one with something in it."""
    if sheet in book.sheet_names:
        return sheet
    import pandas

    first = pandas.read_excel(book, sheet_name=None, header=None, nrows=9)
    full = [name for name, frame in first.items() if not frame.empty]
    if sheet or len(full) > 1:
        raise InputError(
            f"{name} has {len(full)} sheets with something in them: {', '.join(full)}. "
            f"Say which one, as {name}#{full[0] if full else 'NAME'}."
        )
    return full[0] if full else book.sheet_names[0]


def _fields(path: Path) -> str:
    """An array as text with tabs: its fields by their names, or columns by number."""
    if not path.is_file():
        raise StoreError(f"{path} cannot be read: no such file.")
    array = read_npy(path)
    names = array.dtype.names
    if names is None and array.ndim == 2 and array.dtype.kind in "fiu":
        names = tuple(str(k + 1) for k in range(array.shape[1]))
    elif names is None or array.ndim != 1:
        raise InputError(
            f"{path.name} must hold a table (rows, columns) of numbers, or an array "
            f"whose fields have names, got shape {array.shape} of {array.dtype}."
        )
    if not array.size:
        raise InputError(f"{path.name} is an empty table: its shape is {array.shape}.")
    rows = [names, *array.tolist()]
    return "\n".join("\t".join(str(cell) for cell in row) for row in rows) + "\n"


def readings(text: str) -> list[Cells]:
    """The ways to cut the text into columns that give most lines one width."""
    whole = text.splitlines()
    numbers = [k for k, line in enumerate(whole, 1) if line.strip()]
    lines = [whole[k - 1] for k in numbers]
    found = []
    for delimiter in DELIMITERS:
        try:
            rows = [
                [cell.strip() for cell in row]
                for row in csv.reader(lines, delimiter=delimiter)
            ]
        except csv.Error:
            continue
        width, count = Counter(len(row) for row in rows).most_common(1)[0]
        if width < 2 or count < 0.6 * len(rows):
            continue
        widest = max(len(row) for row in rows)
        padded = [row + [""] * (widest - len(row)) for row in rows]
        known = tuple(numbers) if len(rows) == len(numbers) else ()
        found.append(Cells(padded, delimiter, known, tuple(map(len, rows))))
    return found


def has_decimal_comma(name: str, rows: Sequence[Row], columns: Sequence[int]) -> bool:
    """Whether numbers of these columns are written 1,5; refuses a mixture.

    `rows` come with their lines in the file.
    """
    first: dict[str, int] = {}
    for line, cells in rows[:2000]:
        for k in columns:
            cell = cells[k] if k < len(cells) else ""
            for mark in ",." if NUMERAL.match(cell) else "":
                if mark in cell:
                    first.setdefault(mark, line)
    if len(first) == 2:
        raise InputError(
            f"{name} writes numbers with '.' in line {first['.']} and with ',' in line "
            f"{first[',']}, so 1,234 and 1.234 cannot be told apart. Export it with "
            "one decimal mark and no thousands separators."
        )
    return "," in first


def as_number(cell: str, decimal_comma: bool) -> float:
    """A cell as a float; missing marks are NaN; anything else raises ValueError."""
    try:
        return float(cell.replace(",", ".") if decimal_comma else cell)
    except ValueError:
        if cell.lower() in MISSING:
            return float("nan")
        raise


def told_apart(
    names: tuple[str, ...], what: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names with a number behind those that come again, and a word on them."""
    again = [name for name, count in Counter(names).items() if count > 1 and name]
    seen: Counter[str] = Counter()
    told = []
    for name in names:
        seen[name] += 1
        first = seen[name] == 1 or not name
        told.append(name if first else f"{name} ({seen[name]})")
    if not again:
        return names, ()
    shown = ", ".join(repr(name) for name in again[:3]) + (", ..." if again[3:] else "")
    return tuple(told), (f"{what} of one name told apart by a number: {shown}",)


def rows_of_numbers(path: Path) -> tuple[list[Row], list[str]]:
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
        raise InputError(f"{path} is not a CSV file: {error}.") from None
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
        raise InputError(f"{path} has empty cells only.")
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
        if wide and all(is_number(cell.strip()) for cell in cells):
            lines[marked[-1]] = last
            count = marked[-1]
            break
    word = f"lines 1 to {count} before the table left out"
    return count, [word] if count else []


def decimal(cell: str) -> str:
    """One comma as a point."""
    return cell.replace(",", ".") if cell.count(",") == 1 and "." not in cell else cell


def is_number(cell: str) -> bool:
    """Whether a cell is a number with either decimal mark, or empty."""
    try:
        float(decimal(cell))
    except ValueError:
        return cell == ""
    return True
