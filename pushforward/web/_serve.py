"""Start the server: one port on this machine, one token, one browser window."""

import os
import pathlib
import secrets
import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from pushforward.errors import InputError
from pushforward.web import _caps
from pushforward.web._app import Explorer
from pushforward.web._fit import parse
from pushforward.web._guard import Guard
from pushforward.web._routes import application

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

    @property
    def address(self) -> str:
        """What to open."""
        return f"{self.origin}/?token={self.token}"

    def show(self, path: pathlib.Path) -> str:
        """Keep a stored run; the link that shows it."""
        try:
            kept = self.explorer.files.stored(path)
        except BaseException:
            self.bound.close()
            raise
        state = {"model": "recorded", "file": kept["file"], "beta": kept["beta"]}
        return parse(state, self.explorer.files.about)[0].link()

    def run(self, ready: Callable[[], Any] | None = None) -> None:
        """Serve until stopped."""
        if ready is not None:
            ready()
        self.uvicorn.run(sockets=[self.bound])

    def stop(self) -> None:
        """Ask a running server to end."""
        self.uvicorn.should_exit = True


def _configuration(app: Guard) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="h11",
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
