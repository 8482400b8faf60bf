"""A run on disk: a Zarr v3 store that xarray opens, written frame by frame.

The arrays are allocated for all frames at the start. After each frame is on disk, one
small file beside the store (`<run>.resume.npz`) is replaced atomically: it says how
many frames count and holds the state of the integrator, so that a killed run resumes
bitwise. It is removed when the run is finished. Nothing is ever pickled.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pathlib
import shutil
import warnings
from typing import Any

import jax.numpy as jnp
import numpy as np
import zarr

from pushforward.errors import StoreError
from pushforward.flows import Carry, Outcome, Trajectory
from pushforward.io._spec import from_json, to_json
from pushforward.measures import Particles

FORMAT = 1


class RunStore:
    """One run being written; `flow(..., store=path)` makes and drives it."""

    def __init__(self, path: pathlib.Path, group: zarr.Group, resumed: Any = None):
        self.path = path
        self.group: Any = group
        self.hashes: list[str] = [] if resumed is None else list(resumed["hashes"])
        self.resumed = resumed

    @classmethod
    def create(cls, path, spec: dict, times: np.ndarray, mu: Particles) -> RunStore:
        """Lay out an empty run for these frames; an unfinished equal run is resumed."""
        path = pathlib.Path(path)
        text = json.dumps(spec, sort_keys=True)
        if path.exists():
            existing = _attributes(path)
            if existing.get("spec") != text:
                raise StoreError(
                    f"{path} already holds another run. Choose another name, or remove "
                    "it first."
                )
            resumed = _read_resume(path)
            if resumed is not None:
                return cls(path, zarr.open_group(path, mode="r+"), resumed)
            shutil.rmtree(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            group = zarr.open_group(path, mode="w-", zarr_format=3)
        except OSError as error:
            raise StoreError(f"cannot write to {path}: {error}.") from error
        group.attrs.update({"pushforward": FORMAT, "spec": text})
        T, (n, d) = len(times), mu.points.shape
        dtype = np.asarray(mu.points).dtype
        _allocate(group, "time", (T,), (T,), float, ("time",))[:] = times
        _allocate(group, "points", (T, n, d), (1, n, d), dtype, ("time", "token", "x"))
        _allocate(group, "weights", (T, n), (1, n), dtype, ("time", "token"))
        return cls(path, group)

    def append(self, carry: Carry, mu: Particles, seen: dict[str, np.ndarray]) -> None:
        """Put one frame on disk, then let it count."""
        k, T = len(self.hashes), self.group["points"].shape[0]
        frame = {"points": np.asarray(mu.points), "weights": np.asarray(mu.weights)}
        frame |= {name: np.asarray(value) for name, value in seen.items()}
        digest = hashlib.sha256()
        for name, value in frame.items():
            if name not in self.group:
                dims = ("time", *(f"{name}_{i}" for i in range(value.ndim)))
                shape = (T, *value.shape)
                _allocate(self.group, name, shape, (1, *value.shape), value.dtype, dims)
            self.group[name][k] = value
            digest.update(np.ascontiguousarray(value).tobytes())
        _sync_folder(self.path)
        self.hashes.append(digest.hexdigest())
        _write_resume(self.path, carry, self.hashes)

    def finish(self, outcome: Outcome, times: np.ndarray, carry: Carry) -> None:
        """Record how it ended; a run that stopped early is cut to its frames."""
        k = len(self.hashes)
        for _, array in self.group.arrays():
            if array.shape[0] != k:
                array.resize((k, *array.shape[1:]))
        self.group["time"][:] = times
        ended = {"kind": outcome.kind, "message": outcome.message}
        counts = {"steps": int(carry.accepted), "rejected": int(carry.rejected)}
        self.group.attrs.update({"outcome": ended, **counts, "hashes": self.hashes})
        with warnings.catch_warnings():  # consolidation is young in Zarr v3
            warnings.simplefilter("ignore")
            zarr.consolidate_metadata(self.path)
        _sync_folder(self.path)
        _resume_file(self.path).unlink(missing_ok=True)

    def resume(self, mu: Particles) -> tuple[Carry, list] | None:
        """The integrator's state and the frames so far, if there is a run to resume."""
        if self.resumed is None:
            return None
        r = self.resumed
        state = mu.moved(jnp.asarray(r["points"]), jnp.asarray(r["log_weights"]))
        if state.points.shape[1] != mu.d:
            raise StoreError(f"{self.path} does not fit this run. Remove it.")
        h, accepted, rejected = (
            jnp.asarray(r[k]) for k in ("h", "accepted", "rejected")
        )
        status = jnp.zeros((), int)
        carry = Carry(jnp.asarray(r["t"]), state, h, accepted, rejected, status)
        return carry, [self.frame(k) for k in range(len(self.hashes))]

    def frame(self, k: int) -> dict[str, np.ndarray]:
        """All arrays of frame k, verified against its hash."""
        names = [n for n, _ in self.group.arrays() if n not in ("time",)]
        names = ["points", "weights", *sorted(set(names) - {"points", "weights"})]
        return {name: np.asarray(self.group[name][k]) for name in names}


