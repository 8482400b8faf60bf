"""Pictures, films and stores of a finished run, made in the background."""

import json
import pathlib
import shutil
import zipfile
from typing import Any

import numpy as np

import pushforward as pf
from pushforward import plot
from pushforward.web import _frames
from pushforward.web._experiment import experiment_of, radius_of
from pushforward.web._given import given_experiment, is_density
from pushforward.web._state import State, from_json
from pushforward.web._worker import Job

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
    from pushforward.web._jobs import as_trajectory

    manifest = json.loads((folder / "manifest.json").read_bytes())
    state, done = from_json(manifest["state"]), manifest["done"]
    count = done["frames"]
    flat = np.fromfile(folder / "points.bin", done["dtype"])
    points = flat.reshape(count, done["n"], done["d"])
    raw = (folder / "frames.bin").read_bytes()
    size = len(raw) // count
    readings = [
        _frames.numbers_of(raw[k * size : (k + 1) * size]) for k in range(count)
    ]
    times = np.array([r.t for r in readings])
    weights = field = None
    if state.experiment is not None:
        masses = [
            _frames.masses_of(raw[k * size : (k + 1) * size]) for k in range(count)
        ]
        weights = None if masses[0] is None else np.array(masses, float)
        experiment = given_experiment(state.experiment)
        if weights is not None and is_density(experiment):  # masses are its values
            weights = weights * experiment.start(0).basis.weights
            weights /= weights.sum(axis=1, keepdims=True)
    elif state.model != "recorded":
        experiment = experiment_of(state, files)
        field = experiment.drawn_field(state.d)
        if state.weights != "equal":
            weights = np.asarray(experiment.measure.weights)
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
