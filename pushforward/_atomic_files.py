"""Files that are old or new, never torn."""

import contextlib
import os
import pathlib
from collections.abc import Iterator

from pushforward.errors import StoreError


@contextlib.contextmanager
def replacing(target: pathlib.Path) -> Iterator[pathlib.Path]:
    """A temporary name beside `target` that takes its place when the block succeeds."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        sync(temporary)
        os.replace(temporary, target)
        sync(target.parent)  # the new name itself
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def told(target: pathlib.Path) -> Iterator[None]:
    """What the system says against writing `target`, as a `StoreError` with a fix."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(
            f"could not write {target}: {error.strerror or error}. Check that the "
            "folder exists, that you may write there, and that the disk has room."
        ) from error


def write_atomically(path: pathlib.Path, data: bytes) -> None:
    """Write to a temporary name, sync, rename."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def sync(path: pathlib.Path) -> None:
    """Return when a file or the names in a folder are on the disk."""
    posix = os.name == "posix"  # elsewhere only files that may be written are synced
    if not posix and path.is_dir():
        return
    try:
        descriptor = os.open(path, os.O_RDONLY if posix else os.O_RDWR)
    except FileNotFoundError:
        return  # a temporary name that has become a final one
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
