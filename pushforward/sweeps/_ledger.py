"""The cells of a sweep on disk: one small file each, complete or absent."""

import fcntl
import json
import pathlib
from typing import Any

from pushforward.errors import StoreError
from pushforward.io import write_atomically
from pushforward.sweeps._cells import FORMAT, Cell


class Ledger:
    """A folder of records by content address, locked while a sweep writes to it.

    The lock is the kernel's: a killed sweep leaves none behind.
    """

    def __init__(self, folder) -> None:
        self.folder = pathlib.Path(folder)
        try:
            (self.folder / "cells").mkdir(parents=True, exist_ok=True)
            self._lock = open(self.folder / "lock", "a")
        except OSError as error:
            raise StoreError(f"cannot write to {folder}: {error}.") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.close()
            raise StoreError(
                f"another sweep is writing to {folder}. Wait for it, or choose another "
                "folder."
            ) from error

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def get(self, cell: Cell) -> dict[str, Any] | None:
        """The record of a cell; a damaged one is refused, not repaired."""
        path = self._path(cell)
        try:
            record = json.loads(path.read_text())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StoreError(f"{path} is damaged: {error}. Remove it.") from error
        whole = isinstance(record, dict) and record.get("format") == FORMAT
        if not whole or record.get("cell") != json.loads(json.dumps(cell._asdict())):
            raise StoreError(f"{path} is not the cell it is named after. Remove it.")
        return record

    def put(self, cell: Cell, record: dict[str, Any]) -> None:
        """Let a record count: on disk, then under its name."""
        write_atomically(self._path(cell), json.dumps(record).encode())

    def describe(self, text: dict[str, Any]) -> None:
        """What the folder holds, for people."""
        path = self.folder / "design.json"
        write_atomically(path, json.dumps(text, indent=1).encode())

    def _path(self, cell: Cell) -> pathlib.Path:
        return self.folder / "cells" / f"{cell.address}.json"
