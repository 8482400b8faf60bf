"""Compiled programs: libraries of our own C++, made once for this machine, and those
that JAX keeps in a process that lives long.
"""

import ctypes
import functools
import gc
import hashlib
import logging
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile

import equinox as eqx
import jax
import numpy as np

from pushforward._files import cache_folder

FLAGS = (
    "-O3",
    "-march=native",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-std=c++17",
    "-shared",
    "-fPIC",
    "-pthread",
    "-w",
)
_log = logging.getLogger("pushforward")


@functools.cache
def loaded(name: str, sources: pathlib.Path, instead: str) -> ctypes.CDLL | None:
    """The library; None without a compiler, and a line in the log says what is done."""
    try:
        return ctypes.CDLL(built(name, sources))
    except (OSError, subprocess.SubprocessError) as why:
        _log.info("no compiled %s (%s): %s", name, why, instead)
        return None


def address(array: np.ndarray) -> ctypes.c_void_p:
    """Where the numbers are, for a function of such a library."""
    return array.ctypes.data_as(ctypes.c_void_p)


def built(
    name: str, sources: pathlib.Path, include: str = "", against: str = ""
) -> str:
    """The path of the library, compiled now if it is not in the cache."""
    files = sorted(sources.glob("*"))
    key = hashlib.sha256(b"".join(file.read_bytes() for file in files))
    key.update(repr((FLAGS, against, _processor())).encode())
    library = cache_folder() / "native" / f"{name}-{key.hexdigest()[:16]}.so"
    if library.exists():
        return str(library)
    command = shutil.which(os.environ.get("CXX") or "c++")
    if command is None:
        raise FileNotFoundError("no C++ compiler found")
    library.parent.mkdir(parents=True, exist_ok=True)
    _log.info("compiling the %s for this machine, once", name)
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        made = pathlib.Path(folder) / "made.so"
        units = [str(file) for file in files if file.suffix == ".cc"]
        where = [f"-I{include}"] if include else []
        subprocess.run(
            [command, *FLAGS, *where, *units, "-o", str(made)],
            check=True,
            capture_output=True,
            timeout=300,
        )
        made.replace(library)  # at once: another process may be doing the same
    return str(library)


def _processor() -> str:
    """What the compiler's `native` depends on: homes are shared, machines differ."""
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if not cpuinfo.exists():
        return platform.machine() + platform.processor()
    lines = cpuinfo.read_text().splitlines()
    names = ("model name", "flags", "Features", "CPU part")
    return "\n".join(sorted({line for line in lines if line.startswith(names)}))


MOST_MAPS = 30_000
MAPS = pathlib.Path("/proc/self/maps")


def make_room() -> bool:
    """Forget all compiled programs if they hold too many maps; whether it did."""
    if not MAPS.exists() or MAPS.read_bytes().count(b"\n") <= MOST_MAPS:
        return False
    jax.clear_caches()
    eqx.clear_caches()
    gc.collect()
    return True
