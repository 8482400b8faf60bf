"""The process that computes: one job at a time, with the library's own `flow`.

Messages on the pipe are bytes: a JSON header, a zero byte, then raw arrays. Nothing
that crosses it is unpickled. The number of the job to give up stands in shared memory.
"""

import json
import os
import pathlib
import time
from multiprocessing.connection import Connection
from typing import Any


def main(pipe: Connection, stop: Any, cache: str | None, files: str, nice: int) -> None:
    """Answer jobs until the pipe closes."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when to end
    os.nice(nice)
    import jax

    if cache:
        jax.config.update("jax_compilation_cache_dir", cache)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
    from pushforward._compiler import make_room
    from pushforward.web.computing._jobs import JOBS

    while True:
        try:
            order = json.loads(pipe.recv_bytes())
        except (EOFError, OSError):
            return
        job = Job(pipe, stop, order["job"])
        try:
            JOBS[order["what"]](job, pathlib.Path(files), **order["arguments"])
        except Stopped:
            job.say("stopped")
        except Exception as error:  # the server must hear of it, whatever it is
            told: dict[str, Any] = explained(error)
            job.say("error", **told)
        make_room()  # a page that is open for days compiles many shapes


class Stopped(KeyboardInterrupt):
    """The job is not wanted any more; `flow` ends as if stopped by hand."""


class Job:
    """One order and the way back."""

    def __init__(self, pipe: Connection, stop: Any, number: int):
        self.pipe, self.stop, self.number = pipe, stop, number
        self.told = time.monotonic()

    def say(self, what: str, payload: bytes = b"", **values: Any) -> None:
        """Send a message to the server."""
        header = json.dumps({"type": what, "job": self.number, **values})
        self.pipe.send_bytes(header.encode() + b"\0" + payload)

    def check(self) -> None:
        """Give up here if nobody waits for the answer."""
        if self.stop.value == self.number:
            raise Stopped

    def progress(self, t: float, fraction: float) -> None:
        """Tell how far it is, at most five times a second."""
        now = time.monotonic()
        if now - self.told > 0.2:
            self.told = now
            self.say("progress", t=t, fraction=fraction)


def explained(error: Exception) -> dict[str, str]:
    """An error as argument, message and fix."""
    from pushforward.errors import PushforwardError

    if not isinstance(error, PushforwardError):
        text = f"{type(error).__name__}: {str(error) or type(error).__name__}"[:500]
        fix = "Change the state a little; if it stays, report it with the link."
        return {"argument": "", "message": text, "fix": fix}
    return {"argument": error.argument, "message": error.problem, "fix": error.fix}
