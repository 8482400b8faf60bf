"""From cells to records, on this machine."""

import dataclasses
import itertools
import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from pushforward.errors import PushforwardError
from pushforward.sweeps._cells import Cell, done, failed
from pushforward.sweeps._lanes import LANES, frames, lanes
from pushforward.sweeps._parameters import Numbers, Structure, split
from pushforward.sweeps._statistics import claim_function


def batches(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Cells that are computed together: one structure, few enough to commit often."""
    groups: dict[Any, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(_structure(cell), []).append(cell)
    found = []
    for cells in groups.values():
        size = max(1, LANES // cells[0].replicas)
        found += [cells[k : k + size] for k in range(0, len(cells), size)]
    return found


def structures(cells: Iterable[Cell]) -> int:
    """How many programs a sweep compiles."""
    return len({_structure(cell) for cell in cells})


def local(work: list[list[Cell]]) -> Iterator[tuple[Cell, dict]]:
    """Records as they come, on all cores of this machine."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            yield from itertools.chain.from_iterable(pool.map(computed, work))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def computed(batch: list[Cell]) -> list[tuple[Cell, dict]]:
    """The records of a batch; one cell that fails does not take others with it."""
    try:
        return _together(batch)
    except Exception as error:  # whatever a cell does, the sweep goes on and says so
        if len(batch) == 1:
            return [(batch[0], failed(batch[0], _reason(error)))]
        return [pair for cell in batch for pair in computed([cell])]


def _together(batch: list[Cell]) -> list[tuple[Cell, dict]]:
    started = time.perf_counter()
    if "claim" in batch[0].statistic:
        return [(cell, _claimed(cell)) for cell in batch]
    parts = [split(cell.parameters) for cell in batch]
    structure = parts[0][0]
    statistic = tuple(sorted(batch[0].statistic.items()))
    replicas = batch[0].replicas
    members: list[tuple[Numbers, int]] = [
        (numbers, r) for _, numbers in parts for r in range(replicas)
    ]
    chunks = [members[k : k + LANES] for k in range(0, len(members), LANES)]
    results = [lanes(structure, statistic, chunk) for chunk in chunks]
    values = np.concatenate([v for v, _ in results]).reshape(len(batch), replicas, -1)
    arrived = np.concatenate([ok for _, ok in results]).reshape(len(batch), replicas)
    seconds = (time.perf_counter() - started) / len(batch)
    return [
        (cell, _record(cell, structure, v, ok, seconds))
        for cell, v, ok in zip(batch, values, arrived, strict=True)
    ]


def _record(cell: Cell, structure: Structure, values, arrived, seconds: float) -> dict:
    if not arrived.all():
        lost = f"{(~arrived).sum()} of {len(arrived)} systems"
        return failed(cell, f"{lost} did not reach t = {structure.t1:g}")
    if not np.isfinite(values).all():
        return failed(cell, "the statistic is not finite")
    count = len(values)
    error = np.full(values.shape[1], np.nan)
    if count > 1:
        error = values.std(axis=0, ddof=1) / np.sqrt(count)
    return done(cell, frames(structure), values.mean(axis=0), error, seconds)


def _claimed(cell: Cell) -> dict:
    """The measured value of a claim, with parameters of its study replaced."""
    from pushforward.studies import parameters

    started = time.perf_counter()
    chosen: Any = dataclasses.replace(
        parameters(cell.statistic["study"]),  # type: ignore[type-var]
        **cell.parameters,
    )
    claim = claim_function(cell.statistic)(chosen)
    if claim.measured is None:
        return failed(cell, f"the claim is open: {claim.note}")
    seconds = time.perf_counter() - started
    return done(cell, [0.0], [claim.measured], [float("nan")], seconds)


def _structure(cell: Cell) -> Any:
    """What cells must share; a cell with bad parameters is alone with its error."""
    try:
        return split(cell.parameters)[0], cell.replicas
    except (PushforwardError, TypeError):
        return cell.address


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
