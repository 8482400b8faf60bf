"""One cell: its parameters, its address, and its record."""

import hashlib
import json
from typing import Any, NamedTuple

FORMAT = 1


class Cell(NamedTuple):
    """A point of the design, with everything its value depends on."""

    parameters: dict[str, Any]
    statistic: dict[str, Any]
    replicas: int

    @property
    def address(self) -> str:
        """The same content gives the same name, in any sweep."""
        text = json.dumps([FORMAT, *self], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


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
