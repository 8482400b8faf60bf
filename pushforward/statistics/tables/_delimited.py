"""Text tables as rows of cells: encoding, delimiter, decimal mark."""

import codecs
import csv
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from pushforward._files import read_npy
from pushforward.errors import InputError, StoreError

LARGEST_FILE = 2_000_000_000
DELIMITERS = {"\t": "tab", ";": "';'", ",": "','"}
ENCODINGS = [codecs.lookup(n) for n in ("utf-8-sig", "utf-16", "latin-1")]  # at import
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
    """The text of a file, whatever its byte-order mark; workbooks as text with tabs."""
    if path.suffix in (".xlsx", ".parquet"):
        return _sheet(path)
    if path.suffix == ".npy":
        return _named_fields(path)
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
    """The first sheet of a workbook, or a parquet table, as text with tabs."""
    if not path.is_file():
        raise StoreError(f"{path} cannot be read: no such file.")
    try:
        import pandas

        if path.suffix == ".xlsx":
            frame = pandas.read_excel(path, header=None, dtype=str)
            return str(frame.to_csv(sep="\t", index=False, header=False))
        return str(pandas.read_parquet(path).to_csv(sep="\t", index=False))
    except ImportError:
        raise InputError(
            f"{path.name} needs pandas with openpyxl and pyarrow; run "
            'pip install "pushforward[tables]", or save it as CSV (UTF-8).'
        ) from None
    except (ValueError, OSError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{path.name} cannot be read as a table: {error}.") from None


def _named_fields(path: Path) -> str:
    """A structured array as text with tabs; a bare one has no names for its columns."""
    if not path.is_file():
        raise StoreError(f"{path} cannot be read: no such file.")
    array = read_npy(path)
    names = array.dtype.names
    if names is None or array.ndim != 1 or not array.size:
        raise InputError(
            f"{path.name} is a bare array, shape {array.shape} of {array.dtype}: "
            "nothing in it says what its columns are. Save a structured array, whose "
            "fields have names (frame.to_records() of pandas, without objects), or a "
            "table with a header (.csv)."
        )
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


def has_decimal_comma(cells: Cells, columns: list[int], name: str) -> bool:
    """Whether numbers of these columns are written 1,5; refuses a mixture."""
    marks = set()
    for row in cells.rows[:2000]:
        for column in columns:
            cell = row[column]
            digits = cell.replace(",", "").replace(".", "").lstrip("+-")
            if digits[:1].isdigit():
                marks |= {mark for mark in ",." if mark in cell}
    if marks == {",", "."}:
        raise InputError(
            f"{name} writes numbers with both ',' and '.', so 1,234.5 and 1.234,5 "
            "cannot be told apart. Export it without thousands separators."
        )
    return marks == {","}


def as_number(cell: str, decimal_comma: bool) -> float:
    """A cell as a float; missing marks are NaN; anything else raises ValueError."""
    try:
        return float(cell.replace(",", ".") if decimal_comma else cell)
    except ValueError:
        if cell.lower() in MISSING:
            return float("nan")
        raise
