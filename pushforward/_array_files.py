"""Arrays of numbers from .npy and .npz files of strangers: checked, then read.

A header is believed only as far as the file is long: one that claims a million million
numbers is refused before anything is allocated. Nothing is ever unpickled.
"""

import contextlib
import io
import math
import os
import pathlib
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator

import numpy as np

from pushforward.errors import InputError

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
