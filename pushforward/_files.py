"""Files: arrays of strangers, checked before they are read; writing that is whole or
nothing; and the folder of what can be made again."""

import contextlib
import io
import math
import os
import pathlib
import secrets
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator

import numpy as np

from pushforward._checks import as_path
from pushforward.errors import InputError, StoreError

DEFLATE = 1032  # no stream that zlib can read grows by more than this
# What numpy and zipfile raise when bytes are not what they should be.
_TORN = (
    *(ValueError, TypeError, KeyError, IndexError, EOFError, OSError, OverflowError),
    *(RuntimeError, NotImplementedError, MemoryError, SyntaxError, AttributeError),
    *(struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)


def physical_memory() -> int:
    """Bytes of memory this machine has; what a small one has, if it does not say."""
    if not hasattr(os, "sysconf"):  # Windows
        return 8 * 2**30
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def read_npy(path) -> np.ndarray:
    """The array of a .npy file."""
    path = pathlib.Path(path)
    with _named(path), open(path, "rb") as file:
        return _array(file, path.stat().st_size)


def read_npz(path) -> dict[str, np.ndarray]:
    """The arrays of a .npz file by name."""
    path = pathlib.Path(path)
    with _named(path), zipfile.ZipFile(path) as archive:
        whole = path.stat().st_size
        return {
            member.filename.removesuffix(".npy"): _member(archive, member, whole)
            for member in archive.infolist()
        }


def _member(archive, member: zipfile.ZipInfo, whole: int) -> np.ndarray:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{member.filename} is packed in a way numpy never uses")
    most = DEFLATE * min(member.compress_size, whole) + 1024
    if member.file_size > min(most, physical_memory()):
        raise ValueError(f"{member.filename} claims {member.file_size:,} bytes")
    with archive.open(member) as file:
        return _array(io.BytesIO(file.read()), member.file_size)


def _array(file: io.BufferedIOBase, size: int) -> np.ndarray:
    """One array, if what its header claims is there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old headers are legal, and said at length
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_2_0
        if version == (1, 0):
            read = np.lib.format.read_array_header_1_0
        shape, _, dtype = read(file)
        if dtype.hasobject:
            raise ValueError("it holds Python objects, which are never unpickled")
        if any(length < 0 for length in shape):
            raise ValueError(f"its header claims shape {shape}")
        claimed, there = math.prod(shape) * dtype.itemsize, size - file.tell()
        if claimed > there:
            raise ValueError(
                f"its header claims shape {shape}, {claimed:,} bytes, and {there:,} "
                "are there"
            )
        file.seek(0)
        return np.lib.format.read_array(file, allow_pickle=False)


@contextlib.contextmanager
def _named(path: pathlib.Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except _TORN as error:
        raise InputError(
            f"cannot read {path}: {error}. Write it again with np.save or np.savez."
        ) from error


@contextlib.contextmanager
def replacing(target: pathlib.Path) -> Iterator[pathlib.Path]:
    """A temporary name beside `target` that takes its place when the block succeeds."""
    mine = f"{os.getpid()}-{secrets.token_hex(4)}"  # also beside another thread
    temporary = target.with_name(f".{target.name}.{mine}.tmp")
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


def write_text(path: str | pathlib.Path, parts: Iterable[str]) -> None:
    """A text, whole or not at all."""
    target = as_path("path", path)
    with told(target):
        write_atomically(target, "".join(parts).encode())


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


def cache_folder() -> pathlib.Path:
    """PUSHFORWARD_CACHE, or XDG_CACHE_HOME/pushforward, or ~/.cache/pushforward."""
    own = os.environ.get("PUSHFORWARD_CACHE")
    if own:
        return pathlib.Path(own)
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(home) / "pushforward"
