"""A run on disk: a Zarr v3 store that xarray opens, written frame by frame.

The store appears complete with empty arrays for all frames. Frames are written, then
synced to the disk, then counted: one small file beside the store (`<run>.resume.npz`)
is replaced atomically. It holds the hashes of the frames that count and the state of
the integrator, so that a killed run resumes bitwise, and is removed when the run is
finished. One process writes at a time; nothing is ever pickled or removed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import pathlib
import secrets
import shutil
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import zarr

from pushforward._checks import as_path
from pushforward.errors import InputError, NumericalError, StoreError
from pushforward.flows import Carry, Outcome, Trajectory
from pushforward.io._disk import FolderLock, sync_folder
from pushforward.io._layout import FORMAT, TORN, allocate, read_attributes
from pushforward.io._manifest import Manifest, manifest_file, read_manifest
from pushforward.io._reading import digest, frames_of, load, seal, verified
from pushforward.io._spec import to_json
from pushforward.measures import Particles

PATIENCE = 0.25  # seconds between commits: waiting for the disk must not slow a run


class Resumed(NamedTuple):
    """What a run on disk holds: frames, the state to go on from, or how it ended."""

    carry: Carry
    times: np.ndarray
    frames: list[dict[str, np.ndarray]]
    outcome: Outcome | None


class RunStore:
    """One run being written; `flow(..., store=path)` makes and drives it."""

    def __init__(self, path: pathlib.Path, lock: FolderLock):
        self.path, self._lock = path, lock
        self.attributes = read_attributes(path)
        self.manifest = read_manifest(path)
        try:
            self.group: Any = zarr.open_group(
                path, mode="r+", zarr_format=3, use_consolidated=False
            )
        except TORN as error:
            raise StoreError(f"{path} is damaged: {error}.") from error
        m = self.manifest
        self.times: list[float] = [] if m is None else m.times.tolist()
        self.hashes: list[str] = [] if m is None else m.hashes.tolist()
        self._pending: Carry | None = None
        self._committed, self._cost = -np.inf, 0.0
        self._arrays: dict[str, zarr.Array] = {}  # to look one up reads the disk

    @classmethod
    def create(cls, path, spec: dict, times: np.ndarray, mu: Particles) -> RunStore:
        """Lay out an empty run for these frames; an equal run is taken up again."""
        path = as_path("store", path)
        if not path.name:
            raise InputError(f"`store` must name a new folder, got {str(path)!r}.")
        text = json.dumps(spec, sort_keys=True)
        with _writing(path):
            if not path.exists() or _is_empty(path):
                return cls(path, _lay_out(path, text, times, mu))
            if read_attributes(path)["spec"] != text:
                raise StoreError(
                    f"{path} already holds another run. Choose another name, or remove "
                    "it first."
                )
            lock = FolderLock(path)
            try:
                store = cls(path, lock)
                if store.ended and store.manifest is not None:
                    store._complete()
                return store
            except BaseException:
                lock.close()
                raise

    @property
    def ended(self) -> bool:
        """Whether the run on disk is finished."""
        return "outcome" in self.attributes

    def append(self, carry: Carry, mu: Particles, seen: dict[str, np.ndarray]) -> None:
        """Write one frame; it counts from the next commit on."""
        k = len(self.hashes)
        own = {name: getattr(mu, name) for name in ("points", "weights", "log_weights")}
        frame = {name: np.asarray(value) for name, value in (own | seen).items()}
        if not (
            np.isfinite(frame["points"]).all() and np.isfinite(frame["weights"]).all()
        ):
            raise NumericalError(
                f"the state at t = {float(carry.t):g} is not finite; {self.path} keeps "
                f"the {k} frames before it. Lower the step or the tolerances.",
                carry.mu,
            )
        with _writing(self.path, self.commit):
            for name, value in frame.items():
                self._array(name, value)[k] = value
        self.hashes.append(digest(frame))
        self.times.append(float(carry.t))
        self._pending = carry
        # The disk may take a tenth of the time, and the first frame counts at once.
        if time.monotonic() - self._committed > max(PATIENCE, 10 * self._cost):
            self.commit()

    def _array(self, name: str, value: np.ndarray) -> zarr.Array:
        """The array of this name, laid out when it is new."""
        if name not in self._arrays:
            if name not in self.group:
                dims = ("time", *(f"{name}_{i}" for i in range(value.ndim)))
                frames = self.group["points"].shape[0]
                shape, chunks = (frames, *value.shape), (1, *value.shape)
                allocate(self.group, name, shape, chunks, value.dtype, dims)
            self._arrays[name] = self.group[name]
        return self._arrays[name]

    def commit(self) -> None:
        """Put every frame so far on the disk, then let it count."""
        if self._pending is None:
            return
        started = time.monotonic()
        with _writing(self.path):
            sync_folder(self.path)
            Manifest.of(self._pending, self.times, self.hashes).write(self.path)
        self._pending = None
        self._committed = time.monotonic()
        self._cost = self._committed - started

    def finish(self, outcome: Outcome, times: np.ndarray, carry: Carry) -> None:
        """Record how it ended; a run that stopped early is cut to its frames."""
        self.commit()
        k = len(self.hashes)
        ended = {"kind": outcome.kind, "message": outcome.message}
        counts = {"steps": int(carry.accepted), "rejected": int(carry.rejected)}
        with _writing(self.path):
            for _, array in self.group.arrays():
                if array.shape[0] != k:
                    array.resize((k, *array.shape[1:]))
            self.group["time"][:] = times
            about = {**counts, "hashes": self.hashes, "outcome": ended}
            about["seal"] = seal({**self.group.attrs, **about}, times)
            # Once: `attrs.update` writes key by key, and a kill may fall in between.
            self.group.update_attributes(about)
            self._complete()

    def _complete(self) -> None:
        """The last touches to a run that has ended; a kill may repeat them."""
        for left_over in self.path.rglob("*.partial"):  # by a kill, of our own
            left_over.unlink()
        with warnings.catch_warnings():  # consolidation is young in Zarr v3
            warnings.simplefilter("ignore")
            zarr.consolidate_metadata(self.path)
        sync_folder(self.path)
        manifest_file(self.path).unlink(missing_ok=True)

    def resume(self, mu: Particles) -> Resumed | None:
        """The frames so far and how to go on, if there is something to resume."""
        if self.ended:
            return self._finished(mu)
        if self.manifest is None:
            return None
        arrays = verified(self.path, self.hashes)
        return Resumed(
            self.manifest.carry(mu), self.manifest.times, frames_of(arrays), None
        )

    def _finished(self, mu: Particles) -> Resumed:
        """An equal run that has ended: nothing is computed again."""
        if json.loads(self.attributes["spec"]).get("until"):
            raise StoreError(
                f"{self.path} holds a finished run that a rule `until` may have "
                "stopped, and rules are not stored. Choose another name, or remove it."
            )
        done = load(self.path)
        arrays = verified(self.path, self.attributes["hashes"])
        last = mu.moved(done.final.points, done.final.log_weights)
        carry = Carry.start(done.times[-1], last)
        counted = Carry(carry.t, last, carry.h, done.steps, done.rejected, carry.status)
        return Resumed(counted, arrays["time"], frames_of(arrays), done.outcome)

    def close(self) -> None:
        """Commit what is written and let others write."""
        try:
            self.commit()
        finally:
            self._lock.close()


def save_trajectory(trajectory: Trajectory, path) -> None:
    """Write a finished trajectory as a run."""
    first = trajectory[0]
    content = hashlib.sha256()
    for part in (trajectory.times, trajectory.points, trajectory.weights):
        content.update(np.ascontiguousarray(part).tobytes())
    spec = {
        "field": to_json(trajectory.field),
        "space": to_json(first.space),
        "content": content.hexdigest(),
    }
    store = RunStore.create(path, spec, np.asarray(trajectory.times), first)
    with contextlib.closing(store):
        if store.ended:
            load(path)  # verified; the same content is there already
            return
        for k in range(len(store.hashes), len(trajectory)):
            seen = {name: np.asarray(v[k]) for name, v in trajectory.observed.items()}
            store.append(
                Carry.start(trajectory.times[k], trajectory[k]), trajectory[k], seen
            )
        outcome = trajectory.outcome or Outcome("recorded", "not the result of a flow.")
        counts = (trajectory.steps, trajectory.rejected, trajectory.status)
        end = jnp.asarray(float(trajectory.times[-1]))
        carry = Carry(end, trajectory.final, jnp.zeros(()), *counts)
        store.finish(outcome, np.asarray(trajectory.times), carry)


def _lay_out(path, text: str, times: np.ndarray, mu: Particles) -> FolderLock:
    """An empty run under a temporary name, locked, then under its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep_up(path)
    # a name used once: a write that was under way on a full disk may come late
    new = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.new")
    new.mkdir()
    lock = FolderLock(new)
    try:
        about: dict[str, Any] = {"pushforward": FORMAT, "spec": text}
        group = zarr.create_group(new, zarr_format=3, attributes=about)
        T, (n, d) = len(times), mu.points.shape
        kind = np.asarray(mu.points).dtype
        allocate(group, "time", (T,), (T,), float, ("time",))[:] = times
        allocate(group, "points", (T, n, d), (1, n, d), kind, ("time", "token", "x"))
        for name in ("weights", "log_weights"):  # the logarithms: exp loses a bit
            allocate(group, name, (T, n), (1, n), kind, ("time", "token"))
        os.rename(new, path)
    except BaseException:
        lock.close()
        shutil.rmtree(new, ignore_errors=True)
        raise
    return lock


def _sweep_up(path: pathlib.Path) -> None:
    """Remove what a writer killed during its first instants left behind."""
    for left_over in path.parent.glob(f".{path.name}.*.new"):
        with contextlib.suppress(OSError):  # locked: its writer is alive
            FolderLock(left_over).close()
            shutil.rmtree(left_over)


@contextlib.contextmanager
def _writing(path: pathlib.Path, save=None) -> Iterator[None]:
    """Full disks, read-only folders: a `StoreError`, after saving what still goes."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        if save is not None:
            with contextlib.suppress(StoreError):
                save()
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        fix = "Free some space" if full else "Check that you may write there"
        raise StoreError(
            f"cannot write to {path}: {error}. The frames that were committed are "
            f"kept. {fix} and run again: it resumes."
        ) from error


def _is_empty(path: pathlib.Path) -> bool:
    return path.is_dir() and not any(path.iterdir())
