"""Tables on disk: whole or not at all, and inert in a spreadsheet."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from pushforward._atomic_files import told, write_atomically
from pushforward._checks import as_path


def write_csv(
    path: str | Path, header: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """A CSV file; floats keep all their digits."""
    lines = _Lines()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow([inert(name) for name in header])
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    write_text(path, lines.lines)


def write_text(path: str | Path, lines: Iterable[str]) -> None:
    """Write a text, whole or not at all."""
    path = as_path("path", path)
    with told(path):
        write_atomically(path, "".join(lines).encode())


def inert(name: str) -> str:
    """A word that a spreadsheet will not run as a formula."""
    return f"'{name}" if name.startswith(tuple("=+-@\t\r")) else name


def _cell(value: object) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    return inert(value) if isinstance(value, str) else repr(value)


class _Lines:
    """Just enough of a file for `csv.writer`."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, line: str) -> int:
        self.lines.append(line)
        return len(line)
