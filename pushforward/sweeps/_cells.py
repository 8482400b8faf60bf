"""One cell: its experiment, its address, and its record.

The cells of a sweep on disk: one small file each, complete or absent.
"""

import hashlib
import json
import pathlib
from typing import Any, NamedTuple

from pushforward._checks import as_path
from pushforward._files import write_atomically
from pushforward.errors import StoreError
from pushforward.experiments import Experiment, options
from pushforward.io import FolderLock

FORMAT = 2
RTOL = 1e-6  # of cells given by options: enough for a mean over replicas


class Cell(NamedTuple):
    """A point of the design, with everything its value depends on, as plain data.

    `base` is the experiment that the parameters vary, by dotted names; where it is None
    they are the options of `pushforward simulate`.
    """

    parameters: dict[str, Any]
    statistic: dict[str, Any]
    replicas: int
    base: dict[str, Any] | None = None

    @property
    def address(self) -> str:
        """The same content gives the same name, in any sweep."""
        text = json.dumps([FORMAT, *self], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def experiment(self, classes=()) -> Experiment:
        """What is run; replica r runs it with its seed raised by r."""
        if self.base is None:
            return options(**({"rtol": RTOL} | self.parameters))
        varied = Experiment.from_dict(self.base, classes=classes)
        for names, value in self.parameters.items():
            for name in names.split(","):
                varied = varied.vary(**{name.strip(): value})
        return varied


def done(cell: Cell, times, mean, error, seconds: float) -> dict[str, Any]:
    """The record of a computed cell; floats survive JSON bit by bit."""
    return {
        "format": FORMAT,
        "cell": cell._asdict(),
        "times": [float(t) for t in times],
        "mean": [float(v) for v in mean],
        "error": [None if v != v else float(v) for v in error],
        "seconds": seconds,
    }


def failed(cell: Cell, why: str) -> dict[str, Any]:
    """The record of a cell that could not be computed, with the reason."""
    return {"format": FORMAT, "cell": cell._asdict(), "failed": why}


class Ledger:
    """A folder of records by content address, locked while a sweep writes to it.

    A killed sweep leaves no lock that blocks.
    """

    def __init__(self, folder) -> None:
        self.folder = as_path("out", folder)
        try:
            (self.folder / "cells").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot write to {folder}: {error}.") from error
        self._lock = FolderLock(self.folder, "sweep")

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
