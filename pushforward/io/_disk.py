"""What a run asks of the disk: all or nothing, in order, and one writer at a time."""

import ctypes
import fcntl
import os
import pathlib

from pushforward.errors import StoreError


def write_atomically(path: pathlib.Path, data: bytes) -> None:
    """Write to a temporary name, fsync, rename: the file is old or new, never torn."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    _sync(path.parent)  # the new name itself


class FolderLock:
    """The kernel's lock on a folder: one writer, and a killed one leaves no lock.

    It needs no file of its own and follows the folder when that is renamed.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self._descriptor: int | None = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.close()
            raise StoreError(
                f"another process is writing to {folder}. Wait for it, or choose "
                "another name."
            ) from error
        except OSError:
            pass  # a filesystem without locks: hashes still tell a mixed-up run

    def close(self) -> None:
        """Let others write."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def sync_folder(folder: pathlib.Path) -> None:
    """Return when everything written under a folder is on the disk.

    One call for the whole filesystem where the system has it: a run writes several
    small files per frame, and waiting for each of them costs more than the physics.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if _syncfs(descriptor):
            return
    finally:
        os.close(descriptor)
    for path in (*folder.rglob("*"), folder):
        _sync(path)


def _syncfs(descriptor: int) -> bool:
    try:
        return ctypes.CDLL(None).syncfs(descriptor) == 0
    except (AttributeError, OSError):
        return False  # not Linux


def _sync(path: pathlib.Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return  # a temporary name that has become a final one
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
