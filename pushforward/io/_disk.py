"""What a run asks of the disk: all or nothing, in order, and one writer at a time.

The file that says which frames of an unfinished run count, and how to go on.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import pathlib
from typing import NamedTuple

import filelock
import numpy as np

from pushforward._files import read_npz, sync, write_atomically
from pushforward.errors import InputError, StoreError

ATTEMPTS = 5  # to lock a file that its last owner removes meanwhile


class FolderLock:
    """One writer of a folder at a time; a killed one leaves no lock that blocks.

    The lock is the system's, on a hidden file beside the folder, which need not be
    there yet: xarray sees a plain store, and a folder can be renamed into place.
    """

    def __init__(self, folder: pathlib.Path, who: str = "process") -> None:
        self._file = lock_file(folder)
        # Not tied to a thread; and no lock that a killed process would leave behind.
        self._lock = filelock.FileLock(
            self._file, timeout=0, thread_local=False, fallback_to_soft=False
        )
        for _ in range(ATTEMPTS):
            try:
                self._lock.acquire()
                return
            except filelock.Timeout as error:
                if self._file.exists():
                    raise StoreError(
                        f"another {who} is writing to {folder}. Wait for it, or choose "
                        "another name."
                    ) from error
            except (OSError, NotImplementedError):
                return  # no locks here, or no writing: hashes tell a mixed-up run

    def close(self) -> None:
        """Let others write."""
        if self._lock.is_locked:
            # Before it is released: whoever waits for this file sees that it is gone.
            # Windows removes no open file, and there releasing removes it.
            with contextlib.suppress(OSError):
                self._file.unlink()
            self._lock.release()


def lock_file(folder: pathlib.Path) -> pathlib.Path:
    """Hidden, and beside the folder."""
    whole = folder.absolute()
    return whole.with_name(f".{whole.name}.lock")


def sync_folder(folder: pathlib.Path) -> None:
    """Return when everything written under a folder is on the disk.

    One call for the whole filesystem where the system has it: a run writes several
    small files per frame, and waiting for each of them costs more than the physics.
    """
    if not _syncfs(folder):
        for path in (*folder.rglob("*"), folder):
            sync(path)


def _syncfs(folder: pathlib.Path) -> bool:
    try:
        syncfs = ctypes.CDLL(None).syncfs
    except (AttributeError, OSError, TypeError):
        return False  # not Linux
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return syncfs(descriptor) == 0
    finally:
        os.close(descriptor)


class Manifest(NamedTuple):
    """The times and hashes of the frames that count, and the integrator's state."""

    times: np.ndarray
    hashes: np.ndarray
    state: dict[str, np.ndarray]

    @classmethod
    def of(cls, state: dict, times: list[float], hashes: list[str]) -> Manifest:
        """What to write once these frames are on the disk."""
        return cls(np.array(times, float), np.array(hashes), state)

    def write(self, run: pathlib.Path) -> None:
        """Replace the file beside the run."""
        buffer = io.BytesIO()
        frames = {"times": self.times, "hashes": self.hashes}
        np.savez(buffer, **(self.state | frames))  # type: ignore[arg-type]
        write_atomically(manifest_file(run), buffer.getvalue())


def manifest_file(run: pathlib.Path) -> pathlib.Path:
    """Beside the run, not in it: xarray should see a plain store."""
    return run.with_name(run.name + ".resume.npz")


def read_manifest(run: pathlib.Path) -> Manifest | None:
    """The manifest of an unfinished run, whole; None if there is no such file."""
    path = manifest_file(run)
    try:
        state = read_npz(path)
        manifest = Manifest(state.pop("times"), state.pop("hashes"), state)
    except FileNotFoundError:
        return None
    except (InputError, KeyError) as error:
        raise _damaged(path, error) from error
    if not _plausible(manifest):
        raise _damaged(path, "its entries do not fit together")
    return manifest


def _plausible(m: Manifest) -> bool:
    count = len(m.hashes) if m.hashes.ndim == 1 else 0
    return (
        count > 0
        and m.hashes.dtype.kind == "U"
        and m.times.shape == (count,)
        and m.times.dtype.kind == "f"
        and all(value.dtype.kind in "fiub" for value in m.state.values())
    )


def _damaged(path: pathlib.Path, why: object) -> StoreError:
    return StoreError(
        f"{path} is damaged: {why}. Restore it from a copy, or remove it and the run, "
        "and run again."
    )
