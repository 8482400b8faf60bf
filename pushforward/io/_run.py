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
import json
import os
import pathlib
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from pushforward._checks import as_path
from pushforward.errors import InputError, NumericalError, StoreError
from pushforward.flows import AbstractStore, Arrays, Outcome, Resumed
from pushforward.io._disk import (
    FolderLock,
    Manifest,
    manifest_file,
    read_manifest,
    sync_folder,
)
from pushforward.io._layout import (
    DIMENSIONS,
    FORMAT,
    TORN,
    allocate,
    consolidate,
    create_group,
    open_group,
    read_attributes,
    write_table,
)
from pushforward.io._reading import digest, frames_of, read_ended, seal, verified

UNKNOWN = 1024  # times in one chunk where their number is not known
FINITE = {"points", "weights", "coefficients"}  # what must be numbers; logs may not be
PATIENCE = 0.5  # seconds between commits: waiting for the disk must not slow a run
HELD = 2**25  # bytes of frames that may wait in memory for their commit


class RunStore(AbstractStore):
    """One run being written; `flow(..., store=path)` makes and drives it."""

    def __init__(self, path: pathlib.Path, lock: FolderLock):
        self.path, self._lock = path, lock
        self.attributes = read_attributes(path)
        self.manifest = read_manifest(path)
        try:
            self.group: Any = open_group(path, "r+")
        except TORN as error:
            raise StoreError(f"{path} is damaged: {error}.") from error
        m = self.manifest
        self.times: list[float] = [] if m is None else m.times.tolist()
        self.hashes: list[str] = [] if m is None else m.hashes.tolist()
        self._pending: Arrays | None = None
        self._held: list[Arrays] = []  # frames since the last commit
        self._committed, self._cost = -np.inf, 0.0
        self._arrays: dict[str, Any] = {}  # to look one up reads the disk
        self._room = self._least_room()

    @classmethod
    def create(
        cls,
        path: str | pathlib.PurePath,
        spec: dict,
        times: Float[np.ndarray, "k"] | None,
    ) -> RunStore:
        """An empty run for frames at these times, None where they are not known yet;
        an equal run is taken up again."""
        path = as_path("store", path)
        if not path.name:
            raise InputError(f"`store` must name a new folder, got {str(path)!r}.")
        text = json.dumps(spec, sort_keys=True)
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = FolderLock(path)
            try:
                if not path.exists() or (path.is_dir() and not any(path.iterdir())):
                    _lay_out(path, text, times)
                elif read_attributes(path)["spec"] != text:
                    raise StoreError(
                        f"{path} already holds another run. Choose another name, or "
                        "remove it first."
                    )
                store = cls(path, lock)
                if store.ended and store.manifest is not None:
                    store._complete()
                return store
            except BaseException:
                lock.close()
                raise

    def _least_room(self) -> int:
        """The frames for which every array has room; a kill may fall in between."""
        try:
            return min(array.shape[0] for _, array in self.group.arrays())
        except TORN as error:
            raise StoreError(f"{self.path} is damaged: {error}.") from error

    @property
    def ended(self) -> bool:
        """Whether the run on disk is finished."""
        return "outcome" in self.attributes

    def describe(self, about: Mapping[str, str]) -> None:
        """Words about the run beside its specification; a finished run keeps its."""
        new = {k: v for k, v in about.items() if self.attributes.get(k) != v}
        if new and not self.ended:
            with _writing(self.path):
                self.group.update_attributes(new)

    def append(self, t: float, frame: Arrays, state: Arrays) -> None:
        """Take one frame; it is written, and counts, from the next commit on."""
        k = len(self.hashes)
        if not all(np.isfinite(frame[name]).all() for name in FINITE & set(frame)):
            raise NumericalError(
                f"the state at t = {t:g} is not finite; {self.path} keeps the {k} "
                "frames before it. Lower the step or the tolerances.",
                frame,
            )
        self._held.append(frame)
        self.hashes.append(digest(frame))
        self.times.append(t)
        self._pending = state
        held = len(self._held) * sum(value.nbytes for value in frame.values())
        # The disk may take a tenth of the time, and the first frame counts at once.
        waited = time.monotonic() - self._committed
        if held > HELD or waited > max(PATIENCE, 10 * self._cost):
            self.commit()

    def _write_held(self) -> None:
        """The frames since the last commit, array by array: a call costs more than
        the bytes of a small frame."""
        k, first = len(self.hashes), len(self.hashes) - len(self._held)
        if k > self._room:
            self._make_room(2 * k + 4)
        for name in self._held[0]:
            rows = np.stack([frame[name] for frame in self._held])
            self._array(name, rows[0])[first:k] = rows
        self._held = []

    def _forget_held(self) -> None:
        """What could not be written does not count."""
        first = len(self.hashes) - len(self._held)
        del self.hashes[first:], self.times[first:]
        self._held, self._pending = [], None

    def _make_room(self, frames: int) -> None:
        """More frames than were foreseen, or none was: then room doubles."""
        for _, array in self.group.arrays():
            array.resize((frames, *array.shape[1:]))
        self._arrays.clear()
        self._room = frames

    def _array(self, name: str, value: np.ndarray) -> Any:
        """The array of this name, laid out when it is new."""
        if name not in self._arrays:
            if name not in self.group:
                other = ("time", *(f"{name}_{i}" for i in range(value.ndim)))
                dims = DIMENSIONS.get(name, other)
                shape, chunks = (self._room, *value.shape), (1, *value.shape)
                allocate(self.group, name, shape, chunks, value.dtype, dims)
            self._arrays[name] = self.group[name]
        return self._arrays[name]

    def commit(self) -> None:
        """Put every frame so far on the disk, then let it count."""
        if self._pending is None:
            return
        started = time.monotonic()
        with _writing(self.path, self._forget_held):
            self._write_held()
            sync_folder(self.path)
            Manifest.of(self._pending, self.times, self.hashes).write(self.path)
        self._pending = None
        self._committed = time.monotonic()
        self._cost = self._committed - started

    def finish(self, outcome: Outcome, summary: Mapping[str, Any]) -> None:
        """Record how it ended; a run that stopped early is cut to its frames."""
        self.commit()
        k = len(self.hashes)
        tables = {n: v for n, v in summary.items() if isinstance(v, np.ndarray)}
        about: dict[str, Any] = {
            n: int(v) for n, v in summary.items() if n not in tables
        }
        about["outcome"] = {"kind": str(outcome.kind), "message": outcome.message}
        about["hashes"] = self.hashes
        if tables:
            about["tables"] = {name: digest({name: v}) for name, v in tables.items()}
        with _writing(self.path):
            for name, array in self.group.arrays():
                if name not in tables and array.shape[0] != k:
                    array.resize((k, *array.shape[1:]))
            for name, value in tables.items():
                write_table(self.group, name, value)
            self.group["time"][:] = self.times
            about["seal"] = seal({**self.group.attrs, **about}, np.array(self.times))
            # Once: `attrs.update` writes key by key, and a kill may fall in between.
            self.group.update_attributes(about)
            self._complete()

    def _complete(self) -> None:
        """The last touches to a run that has ended; a kill may repeat them."""
        for left_over in self.path.rglob("*.partial"):  # by a kill, of our own
            left_over.unlink()
        consolidate(self.path)
        sync_folder(self.path)
        manifest_file(self.path).unlink(missing_ok=True)

    def resume(self) -> Resumed | None:
        """The frames so far and how to go on, if there is something to resume."""
        if self.ended:
            return self._finished()
        if (m := self.manifest) is None:
            return None
        arrays = verified(self.path, self.hashes, ended=False)
        return Resumed(m.times, frames_of(arrays), m.state, None)

    def _finished(self) -> Resumed:
        """An equal run that has ended: nothing is computed again."""
        if json.loads(self.attributes["spec"]).get("until") is True:
            raise StoreError(
                f"{self.path} holds a finished run that a rule `until` without a name "
                "may have stopped. Choose another name, or remove it."
            )
        arrays, summary, outcome = read_ended(self.path, self.attributes)
        return Resumed(arrays["time"], frames_of(arrays), None, outcome, summary)

    def close(self) -> None:
        """Commit what is written and let others write."""
        try:
            self.commit()
        finally:
            self._lock.close()