def save_trajectory(trajectory: Trajectory, path) -> None:
    """Write a finished trajectory as a run."""
    first = trajectory[0]
    spec = {"field": to_json(trajectory.field), "space": to_json(first.space)}
    store = RunStore.create(path, spec, np.asarray(trajectory.times), first)
    for k, t in enumerate(np.asarray(trajectory.times)):
        seen = {name: np.asarray(v[k]) for name, v in trajectory.observed.items()}
        carry = Carry.start(t, trajectory[k])
        store.append(carry, trajectory[k], seen)
    outcome = trajectory.outcome or Outcome("recorded", "not the result of a flow.")
    end = Carry(
        jnp.asarray(float(trajectory.times[-1])),
        trajectory.final,
        jnp.zeros(()),
        trajectory.steps,
        trajectory.rejected,
        trajectory.status,
    )
    store.finish(outcome, np.asarray(trajectory.times), end)


def load(path) -> Trajectory:
    """A run from disk, as the trajectory it was."""
    path = pathlib.Path(path)
    attributes = _attributes(path)
    spec = json.loads(attributes["spec"])
    group = zarr.open_group(path, mode="r")
    count = len(attributes.get("hashes", ())) or _committed(path)
    arrays = {name: np.asarray(array[:count]) for name, array in group.arrays()}
    space = from_json(spec["space"])
    weights = jnp.asarray(arrays.pop("weights"))
    frames = Particles(space, arrays["points"][0], None)
    frames = frames.moved(jnp.asarray(arrays.pop("points")), jnp.log(weights))
    times = arrays.pop("time")
    ended = attributes.get("outcome")
    field = from_json(spec["field"]) if spec.get("field") else None
    return Trajectory(
        times=times,
        measures=frames,
        final=frames.moved(frames.points[-1], frames.log_weights[-1]),
        observed=arrays,
        steps=jnp.asarray(attributes.get("steps", 0)),
        rejected=jnp.asarray(attributes.get("rejected", 0)),
        status=jnp.zeros((), int),
        field=field,
        outcome=Outcome(**ended)
        if ended
        else Outcome("interrupted", "unfinished run."),
    )


def _attributes(path: pathlib.Path) -> dict:
    try:
        attributes = dict(zarr.open_group(path, mode="r").attrs)
    except (FileNotFoundError, ValueError, KeyError, OSError, TypeError) as error:
        raise StoreError(f"{path} is not a run: {error}.") from error
    if "spec" not in attributes:
        raise StoreError(f"{path} is a Zarr store but not a run of this program.")
    if attributes.get("pushforward") != FORMAT:
        raise StoreError(
            f"{path} was written in format {attributes.get('pushforward')}, this "
            f"version reads format {FORMAT}. Read it with the version that wrote it."
        )
    return attributes


def _allocate(group, name, shape, chunks, dtype, dims):
    return group.create_array(
        name,
        shape=shape,
        chunks=chunks,
        dtype=dtype,
        dimension_names=dims,
        fill_value=np.nan if np.issubdtype(dtype, np.floating) else 0,
    )


def _resume_file(path: pathlib.Path) -> pathlib.Path:
    return path.with_name(path.name + ".resume.npz")


def _write_resume(path: pathlib.Path, carry: Carry, hashes: list[str]) -> None:
    buffer = io.BytesIO()
    np.savez(
        buffer,
        t=np.asarray(carry.t),
        h=np.asarray(carry.h),
        accepted=np.asarray(carry.accepted),
        rejected=np.asarray(carry.rejected),
        points=np.asarray(carry.mu.points),
        log_weights=np.asarray(carry.mu.log_weights),
        hashes=np.array(hashes),
    )
    write_atomically(_resume_file(path), buffer.getvalue())


def _read_resume(path: pathlib.Path) -> dict | None:
    try:
        with np.load(_resume_file(path), allow_pickle=False) as data:
            return {name: data[name] for name in data.files}
    except FileNotFoundError:
        return None
    except (ValueError, OSError, KeyError, EOFError) as error:
        raise StoreError(f"{_resume_file(path)} is damaged: {error}.") from error


def _committed(path: pathlib.Path) -> int:
    resumed = _read_resume(path)
    if resumed is None:
        raise StoreError(f"{path} holds no finished frame.")
    return len(resumed["hashes"])


def write_atomically(path: pathlib.Path, data: bytes) -> None:
    """Write to a temporary name, fsync, rename: the file is old or new, never torn."""
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def _sync_folder(path: pathlib.Path) -> None:
    """Ask the system to put what was written under `path` on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
