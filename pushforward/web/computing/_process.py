"""The server's side of a worker: orders go out, messages come back to the loop."""

import asyncio
import itertools
import json
import multiprocessing
import os
import pathlib
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from pushforward.web import _caps
from pushforward.web.computing import _worker

GRACE = 30.0  # seconds to notice that a job is not wanted: compiling takes a while


class Entry(NamedTuple):
    """A job that waits, and when it is due."""

    number: int
    order: dict
    listener: Callable
    due: float = 0.0
    seconds: float = 0.0


def resident(process: int) -> int:
    """Bytes of memory that a process holds; zero where the system does not tell."""
    try:
        pages = pathlib.Path(f"/proc/{process}/statm").read_text().split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


class WorkerProcess:
    """One worker, started when first needed and again when it has died or swollen.

    Jobs are answered one at a time. Each is due when it was ordered plus what it will
    take, and the one that is due first comes first: short ones are not held up by long
    ones, and none waits for ever. `listener(message, payload)` of a job hears
    everything it says; the last message is done, error or stopped.
    """

    def __init__(self, files: pathlib.Path, nice: int, limit: float):
        self.files, self.nice, self.limit = files, nice, limit
        self.context = multiprocessing.get_context("spawn")
        self.numbers = itertools.count(1)
        self.waiting: list[Entry] = []
        self.idle: list[Entry] = []  # done when nothing else is
        self.current: tuple[int, Callable] | None = None
        self.takes = 0.0  # seconds, the current job, by its order
        self.process: Any = None
        self.watchdog: asyncio.TimerHandle | None = None
        self.restarts = 0

    def order(
        self,
        what: str,
        listener: Callable,
        /,
        *,
        seconds: float = 0.0,
        **arguments: Any,
    ) -> int:
        """Ask for a job that takes about `seconds`; returns its number."""
        entry = self._entry(what, listener, arguments)
        due = time.monotonic() + seconds
        self.waiting.append(entry._replace(due=due, seconds=seconds))
        self._next()
        return entry.number

    @property
    def held(self) -> bool:
        """Whether it is at a long job."""
        return self.current is not None and self.takes > _caps.LONG_SECONDS

    def when_idle(self, what: str, /, **arguments: Any) -> None:
        """Ask for a job that may wait for ever, and whose answer nobody needs."""
        entry = self._entry(what, lambda message, payload: None, arguments)
        self.idle.append(entry)
        self._next()

    def _entry(self, what: str, listener: Callable, arguments: dict) -> "Entry":
        number = next(self.numbers)
        order = {"job": number, "what": what, "arguments": arguments}
        return Entry(number, order, listener)

    def cancel(self, number: int) -> None:
        """Give a job up, whether it waits or runs."""
        for entry in self.waiting:
            if entry.number == number:
                self.waiting.remove(entry)
                entry.listener({"type": "stopped"}, b"")
                return
        if self.current is not None and self.current[0] == number:
            self.stop.value = number
            self._watch(GRACE)

    def close(self) -> None:
        """End the process."""
        self._unwatch()
        if self.process is not None:
            self.process.kill()
            self.process.join(5)
            self.process = None

    def _next(self) -> None:
        if self.current is not None or not (self.waiting or self.idle):
            return
        if self.process is not None and resident(self.process.pid) > _caps.WORKER_BYTES:
            self.close()  # compiled programs are never given back: begin anew
        if self.process is None or not self.process.is_alive():
            self._start()
        queue = self.waiting or self.idle
        entry = min(queue, key=lambda waits: waits.due)
        queue.remove(entry)
        self.current, self.takes = (entry.number, entry.listener), entry.seconds
        self._watch(self.limit)
        try:
            self.pipe.send_bytes(json.dumps(entry.order).encode())
        except OSError:
            self._lost(self.process)

    def _start(self) -> None:
        import jax

        cache = jax.config.values.get("jax_compilation_cache_dir")
        self.loop = asyncio.get_running_loop()
        self.pipe, theirs = self.context.Pipe()
        self.stop = self.context.Value("q", 0, lock=False)
        self.process = self.context.Process(
            target=_worker.main,
            args=(theirs, self.stop, cache, str(self.files), self.nice),
            daemon=True,
        )
        self.process.start()
        theirs.close()
        reader = threading.Thread(
            target=self._read, args=(self.pipe, self.process), daemon=True
        )
        reader.start()

    def _read(self, pipe, process) -> None:
        """In a thread of its own: bytes from the pipe to the event loop."""
        try:
            while True:
                header, _, payload = pipe.recv_bytes().partition(b"\0")
                message = json.loads(header)
                self.loop.call_soon_threadsafe(self._heard, message, payload)
        except (EOFError, OSError):
            pass
        try:
            self.loop.call_soon_threadsafe(self._lost, process)
        except RuntimeError:
            pass  # the loop is closed: the server has ended

    def _heard(self, message: dict, payload: bytes) -> None:
        if self.current is None or message["job"] != self.current[0]:
            return
        listener = self.current[1]
        if message["type"] in ("done", "error", "stopped"):
            self._unwatch()
            self.current = None
        listener(message, payload)
        self._next()

    def _lost(self, process) -> None:
        """The process is gone: its job fails, the next one gets a new process."""
        if process is not self.process:
            return
        self.process = None
        self.restarts += 1
        self._unwatch()
        if self.current is not None:
            listener, self.current = self.current[1], None
            fix = "Fewer tokens, frames or a shorter time; or let tokens merge."
            why = "the computation was ended: it took too long or too much memory"
            error = {"type": "error", "argument": "t1", "message": why, "fix": fix}
            listener(error, b"")
        self._next()

    def _watch(self, seconds: float) -> None:
        self._unwatch()
        process = self.process
        loop = asyncio.get_running_loop()
        self.watchdog = loop.call_later(seconds, self._overdue, process)

    def _unwatch(self) -> None:
        if self.watchdog is not None:
            self.watchdog.cancel()
            self.watchdog = None

    def _overdue(self, process) -> None:
        """It did not stop by itself."""
        if process is not None and process is self.process:
            process.kill()