def _lay_out(
    path: pathlib.Path, text: str, times: Float[np.ndarray, "k"] | None
) -> None:
    """An empty run under a temporary name, then under its own."""
    # What a writer killed during its first instants left: we hold the lock.
    for left_over in path.parent.glob(f".{path.name}.*.new"):
        shutil.rmtree(left_over, ignore_errors=True)
    # a name used once: a write that was under way on a full disk may come late
    new = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.new")
    new.mkdir()
    try:
        about: dict[str, Any] = {"pushforward": FORMAT, "spec": text}
        group = create_group(new, about)
        T = 0 if times is None else len(times)
        array = allocate(group, "time", (T,), (T or UNKNOWN,), float, ("time",))
        if times is not None:
            array[:] = times
        if path.exists():
            path.rmdir()  # empty; on Windows a folder is not renamed onto another
        os.rename(new, path)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise


@contextlib.contextmanager
def _writing(path: pathlib.Path, failed=lambda: None) -> Iterator[None]:
    """Full disks, read-only folders: a `StoreError`, after `failed()`."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        failed()
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        fix = "Free some space" if full else "Check that you may write there"
        raise StoreError(
            f"cannot write to {path}: {error}. The frames that were committed are "
            f"kept. {fix} and run again: it resumes."
        ) from error
