"""Pictures, films and stores of a finished run, made in the background."""

import asyncio
import csv
import io
import pathlib
import shutil
import zipfile
from typing import Any

import numpy as np

import pushforward as pf
from pushforward import plot
from pushforward.errors import InputError
from pushforward.web import _caps
from pushforward.web.computing._frames import numbers_of
from pushforward.web.computing._process import WorkerProcess
from pushforward.web.computing._runs import Run, read_run
from pushforward.web.computing._worker import Job
from pushforward.web.state._experiment import experiment_of, radius_of
from pushforward.web.state._state import State

FILM_FRAMES = 151


def draw(job: Job, files: pathlib.Path, folder: str, what: str, frame: int) -> None:
    """Make one file beside the run: picture, film or store."""
    place = pathlib.Path(folder)
    state, run = stored_run(place, files)
    target = place / file_name(what, frame)
    temporary = place / f"new-{target.name}"
    beta, radius = state.beta, radius_of(state)
    log_time = state.clock == "log"
    if what == "png":
        past = until(run, frame)
        picture = plot.summary(past, beta=beta, radius=radius, log_time=log_time)
        plot.save(picture, temporary)
    elif what == "mp4":
        count = min(FILM_FRAMES, max(len(run), 2))

        def told(k: int, frames: int) -> None:
            job.check()
            job.progress(0.0, k / frames)

        plot.movie(
            run, temporary, frames=count, beta=beta, radius=radius, progress=told
        )
    else:
        zipped(run, place / "store", temporary)
    temporary.replace(target)
    job.say("done", file=target.name)


def file_name(what: str, frame: int) -> str:
    """Where an export of a run is kept."""
    if what == "png":
        return f"picture-{frame}.png"
    return "film.mp4" if what == "mp4" else "run.zip"


def until(run: pf.Trajectory, frame: int) -> pf.Trajectory:
    """The run up to a frame; at least two frames, for the curves."""
    import equinox as eqx
    import jax

    stop = max(frame + 1, 2)
    measures = jax.tree_util.tree_map(lambda a: a[:stop], run.measures)
    parts = (run.times[:stop], measures, run[min(frame, len(run) - 1)])
    observed = {name: a[:stop] for name, a in run.observed.items()}
    run = eqx.tree_at(lambda r: (r.times, r.measures, r.final), run, parts)
    return eqx.tree_at(lambda r: r.observed, run, observed)


def stored_run(
    folder: pathlib.Path, files: pathlib.Path
) -> tuple[State, pf.Trajectory]:
    """A finished run from the folder where the server keeps it."""
    from pushforward.web.computing._jobs import as_trajectory

    kept = read_run(folder)
    state, done = kept.state, kept.done or {}
    readings = [numbers_of(frame) for frame in kept.frames]
    times = np.array([r.t for r in readings])
    points = np.stack([kept.tokens(k) for k in range(len(readings))])
    masses: Any = [kept.masses(k, files) for k in range(len(readings))]
    weights = None if masses[0] is None else np.array(masses)
    given = state.experiment is not None or state.model == "recorded"
    field = None if given else experiment_of(state, files).drawn_field(state.d)
    run = as_trajectory(times, points, weights, done, field)
    observed: dict[str, Any] = run.observed
    for name in ("energy", "clusters", "largest", "cosine"):
        observed[name] = np.array([getattr(r, name) for r in readings])
    return state, run


def zipped(run: pf.Trajectory, store: pathlib.Path, target: pathlib.Path) -> None:
    """The Zarr store of a run in one file."""
    shutil.rmtree(store, ignore_errors=True)
    run.save(store)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(store.rglob("*")):
            if path.is_file():
                archive.write(path, pathlib.Path("run") / path.relative_to(store))
    shutil.rmtree(store)


MEDIA = {"png": "image/png", "mp4": "video/mp4", "zip": "application/zip"}


def table(run: Run) -> str:
    """t, energy, clusters, largest mass, mean cosine; how it ended comes first."""
    assert run.done is not None
    out = io.StringIO()
    ended = run.done["outcome"]
    out.write(f"# {ended['kind']}: {ended['sentence']}\n")
    write = csv.writer(out, lineterminator="\n")
    write.writerow(["t", "log10_t", "energy", "clusters", "largest", "cosine", "arc"])
    for frame in run.frames:
        r = numbers_of(frame)
        row = (r.t, r.log10_t, r.energy, int(r.clusters), r.largest, r.cosine, r.arc)
        write.writerow([repr(x) for x in row])
    return out.getvalue()


class Drawing:
    """Files that take a while are made in the background, once."""

    def __init__(self, worker: WorkerProcess):
        self.worker = worker
        self.waiting: dict[str, asyncio.Future] = {}

    async def make(self, run: Run, folder: pathlib.Path, what: str, frame: int):
        """The path of an export."""
        assert run.done is not None
        frame = min(max(frame, 0), run.done["frames"] - 1)
        target = folder / file_name(what, frame)
        if target.is_file():
            return target
        key = str(target)
        if key not in self.waiting:
            self.waiting[key] = self._order(folder, what, frame)
        try:
            await asyncio.shield(self.waiting[key])
        finally:
            self.waiting.pop(key, None)
        return target

    def _order(self, folder: pathlib.Path, what: str, frame: int) -> asyncio.Future:
        future: asyncio.Future = asyncio.get_running_loop().create_future()

        def listen(message: dict, payload: bytes) -> None:
            if future.done() or message["type"] not in ("done", "error", "stopped"):
                return
            if message["type"] == "done":
                future.set_result(message["file"])
            else:
                future.set_exception(InputError(message.get("message", "stopped")))

        if len(self.worker.waiting) > 16:
            raise InputError("too many exports wait. Ask again in a minute.")
        takes, place = _caps.PICTURE_SECONDS, str(folder)
        self.worker.order(
            "draw", listen, seconds=takes, folder=place, what=what, frame=frame
        )
        return future
