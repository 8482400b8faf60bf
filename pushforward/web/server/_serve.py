"""Start the server: one port on this machine, one token, one browser window."""

import asyncio
import contextlib
import os
import pathlib
import secrets
import socket
import threading
from collections.abc import Callable
from typing import Any

import uvicorn

import pushforward as pf
from pushforward.errors import InputError
from pushforward.web import _caps
from pushforward.web.server._app import Explorer
from pushforward.web.server._files import Files
from pushforward.web.server._guard import Guard, Impatient
from pushforward.web.server._routes import application
from pushforward.web.state._experiment import link_of
from pushforward.web.state._fit import of_experiment, parse

RECORDED = "Shown as recorded: its frames are read instead of run again."
LOCAL = ("127.0.0.1", "localhost")


def home() -> pathlib.Path:
    """Where runs and uploads are kept."""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache) / "pushforward" / "explorer"


def listening(host: str, port: int) -> socket.socket:
    """A bound socket; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise InputError(
            f"`port` {port} on {host} cannot be used: {error.strerror}. Choose "
            "another, or --port 0 for any that is free."
        ) from error
    return bound


def names(host: str, port: int) -> list[str]:
    """The values of Host that are answered, exactly as browsers send them."""
    own = f"[{host}]" if ":" in host else host
    hosts = [own, *LOCAL] if host in ("127.0.0.1", "localhost") else [own]
    named = [f"{name}:{port}" for name in dict.fromkeys(hosts)]
    return named + ([name for name in dict.fromkeys(hosts)] if port == 80 else [])


class Server:
    """A server that is ready to run; `address` holds the token."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        root: pathlib.Path | None = None,
        warm: bool = True,
    ):
        self.bound = listening(host, port)
        self.port = self.bound.getsockname()[1]
        self.token = secrets.token_urlsafe(32)
        shown = f"[{host}]" if ":" in host else host
        self.origin = f"http://{shown}:{self.port}"
        self.explorer = Explorer(root or home(), warm)
        app = application(self.explorer)
        self.guard = Guard(app, names(host, self.port), self.port, self.token)
        self.uvicorn = uvicorn.Server(_configuration(self.guard))
        self.ended = threading.Event()

    @property
    def address(self) -> str:
        """What to open."""
        return f"{self.origin}/?token={self.token}"

    def show(
        self, path: pathlib.Path, experiment: pf.Experiment | None = None
    ) -> tuple[str, list[str]]:
        """The link of what stands at a path, and what to know of it.

        An experiment that has controls here is opened live. Anything else is read, or
        run if it has not been, and its frames are shown as they were recorded.
        """
        try:
            return self._shown(path, experiment)
        except BaseException:
            self.bound.close()
            raise

    def _shown(self, path: pathlib.Path, experiment) -> tuple[str, list[str]]:
        files, words = self.explorer.files, []
        if experiment is not None:
            known = _uploaded(experiment, files)
            state, notes = of_experiment(known, kept=files.about)
            read = path.is_dir() and state.experiment is not None
            if not notes and not read:
                return link_of(state), []
            words = [
                RECORDED if read else "Shown as recorded, since the page cannot run"
            ]
            words += [f"{n['key']}: {n['asked']} ({n['why']})" for n in notes]
        stored = path.is_dir() or experiment is None
        run = pf.load(path) if stored else experiment.run()
        kept = files.recorded(run, path.name)
        shown = {"model": "recorded", "file": kept["file"], "beta": kept["beta"]}
        return link_of(parse(shown, files.about)[0]), words

    def run(self, ready: Callable[[], Any] | None = None) -> None:
        """Serve until stopped."""
        if ready is not None:
            ready()
        try:
            with contextlib.suppress(asyncio.CancelledError):  # by `_give_up`
                self.uvicorn.run(sockets=[self.bound])
        finally:
            self.ended.set()
            self.explorer.stop()

    def stop(self) -> None:
        """End a running server; what does not end by itself is cancelled."""
        self.uvicorn.should_exit = True
        threading.Thread(target=self._give_up, daemon=True).start()

    def _give_up(self) -> None:
        loop = self.explorer.loop
        if self.ended.wait(_caps.LAST_SECONDS) or loop is None:
            return
        with contextlib.suppress(RuntimeError):  # it has just ended
            loop.call_soon_threadsafe(_cancel_all, loop)


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        task.cancel()


def _uploaded(experiment: pf.Experiment, files: Files) -> pf.Experiment:
    """The experiment with its file of tokens kept by the server, where it has one."""
    if not isinstance(experiment.start, pf.FromFile):
        return experiment
    path = pathlib.Path(experiment.start.path)
    kept = files.upload(path.name, path.read_bytes())
    return experiment.vary(start=pf.FromFile(f"{kept['file']}.npy"))


def _configuration(app: Guard) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Impatient,
        ws="websockets-sansio",
        ws_max_size=_caps.MESSAGE_BYTES,
        ws_per_message_deflate=False,
        h11_max_incomplete_event_size=16 * 1024,
        limit_concurrency=4 * _caps.SOCKETS,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=2,
        log_config=None,  # the caller's logging is not ours to configure
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
    )
