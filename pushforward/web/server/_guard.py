"""The door: who may talk to the server, for how long, and what every answer carries.

A browser attacks from other sites (cross-site requests and sockets), from other ports
of this machine, through names that resolve to it (DNS rebinding), and by framing. So
every request must name this server exactly, come from its own page, and carry the
cookie that only the owner of the token has. Connections that say nothing are closed.
"""

import asyncio
import dataclasses
import hmac
import json
import secrets
import time
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from pushforward.web import _caps

GREETING = "Open the address that `pushforward explore` printed; it holds the token."


@dataclasses.dataclass
class Bucket:
    """Tokens that refill at a rate: how often something may happen."""

    rate: float
    level: float = 0.0
    last: float = 0.0

    def __post_init__(self) -> None:
        self.level, self.last = self.rate, time.monotonic()

    def take(self) -> bool:
        """Whether it may happen once more now."""
        now = time.monotonic()
        self.level = min(self.rate, self.level + (now - self.last) * self.rate)
        self.last = now
        if self.level < 1.0:
            return False
        self.level -= 1.0
        return True


class Guard:
    """ASGI middleware in front of every route and socket."""

    def __init__(self, app: ASGIApp, hosts: list[str], port: int, token: str):
        self.app, self.token = app, token
        self.hosts = frozenset(hosts)
        self.origins = frozenset(f"http://{host}" for host in hosts)
        self.cookie = f"pushforward-{port}"
        self.session = secrets.token_hex(32)
        self.bucket = Bucket(_caps.REQUESTS_PER_SECOND)
        self.guesses = Bucket(10.0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refused = self._refusal(scope)
        if scope["type"] == "websocket":
            if refused:
                await _close(receive, send)
            else:
                await self.app(scope, receive, send)
            return
        host = _header(scope, b"host") or ""
        send = _with_headers(send, host if host in self.hosts else "", scope["path"])
        if refused:
            await _answer(send, *refused)
        elif scope["path"] == "/" and b"token=" in scope["query_string"]:
            await self._trade(scope, send)
        elif not self._known(scope):
            await _answer(send, 401, "there is no session", GREETING)
        else:
            await self.app(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str, str] | None:
        """Why a request is turned away, before anything is looked up."""
        host = _header(scope, b"host")
        if host not in self.hosts:
            return 421, f"this server is not {str(host)[:80]}", GREETING
        origin = _header(scope, b"origin")
        socket = scope["type"] == "websocket"
        writes = not socket and scope["method"] not in ("GET", "HEAD")
        if origin is None and socket:
            return 403, "a socket must say where it comes from", GREETING
        # Both names in one request must agree: localhost is not 127.0.0.1.
        if _all(scope, b"origin") and origin != f"http://{host}":
            return 403, "requests from other pages are not answered", GREETING
        site = _header(scope, b"sec-fetch-site")
        if site not in (None, "same-origin", "none") and not _walks_in(scope):
            return 403, "requests from other sites are not answered", GREETING
        if writes and _header(scope, b"x-pushforward") != "1":
            return 403, "a request that writes needs X-Pushforward: 1", GREETING
        if not self.bucket.take():
            return 429, "too many requests", "Wait a second."
        if socket and not self._known(scope):
            return 401, "there is no session", GREETING
        return None

    def _known(self, scope: Scope) -> bool:
        try:
            cookies = SimpleCookie(_header(scope, b"cookie") or "")
        except CookieError:
            return False
        found = cookies.get(self.cookie)
        return found is not None and _same(found.value, self.session)

    async def _trade(self, scope: Scope, send: Send) -> None:
        """The token for a cookie, once the guess is right."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.get("token", [""])
        if not self.guesses.take():
            await _answer(send, 429, "too many tokens", "Wait a second.")
        elif len(given) != 1 or not _same(given[0], self.token):
            await _answer(
                send, 403, "the token is not the one of this server", GREETING
            )
        else:
            value = f"{self.cookie}={self.session}; HttpOnly; SameSite=Strict; Path=/"
            headers = [(b"location", b"/"), (b"set-cookie", value.encode())]
            start = {"type": "http.response.start", "status": 303, "headers": headers}
            await send(start)
            await send({"type": "http.response.body", "body": b""})


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def _all(scope: Scope, name: bytes) -> list[str]:
    return [v.decode("latin-1") for k, v in scope["headers"] if k == name]


def _header(scope: Scope, name: bytes) -> str | None:
    """The value of a header that is there exactly once."""
    found = _all(scope, name)
    return found[0] if len(found) == 1 else None


def _walks_in(scope: Scope) -> bool:
    """Whether somebody followed a link to the page itself, in a window of its own."""
    return (
        scope["type"] == "http"
        and scope["method"] == "GET"
        and scope["path"] == "/"
        and _header(scope, b"sec-fetch-mode") == "navigate"
        and _header(scope, b"sec-fetch-dest") == "document"
    )


def _with_headers(send: Send, host: str, path: str) -> Send:
    """Every answer says what a browser may do with it."""
    socket = f" ws://{host}" if host else ""
    policy = (
        "default-src 'self'; script-src 'self'; style-src 'self'; "
        "img-src 'self' blob: data:; media-src 'self' blob:; worker-src blob:; "
        f"connect-src 'self'{socket}; object-src 'none'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )
    fixed = path.startswith("/assets/")
    cache = "private, max-age=31536000, immutable" if fixed else "no-store"
    always = [
        (b"content-security-policy", policy.encode("latin-1", "replace")),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
        (b"cache-control", cache.encode()),
    ]

    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {k for k, _ in always}
            kept = [(k, v) for k, v in message.get("headers", []) if k not in own]
            message = {**message, "headers": [*kept, *always]}
        await send(message)

    return wrapped


async def _answer(send: Send, status: int, message: str, fix: str) -> None:
    error = {"error": {"argument": "", "message": message, "fix": fix}}
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(error).encode()})


async def _close(receive: Receive, send: Send) -> None:
    """Refuse a socket before it opens: the browser sees 403."""
    await receive()
    await send({"type": "websocket.close", "code": 4403})


class Impatient(H11Protocol):
    """HTTP as uvicorn speaks it, with a limit on the time to send the headers."""

    patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request, but not for ever."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Whoever has sent whole headers is waited for; who begins, not for ever."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._forget()
        elif self.patience is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for."""
        self._forget()
        super().connection_lost(exc)

    def _wait(self) -> None:
        seconds = _caps.HEADER_SECONDS
        self.patience = self.loop.call_later(seconds, self.transport.close)

    def _forget(self) -> None:
        if self.patience is not None:
            self.patience.cancel()
            self.patience = None
