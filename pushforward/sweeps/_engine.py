"""From cells to records, on this machine or on a Dask cluster."""

import dataclasses
import itertools
import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from pushforward.errors import InputError, PushforwardError, StoreError
from pushforward.experiments import ensemble, lanes, structure
from pushforward.sweeps._cells import Cell, done, failed
from pushforward.sweeps._statistics import claim_function, observable


def batches(cells: Iterable[Cell], classes=()) -> list[list[Cell]]:
    """Cells that are computed together: one structure, few enough to commit often."""
    groups: dict[Any, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(_structure(cell, classes), []).append(cell)
    found = []
    for cells in groups.values():
        size = max(1, lanes() // cells[0].replicas)
        found += [cells[k : k + size] for k in range(0, len(cells), size)]
    return found


def structures(cells: Iterable[Cell], classes=()) -> int:
    """How many programs a sweep compiles."""
    return len({_structure(cell, classes) for cell in cells})


def local(work: list[list[Cell]], classes=()) -> Iterator[tuple[Cell, dict]]:
    """Records as they come, on all cores of this machine."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            records = pool.map(lambda batch: computed(batch, classes), work)
            yield from itertools.chain.from_iterable(records)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def computed(batch: list[Cell], classes=()) -> list[tuple[Cell, dict]]:
    """The records of a batch; one cell that fails does not take others with it."""
    try:
        return _together(batch, classes)
    except Exception as error:  # whatever a cell does, the sweep goes on and says so
        if len(batch) == 1:
            return [(batch[0], failed(batch[0], _reason(error)))]
        return [pair for cell in batch for pair in computed([cell], classes)]


def _together(batch: list[Cell], classes) -> list[tuple[Cell, dict]]:
    started = time.perf_counter()
    if "claim" in batch[0].statistic:
        return [(cell, _claimed(cell)) for cell in batch]
    replicas, systems, looks = batch[0].replicas, [], []
    for cell in batch:
        experiment = cell.experiment(classes)
        look = observable(cell.statistic, experiment, classes)
        systems += [experiment.vary(seed=experiment.seed + r) for r in range(replicas)]
        looks += [look] * replicas
    times, values, arrived = ensemble(systems, looks)
    values = values.reshape(len(batch), replicas, -1)
    arrived = arrived.reshape(len(batch), replicas)
    seconds = (time.perf_counter() - started) / len(batch)
    return [
        (cell, _record(cell, times, v, ok, seconds))
        for cell, v, ok in zip(batch, values, arrived, strict=True)
    ]


def _record(cell: Cell, times, values, arrived, seconds: float) -> dict:
    if not arrived.all():
        lost = f"{(~arrived).sum()} of {len(arrived)} systems"
        return failed(cell, f"{lost} did not reach t = {times[-1]:g}")
    if not np.isfinite(values).all():
        return failed(cell, "the statistic is not finite")
    count = len(values)
    error = np.full(values.shape[1], np.nan)
    if count > 1:
        error = values.std(axis=0, ddof=1) / np.sqrt(count)
    return done(cell, times, values.mean(axis=0), error, seconds)


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


def _structure(cell: Cell, classes) -> Any:
    """What cells must share; a cell with bad parameters is alone with its error."""
    if "claim" in cell.statistic:
        return cell.address
    try:
        experiment = cell.experiment(classes)
        look = observable(cell.statistic, experiment, classes)
        return structure(experiment, look), cell.replicas
    except (PushforwardError, TypeError):
        return cell.address


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


PATIENCE = "10s"
RETRIES = 3  # a worker that dies takes its batch with it; another one does it again


def on_cluster(
    work: list[list[Cell]], address: str, classes=()
) -> Iterator[tuple[Cell, dict]]:
    """Records as they come from the workers of the scheduler at `address`."""
    client = _client(address)
    try:
        from distributed import as_completed

        futures = {
            client.submit(
                _computed, [c._asdict() for c in batch], classes, retries=RETRIES
            ): batch
            for batch in work
        }
        for future in as_completed(futures):
            batch = futures.pop(future)
            if future.status == "finished":
                yield from zip(batch, future.result(), strict=True)
            else:
                why = f"{future.status} on the cluster: {future.exception()}"
                yield from ((cell, failed(cell, why)) for cell in batch)
            future.release()
    finally:
        client.close()


def _computed(cells: list[dict[str, Any]], classes) -> list[dict[str, Any]]:
    """What a worker runs: plain data in, plain data out."""
    batch = [Cell(**cell) for cell in cells]
    return [record for _, record in computed(batch, classes)]


def _client(address: str):
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(
            "a scheduler needs Dask. Install it with: pip install pushforward[cluster]"
        ) from error
    try:
        return Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise StoreError(
            f"no Dask scheduler answers at {address}: {error}. Start one with: "
            "dask scheduler"
        ) from error
