"""From cells to records, on a Dask cluster."""

from collections.abc import Iterator
from typing import Any

from pushforward.errors import InputError, StoreError
from pushforward.sweeps._cells import Cell, failed
from pushforward.sweeps._engine import computed

PATIENCE = "10s"
RETRIES = 3  # a worker that dies takes its batch with it; another one does it again


def on_cluster(work: list[list[Cell]], address: str) -> Iterator[tuple[Cell, dict]]:
    """Records as they come from the workers of the scheduler at `address`."""
    client = _client(address)
    try:
        from distributed import as_completed

        futures = {
            client.submit(
                _computed, [c._asdict() for c in batch], retries=RETRIES
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


def _computed(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a worker runs: plain data in, plain data out."""
    batch = [Cell(**cell) for cell in cells]
    return [record for _, record in computed(batch)]


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
