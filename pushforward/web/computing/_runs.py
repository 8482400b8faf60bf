"""Runs by the name of their state: in memory, on disk, or being computed."""

import asyncio
import json
import pathlib
import shutil
from collections import OrderedDict

import numpy as np

from pushforward._files import write_atomically
from pushforward.web import _caps
from pushforward.web.computing._frames import masses_of
from pushforward.web.computing._process import WorkerProcess
from pushforward.web.state._experiment import weights_of
from pushforward.web.state._given import given_experiment, is_density
from pushforward.web.state._state import FILE, State, from_json


class Run:
    """The frames of one state, as they come; several pages may follow it."""

    def __init__(self, name: str, state: State):
        self.name, self.state = name, state
        self.frames: list[bytes] = []
        self.points: list[bytes] = []  # float64 or float32, as computed
        self.done: dict | None = None
        self.error: dict | None = None
        self.latest: dict | None = None  # the last word on progress
        self.followers = 0
        self.job: int | None = None
        self.worker: WorkerProcess | None = None
        self.written: asyncio.Future | None = None
        self._changed = asyncio.Event()

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.done is not None or self.error is not None

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return sum(map(len, self.frames)) + sum(map(len, self.points))

    def change(self) -> None:
        """Wake everybody who waits for something new."""
        self._changed.set()
        self._changed = asyncio.Event()

    @property
    def news(self) -> asyncio.Event:
        """Is set at the next change: take it first, then look what there is."""
        return self._changed

    def tokens(self, k: int) -> np.ndarray:
        """The points of frame k, in full precision."""
        assert self.done is not None
        flat = np.frombuffer(self.points[k], self.done["dtype"])
        return flat.reshape(self.done["n"], self.done["d"])

    def masses(self, k: int, files: pathlib.Path) -> np.ndarray | None:
        """The masses of the tokens in frame k; None where they are equal."""
        state = self.state
        if state.experiment is None and state.model != "recorded":
            return None if state.weights == "equal" else weights_of(state, files)
        masses = masses_of(self.frames[k])
        experiment = state.experiment and given_experiment(state.experiment)
        if masses is None or not experiment or not is_density(experiment):
            return masses
        masses = masses * experiment.start(0).basis.weights  # of a density its values
        return masses / masses.sum()


class Runs:
    """All runs of a server; finished ones are kept within bounds."""

    def __init__(
        self, root: pathlib.Path, worker: WorkerProcess, relief: WorkerProcess
    ):
        self.root, self.worker, self.relief = root, worker, relief
        self.kept: OrderedDict[str, Run] = OrderedDict()
        root.mkdir(parents=True, exist_ok=True)

    async def get(self, name: str) -> Run | None:
        """A run by name, from memory or from disk."""
        if name in self.kept:
            self.kept.move_to_end(name)
            return self.kept[name]
        if not FILE.fullmatch(name):
            return None
        run = await asyncio.to_thread(self._read, name)
        if run is not None and name not in self.kept:
            self.kept[name] = run
            self._forget()
        return self.kept.get(name)

    async def follow(self, state: State) -> Run:
        """The run of a state, started if it is new; leave it with `leave`."""
        name = state.digest()
        run = await self.get(name)
        if run is None:
            run = Run(name, state)
            self.kept[name] = run
            self._compute(run)
        run.followers += 1
        return run

    def leave(self, run: Run) -> None:
        """A page is no longer interested; a run without followers is stopped."""
        run.followers -= 1
        if run.followers <= 0 and not run.ended and run.worker and run.job:
            self._drop(run)  # whoever asks from now on starts anew
            run.worker.cancel(run.job)

    @property
    def crowded(self) -> bool:
        """Whether too many runs wait already."""
        return len(self.worker.waiting) >= _caps.QUEUE

    async def written(self, run: Run) -> pathlib.Path:
        """The folder of a finished run, once it is on disk."""
        if run.written is not None:
            await asyncio.shield(run.written)
        folder = self.root / run.name
        if not (folder / "manifest.json").is_file():
            await asyncio.to_thread(self._write, run)
        return folder

    def _compute(self, run: Run) -> None:
        def listen(message: dict, payload: bytes) -> None:
            self._listen(run, message, payload)

        seconds, state = run.state.seconds(), run.state.as_json()
        short = seconds <= _caps.LONG_SECONDS
        elsewhere = short and self.worker.held and not self.relief.held
        run.worker = self.relief if elsewhere else self.worker
        run.job = run.worker.order("run", listen, seconds=seconds, state=state)

    def _listen(self, run: Run, message: dict, payload: bytes) -> None:
        kind = message.pop("type")
        message.pop("job", None)
        if kind == "frame":
            run.frames.append(payload[: message["size"]])
            run.points.append(payload[message["size"] :])
        elif kind == "progress":
            run.latest = message
        elif kind == "done":
            run.done = {"n": run.state.n, "d": run.state.d, **message}
            loop = asyncio.get_running_loop()
            run.written = loop.run_in_executor(None, self._write, run)
            self._forget()
        else:
            if kind == "stopped":
                fix = "Press play, or change a control."
                message = {"argument": "", "message": "stopped by hand", "fix": fix}
            run.error = message
            self._drop(run)
        run.change()

    def _drop(self, run: Run) -> None:
        if self.kept.get(run.name) is run:
            del self.kept[run.name]

    def _forget(self) -> None:
        """Drop the oldest finished runs from memory; they stay on disk."""
        total = sum(run.size for run in self.kept.values())
        for name, run in list(self.kept.items()):
            if total <= _caps.MEMORY_BYTES:
                return
            if run.ended and run.followers <= 0:
                total -= run.size
                del self.kept[name]

    def _write(self, run: Run) -> None:
        """On disk: the manifest comes last, and makes the run count."""
        folder = self.root / run.name
        try:
            folder.mkdir(exist_ok=True)
            write_atomically(folder / "frames.bin", b"".join(run.frames))
            write_atomically(folder / "points.bin", b"".join(run.points))
            manifest = {"state": run.state.as_json(), "done": run.done}
            write_atomically(folder / "manifest.json", json.dumps(manifest).encode())
            self._tidy()
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)  # a full disk costs time only

    def _read(self, name: str) -> Run | None:
        try:
            return read_run(self.root / name)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _tidy(self) -> None:
        """Remove the oldest runs of ours beyond the bounds of the disk."""
        mine = [p for p in self.root.glob("*/manifest.json") if _ours(p)]
        mine.sort(key=lambda p: p.stat().st_mtime, reverse=True)
        total = 0
        for place, manifest in enumerate(mine):
            total += sum(f.stat().st_size for f in manifest.parent.glob("*.*"))
            if place >= _caps.DISK_RUNS or total > _caps.DISK_BYTES:
                shutil.rmtree(manifest.parent, ignore_errors=True)


def read_run(folder: pathlib.Path) -> Run:
    """A finished run from the folder where the server keeps it."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    run = Run(folder.name, from_json(manifest["state"]))
    run.done = manifest["done"]
    count = manifest["done"]["frames"]
    run.frames = _split((folder / "frames.bin").read_bytes(), count)
    run.points = _split((folder / "points.bin").read_bytes(), count)
    return run


def _ours(manifest: pathlib.Path) -> bool:
    return FILE.fullmatch(manifest.parent.name) is not None


def _split(data: bytes, count: int) -> list[bytes]:
    size, rest = divmod(len(data), count)
    if rest:
        raise ValueError("torn file")
    return [data[k * size : (k + 1) * size] for k in range(count)]
