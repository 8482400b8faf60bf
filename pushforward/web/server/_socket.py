"""One page's socket: it asks for a run and gets frames as fast as it reads them."""

import asyncio
import json
import math

from starlette.websockets import WebSocket, WebSocketDisconnect

from pushforward.errors import InputError
from pushforward.web import _caps
from pushforward.web.computing._frames import addressed
from pushforward.web.computing._runs import Run, Runs
from pushforward.web.server._guard import Bucket
from pushforward.web.state import _words
from pushforward.web.state._fit import parse
from pushforward.web.state._state import Kept


def finite(value):
    """The same JSON with null for what JSON cannot say: infinity and not-a-number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return (
        [finite(item) for item in value] if isinstance(value, list | tuple) else value
    )


class Page:
    """The conversation with one page; it follows at most one run."""

    def __init__(self, socket: WebSocket, runs: Runs, kept: Kept):
        self.socket, self.runs, self.kept = socket, runs, kept
        self.task: asyncio.Task | None = None
        self.following: Run | None = None
        self.request = -1
        self.acknowledged = -1
        self.heard = asyncio.Event()
        self.messages = Bucket(_caps.MESSAGES_PER_SECOND)
        self.orders = Bucket(_caps.RUNS_PER_SECOND)

    async def converse(self) -> None:
        """Until the page goes away."""
        await self.socket.accept()
        try:
            while True:
                text = await self.socket.receive_text()
                if not self.messages.take():
                    await self.socket.close(1008, "too many messages")
                    return
                await self._answer(text)
        except (WebSocketDisconnect, KeyError):
            return
        finally:
            await self._drop()

    async def _answer(self, text: str) -> None:
        try:
            message = json.loads(text)
            kind, request = message["type"], message["id"]
            if type(request) is not int or not 0 <= request < 2**32:
                raise ValueError
        except (ValueError, KeyError, TypeError, RecursionError):
            await self._refuse(0, "message", "not a message", "Reload the page.")
            return
        if kind == "ack" and request == self.request:
            frame = message.get("frame")
            if type(frame) is int and frame > self.acknowledged:
                self.acknowledged = frame
                self.heard.set()
        elif kind == "stop" and request == self.request:
            await self._drop()
        elif kind == "run":
            await self._run(request, message.get("state", {}))
        elif kind not in ("ack", "stop"):
            await self._refuse(request, "type", "unknown message", "Reload the page.")

    async def _run(self, request: int, given: object) -> None:
        await self._drop()
        if not self.orders.take() or self.runs.crowded:
            fix = "Wait a second, then ask again."
            await self._refuse(request, "run", "too many runs at once", fix)
            return
        try:
            state, clamped = await asyncio.to_thread(parse, given, self.kept)
        except InputError as error:
            await self._refuse(request, "state", str(error), "Use the controls.")
            return
        self.request, self.acknowledged = request, -1
        run = self.following = await self.runs.follow(state)
        self.task = asyncio.create_task(self._stream(run, request, clamped))

    async def _drop(self) -> None:
        """Stop following the present run."""
        task, self.task = self.task, None
        self.request = -1
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        run, self.following = self.following, None
        if run is not None:
            self.runs.leave(run)

    async def _stream(self, run: Run, request: int, clamped: list[dict]) -> None:
        try:
            about = await asyncio.to_thread(
                _words.accepted, run.state, run.done, self.kept
            )
            await self._say("accepted", request, run=run.name, clamped=clamped, **about)
            k, told = 0, None
            while True:
                news = run.news  # before looking: what comes meanwhile sets it
                while k < len(run.frames):
                    await self._room(k)
                    await self.socket.send_bytes(addressed(run.frames[k], request))
                    k += 1
                if run.ended and k >= len(run.frames):
                    break
                if run.latest is not told:
                    told = run.latest
                    await self._say("progress", request, **(told or {}))
                await news.wait()
            if run.error is not None:
                await self._say("error", request, **run.error)
            else:
                await self._say("done", request, run=run.name, **(run.done or {}))
        except (WebSocketDisconnect, RuntimeError):
            pass  # the page went away in the middle of a frame

    async def _room(self, k: int) -> None:
        """Wait until few enough frames are on the way."""
        while k - self.acknowledged > _caps.WINDOW:
            self.heard.clear()
            await self.heard.wait()

    async def _say(self, kind: str, request: int, **values) -> None:
        message = finite({"type": kind, "id": request, **values})
        await self.socket.send_text(json.dumps(message, allow_nan=False))

    async def _refuse(self, request: int, argument: str, why: str, fix: str) -> None:
        await self._say("error", request, argument=argument, message=why, fix=fix)
