"""The verb: compute what is missing, keep what is there."""

import pathlib
import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from pushforward._checks import yes_or_no
from pushforward.errors import InputError
from pushforward.experiments import Experiment
from pushforward.sweeps._cells import Cell, Ledger
from pushforward.sweeps._design import Design
from pushforward.sweeps._engine import batches, local, on_cluster, structures
from pushforward.sweeps._result import SweepResult


def sweep(
    design: Design,
    out,
    *,
    scheduler: str | None = None,
    retry: bool = False,
    progress: bool | Callable[[int, int], None] = False,
) -> SweepResult:
    """Compute a design into the folder `out`; a sweep resumes by itself.

    Every cell is a file named after its content: what is there is not computed again,
    so that a killed sweep goes on where it was, and adding values to an axis computes
    only what is new. A cell that fails keeps its reason until `retry`.

    - `scheduler`: the address of a Dask scheduler; this machine otherwise.
    - `progress`: True for a bar with the time left, or a function of (done, total).

    The table is written to `out/result.zarr`, which xarray opens.

    >>> design = Design({"n": 8, "t1": 2.0}, {"beta": [1.0, 4.0]}, "mean_cosine")
    >>> table = sweep(design, "out/first-sweep")  # doctest: +SKIP
    """
    if not isinstance(design, Design):
        raise InputError(f"`design` must be a Design, got {type(design).__name__}.")
    _check_options(scheduler, retry, progress)
    cells = design.work()
    with Ledger(out) as ledger:
        records = {cell.address: ledger.get(cell) for cell in cells}
        missing = _missing(cells, records, retry)
        ledger.describe(_as_json(design))
        work, own = batches(missing, design.classes), design.classes
        if scheduler is not None and work:
            found = on_cluster(work, scheduler, own)
        else:
            found = local(work, own)
        with _Bar(progress, len(missing)) as bar:
            for cell, record in found:
                ledger.put(cell, record)
                records[cell.address] = record
                bar.advance()
        whole_records = {k: v for k, v in records.items() if v is not None}
        result = SweepResult(design, cells, whole_records)
        result.computed = len(missing)
        result.save(pathlib.Path(out) / "result.zarr")
    return result


def _check_options(scheduler, retry, progress) -> None:
    if not (scheduler is None or isinstance(scheduler, str)):
        raise InputError(
            f"`scheduler` must be an address, tcp://host:8786, got {scheduler!r}."
        )
    yes_or_no("retry", retry)
    if not callable(progress):
        yes_or_no("progress", progress)


def cost(design: Design, out=None) -> dict[str, Any]:
    """What a sweep would do, before it does it."""
    cells, own = design.work(), design.classes
    known = set()
    if out is not None and (pathlib.Path(out) / "cells").is_dir():
        known = {p.stem for p in (pathlib.Path(out) / "cells").glob("*.json")}
    missing = [cell for cell in cells if cell.address not in known]
    return {
        "cells": len(cells),
        "missing": len(missing),
        "systems": sum(cell.replicas for cell in missing),
        "programs": structures(missing, own),
        "batches": len(batches(missing, own)),
    }


def _missing(cells: list[Cell], records: dict, retry: bool) -> list[Cell]:
    """Cells without a record, each once; with `retry` also those that failed."""
    found = {}
    for cell in cells:
        record = records[cell.address]
        if record is None or (retry and "failed" in record):
            found[cell.address] = cell
    return list(found.values())


def _as_json(design: Design) -> dict[str, Any]:
    run = design.run
    return {
        "run": None if isinstance(run, Experiment) else dict(run),
        "experiment": run.to_dict() if isinstance(run, Experiment) else None,
        "grid": {name: list(values) for name, values in design.grid.items()},
        "statistic": design.statistic,
        "replicas": design.replicas,
        "random": design.random,
    }


class _Bar:
    """A bar on stderr with the time that is left, or a function, or nothing."""

    def __init__(self, progress, total: int):
        self.report = progress if callable(progress) else None
        self.done, self.total = 0, total
        columns = (
            TextColumn("cells"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        console = Console(file=sys.stderr)
        self.bar = Progress(*columns, console=console, disable=progress is not True)
        self.task = self.bar.add_task("cells", total=total)

    def __enter__(self) -> "_Bar":
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def advance(self) -> None:
        self.done += 1
        self.bar.advance(self.task)
        if self.report is not None:
            self.report(self.done, self.total)
