"""The routes of the explorer."""

import contextlib
import pathlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

import pushforward
from pushforward.web import _caps, _presets, _words
from pushforward.web._process import WorkerProcess
from pushforward.web._runs import Runs
from pushforward.web._socket import Page, finite
from pushforward.web._state import Kept, State

STATIC = pathlib.Path(__file__).parent / "static"


class Explorer:
    """Everything one server holds."""

    def __init__(self, root: pathlib.Path, warm: bool = True):
        self.files = root / "files"
        self.files.mkdir(parents=True, exist_ok=True)
        self.worker = WorkerProcess(self.files, nice=0, limit=_caps.RUN_SECONDS)
        self.runs = Runs(root / "runs", self.worker)
        self.kept = Kept()
        self.sockets = 0
        self.warm = warm

    def start(self) -> None:
        """Compile the usual shapes before anybody asks."""
        if self.warm:
            states = [State(), State(d=2)]
            short = [{**s.as_json(), "t1": 0.5, "frames": 5} for s in states]
            self.worker.order("warm", lambda message, payload: None, states=short)

    def stop(self) -> None:
        """End the workers."""
        self.worker.close()


def application(explorer: Explorer) -> Starlette:
    """The routes, without the guard in front of them."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        explorer.start()
        try:
            yield
        finally:
            explorer.stop()

    async def socket(connection: WebSocket) -> None:
        if explorer.sockets >= _caps.SOCKETS:
            await connection.close(1013)
            return
        explorer.sockets += 1
        try:
            await Page(connection, explorer.runs, explorer.kept).converse()
        finally:
            explorer.sockets -= 1

    async def about(request: Request) -> Response:
        return JSONResponse(description(explorer))

    async def presets(request: Request) -> Response:
        return JSONResponse(_presets.all_presets())

    async def manifest(request: Request) -> Response:
        run = await explorer.runs.get(request.path_params["run"])
        if run is None or run.done is None:
            return missing("run")
        answer = {"run": run.name, **_words.accepted(run.state, run.done), **run.done}
        return JSONResponse(finite(answer))

    routes = [
        Route("/", index),
        Route("/api/about", about),
        Route("/api/presets", presets),
        Route("/api/runs/{run}", manifest),
        WebSocketRoute("/api/socket", socket),
    ]
    if (STATIC / "assets").is_dir():
        routes.append(Mount("/assets", StaticFiles(directory=STATIC / "assets")))
    return Starlette(routes=routes, lifespan=lifespan)


async def index(request: Request) -> Response:
    """The page itself."""
    page = STATIC / "index.html"
    if page.is_file():
        return FileResponse(page, media_type="text/html; charset=utf-8")
    return PlainTextResponse(
        "The page is not built. In a checkout: cd web/page && npm ci && npm run build\n",
        status_code=503,
    )


def missing(what: str) -> Response:
    """404 in the form of every other error."""
    fix = "Ask for it again through the page."
    error = {"argument": what, "message": f"there is no such {what}", "fix": fix}
    return JSONResponse({"error": error}, status_code=404)


def description(explorer: Explorer) -> dict:
    """What the page must know to draw its controls."""
    models = [
        {"id": name, "label": label, "formula": formula}
        for name, (label, formula) in _words.MODELS.items()
    ]
    inits = [{"id": k, "label": label} for k, label in _words.STARTS.items()]
    return {
        "version": pushforward.__version__,
        "device": device(),
        "caps": _caps.public(),
        "models": models,
        "inits": inits,
        "dtypes": ["float64", "float32"],
        "default": State().as_json(),
    }


def device() -> str:
    """What computes, in words."""
    import jax

    found = jax.devices()[0]
    return f"{found.platform} ({found.device_kind})"
