"""A run as a file: numbers, a picture, a film, a store."""

import asyncio
import csv
import io
import pathlib

from pushforward.errors import InputError
from pushforward.web._draw import file_name
from pushforward.web._frames import numbers_of
from pushforward.web._process import WorkerProcess
from pushforward.web._runs import Run

MEDIA = {"png": "image/png", "mp4": "video/mp4", "zip": "application/zip"}


def table(run: Run) -> str:
    """t, energy, clusters, largest mass, mean cosine; how it ended comes first."""
    assert run.done is not None
    out = io.StringIO()
    ended = run.done["outcome"]
    out.write(f"# {ended['kind']}: {ended['sentence']}\n")
    write = csv.writer(out, lineterminator="\n")
    write.writerow(["t", "log10_t", "energy", "clusters", "largest", "cosine", "arc"])
    for frame in run.frames:
        r = numbers_of(frame)
        row = (r.t, r.log10_t, r.energy, int(r.clusters), r.largest, r.cosine, r.arc)
        write.writerow([repr(x) for x in row])
    return out.getvalue()


class Drawing:
    """Files that take a while are made in the background, once."""

    def __init__(self, worker: WorkerProcess):
        self.worker = worker
        self.waiting: dict[str, asyncio.Future] = {}

    async def make(self, run: Run, folder: pathlib.Path, what: str, frame: int):
        """The path of an export."""
        assert run.done is not None
        frame = min(max(frame, 0), run.done["frames"] - 1)
        target = folder / file_name(what, frame)
        if target.is_file():
            return target
        key = str(target)
        if key not in self.waiting:
            self.waiting[key] = self._order(folder, what, frame)
        try:
            await asyncio.shield(self.waiting[key])
        finally:
            self.waiting.pop(key, None)
        return target

    def _order(self, folder: pathlib.Path, what: str, frame: int) -> asyncio.Future:
        future: asyncio.Future = asyncio.get_running_loop().create_future()

        def listen(message: dict, payload: bytes) -> None:
            if future.done() or message["type"] not in ("done", "error", "stopped"):
                return
            if message["type"] == "done":
                future.set_result(message["file"])
            else:
                future.set_exception(InputError(message.get("message", "stopped")))

        if len(self.worker.waiting) > 16:
            raise InputError("too many exports wait. Ask again in a minute.")
        place = str(folder)
        self.worker.order("draw", listen, folder=place, what=what, frame=frame)
        return future
