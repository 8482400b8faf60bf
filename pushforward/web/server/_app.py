"""What one server holds, and what every answer looks like."""

import asyncio
import dataclasses
import os
import pathlib

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import pushforward
from pushforward.errors import InputError
from pushforward.web import _caps
from pushforward.web.computing._diagrams import Diagrams
from pushforward.web.computing._draw import Drawing
from pushforward.web.computing._process import WorkerProcess
from pushforward.web.computing._runs import Run, Runs
from pushforward.web.server._files import Files
from pushforward.web.state._state import State

WARM = (State(), State(d=2))  # the usual shapes, the most usual first
# Compiled by the process in the background, for the cache on disk that both share.
CACHED = (
    State(n=32, d=2),
    State(n=32),
    State(model="causal", n=32),
    State(d=2, merge=True, clock="log"),
)
BACKGROUND = 900.0  # seconds that a phase diagram or a film may take


class Explorer:
    """Runs, files and diagrams of one server, and the two processes that compute."""

    def __init__(self, root: pathlib.Path, warm: bool = True):
        # Three processes share the device: none of them may take all of its memory.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        self.files = Files(root / "files")
        folder = self.files.root
        self.worker = WorkerProcess(folder, nice=0, limit=_caps.RUN_SECONDS)
        self.background = WorkerProcess(folder, nice=10, limit=BACKGROUND)
        self.runs = Runs(root / "runs", self.worker, self.background)
        self.diagrams = Diagrams(root / "phase", self.background)
        self.drawing = Drawing(self.background)
        self.sockets = 0
        self.warm = warm
        self.loop: asyncio.AbstractEventLoop | None = None  # while it runs

    def start(self) -> None:
        """Compile the usual shapes before anybody asks."""
        self.loop = asyncio.get_running_loop()
        if not self.warm:
            return
        for worker, states in ((self.worker, WARM), (self.background, CACHED)):
            for state in states:
                short = dataclasses.replace(state, t1=0.5, frames=5)
                worker.when_idle("warm", states=[short.as_json()])

    def stop(self) -> None:
        """End the workers."""
        self.worker.close()
        self.background.close()


class Missing(Exception):
    """Something that a request names and that is not there."""


async def finished(explorer: Explorer, request: Request) -> Run:
    """The run that a request names, once it is done."""
    run = await explorer.runs.get(request.path_params["run"])
    if run is None or run.done is None:
        raise Missing("run")
    return run


def whole(request: Request, name: str, default: int) -> int:
    """A whole number of the query."""
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise InputError(f"`{name}` must be a whole number, got {text[:40]!r}.")
    return int(text)


def problem(status: int, argument: str, message: str, fix: str) -> Response:
    """An error, as everywhere: argument, message, fix."""
    error = {"argument": argument, "message": message, "fix": fix}
    return JSONResponse({"error": error}, status_code=status)


async def on_bad_input(request: Request, error: Exception) -> Response:
    """An InputError becomes 400."""
    assert isinstance(error, InputError)
    return problem(400, error.argument, error.problem, error.fix)


async def on_missing(request: Request, error: Exception) -> Response:
    """Something that is not there becomes 404."""
    what = str(error.args[0]) if error.args else "page"
    fix = "Ask for it again through the page."
    return problem(404, what, f"there is no such {what}", fix)


async def on_failure(request: Request, error: Exception) -> Response:
    """A mistake of ours becomes 500, without its inside."""
    fix = "Reload the page; if it stays, report it with the link."
    return problem(500, "", f"the server failed: {type(error).__name__}", fix)


def description(explorer: Explorer) -> dict:
    """Who answers, and with what."""
    return {
        "version": pushforward.__version__,
        "device": device(),
        "warm": not (explorer.worker.idle or explorer.worker.current),
    }


def device() -> str:
    """What computes, in words."""
    import jax

    found = jax.devices()[0]
    return f"{found.platform} ({found.device_kind})"
