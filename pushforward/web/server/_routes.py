"""The routes of the explorer."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from pushforward.errors import InputError
from pushforward.web import _attention, _caps
from pushforward.web._static import static_folder
from pushforward.web.computing import _draw
from pushforward.web.computing._phase import Diagram
from pushforward.web.server._app import (
    Explorer,
    Missing,
    description,
    finished,
    on_bad_input,
    on_failure,
    on_missing,
    problem,
    whole,
)
from pushforward.web.server._socket import Page, finite
from pushforward.web.state import _presets, _words

NOT_BUILT = (
    "The page is not built. In a checkout: cd web/page && npm ci && npm run build\n"
)


class Routes:
    """The handlers, each a few lines around what the explorer holds."""

    def __init__(self, explorer: Explorer):
        self.explorer = explorer
        self.static = static_folder()
        self.heavy = asyncio.Semaphore(2)  # matrices computed at a time

    async def index(self, request: Request) -> Response:
        """The page itself."""
        page = self.static / "index.html"
        if page.is_file():
            return FileResponse(page, media_type="text/html; charset=utf-8")
        return PlainTextResponse(NOT_BUILT, status_code=503)

    async def about(self, request: Request) -> Response:
        """Who answers, and with what."""
        return JSONResponse(description(self.explorer))

    async def presets(self, request: Request) -> Response:
        """Paper figures and failures."""
        folder = self.explorer.files.root.parent
        return JSONResponse(await asyncio.to_thread(_presets.kept_presets, folder))

    async def phase(self, request: Request) -> Response:
        """A phase diagram as far as it is."""
        ask = request.query_params
        kind, statistic = ask.get("kind", "t-beta"), ask.get("statistic", "close")
        n, d = whole(request, "n", 32), whole(request, "d", 3)
        diagram = Diagram(kind, statistic, n, d)
        return JSONResponse(finite(self.explorer.diagrams.get(diagram)))

    async def manifest(self, request: Request) -> Response:
        """What a finished run is."""
        run = await finished(self.explorer, request)
        kept = self.explorer.files.about
        about = await asyncio.to_thread(_words.accepted, run.state, run.done, kept)
        return JSONResponse(finite({"run": run.name, **about, **(run.done or {})}))

    async def attention(self, request: Request) -> Response:
        """The attention matrix of a frame."""
        run = await finished(self.explorer, request)
        k, head = whole(request, "frame", 0), whole(request, "head", 0)
        order = request.query_params.get("order", "index")
        files = self.explorer.files.root
        async with self.heavy:
            answer = await asyncio.to_thread(
                _attention.picture, run, k, head, order, files
            )
        return JSONResponse(finite(answer))

    async def row(self, request: Request) -> Response:
        """The attention that one token pays; or who moved it, for a trained model."""
        run = await finished(self.explorer, request)
        k, head = whole(request, "frame", 0), whole(request, "head", 0)
        token = whole(request, "token", 0)
        files = self.explorer.files.root
        async with self.heavy:
            moved = await asyncio.to_thread(_attention.pulled, run, k, token, files)
            if moved is not None:
                return JSONResponse({"values": moved.tolist(), "moved": True})
            A = await asyncio.to_thread(_attention.matrix, run, k, head, files)
        if token >= len(A):
            raise InputError(f"`token` must be below {len(A)}, got {token}.")
        return JSONResponse({"values": A[token].tolist()})

    async def export(self, request: Request) -> Response:
        """A run as csv, png, mp4 or zip."""
        run = await finished(self.explorer, request)
        what = request.path_params["what"]
        name = f"pushforward-{run.name[:8]}.{what}"
        if what == "csv":
            headers = {"content-disposition": f'attachment; filename="{name}"'}
            text = await asyncio.to_thread(_draw.table, run)
            return PlainTextResponse(text, media_type="text/csv", headers=headers)
        if what not in _draw.MEDIA:
            raise Missing("export")
        last = (run.done or {})["frames"] - 1
        frame = whole(request, "frame", last) if what == "png" else last
        folder = await self.explorer.runs.written(run)
        path = await self.explorer.drawing.make(run, folder, what, frame)
        return FileResponse(path, media_type=_draw.MEDIA[what], filename=name)

    async def upload(self, request: Request) -> Response:
        """Keep a file, or say why not."""
        length = request.headers.get("content-length", "")
        if not length.isdigit() or int(length) > _caps.UPLOAD_BYTES:
            fix = "Use the command line for larger files."
            why = f"`file` must be at most {_caps.UPLOAD_BYTES // 2**20} MB"
            return problem(413, "file", why, fix)
        try:
            form = request.form(max_files=1, max_fields=4, max_part_size=4096)
            async with form as parts:
                found = parts.get("file")
                if found is None or isinstance(found, str):
                    raise InputError("`file` is missing. Send one file.")
                data = await found.read()
                name = found.filename or ""
        except (MultiPartException, HTTPException) as error:
            raise InputError(f"`file` could not be received: {error}.") from error
        about = await asyncio.to_thread(self.explorer.files.upload, name, data)
        return JSONResponse(about)

    async def socket(self, connection: WebSocket) -> None:
        """A page, as long as it stays."""
        explorer = self.explorer
        if explorer.sockets >= _caps.SOCKETS:
            await connection.close(1013)
            return
        explorer.sockets += 1
        try:
            await Page(connection, explorer.runs, explorer.files.about).converse()
        finally:
            explorer.sockets -= 1

    def table(self) -> list[BaseRoute]:
        """Every route."""
        routes: list[BaseRoute] = [
            Route("/", self.index),
            Route("/api/about", self.about),
            Route("/api/presets", self.presets),
            Route("/api/phase", self.phase),
            Route("/api/runs/{run}", self.manifest),
            Route("/api/runs/{run}/attention", self.attention),
            Route("/api/runs/{run}/row", self.row),
            Route("/api/runs/{run}/{what}", self.export),
            Route("/api/upload", self.upload, methods=["POST"]),
            WebSocketRoute("/api/socket", self.socket),
        ]
        assets = self.static / "assets"
        if assets.is_dir():
            routes.append(Mount("/assets", StaticFiles(directory=assets)))
        return routes


def application(explorer: Explorer) -> Starlette:
    """The routes, without the guard in front of them."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        explorer.start()
        try:
            yield
        finally:
            explorer.stop()

    handlers = {
        InputError: on_bad_input,
        Missing: on_missing,
        404: not_found,
        Exception: on_failure,
    }
    return Starlette(
        routes=Routes(explorer).table(),
        lifespan=lifespan,
        exception_handlers=handlers,  # type: ignore[arg-type]
    )


async def not_found(request: Request, error: Exception) -> Response:
    """A path that means nothing."""
    return problem(404, "path", "there is no such page", "Go back to /.")
