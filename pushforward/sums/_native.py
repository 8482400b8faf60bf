"""The hot loops in C++, compiled once for this machine by its own compiler.

XLA writes neither the products of thin matrices nor long recurrences as fast as a loop
whose numbers stay in registers. The sources are in `native/`; the library lies in the
cache folder under a name that changes with them, with the processor and with jaxlib.
Without a compiler XLA does the same sums, and one line in the log says so.
"""

import ctypes
import functools
import hashlib
import logging
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile
from typing import Any

import jax
import jaxlib
from jaxtyping import Array

from pushforward._cache_folder import cache_folder

SOURCES = pathlib.Path(__file__).parent / "native"
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
TARGETS = (
    "pairs_float32",
    "pairs_float64",
    "rows_float32",
    "rows_float64",
    "circle_modes",
    "circle_series",
    "circle_moments",
    "circle_spread",
    "circle_gather",
)
_log = logging.getLogger("pushforward")


@functools.cache
def available() -> bool:
    """Whether the library can be called; the first time on a machine it is built."""
    if jax.default_backend() != "cpu":
        return False
    try:
        library = ctypes.CDLL(str(_built()))
        for name in TARGETS:
            handler = jax.ffi.pycapsule(getattr(library, name))
            jax.ffi.register_ffi_target(f"pushforward_{name}", handler, platform="cpu")
    except (OSError, AttributeError, subprocess.SubprocessError) as why:
        _log.info("no compiled sums (%s): using the XLA sums instead", why)
        return False
    return True


def compiled_call(name: str, results: Any, *arguments: Array, **settings: bool):
    """A function of the library on arrays; `results` have the shapes it returns."""
    if not available():
        raise RuntimeError("the compiled sums are not on this machine")
    # Batches one by one: a single member fills the machine.
    target = jax.ffi.ffi_call(f"pushforward_{name}", results, vmap_method="sequential")
    return target(*arguments, **settings)


def _built() -> pathlib.Path:
    """The library, compiled now if it is not in the cache."""
    files = sorted(SOURCES.glob("*"))
    key = hashlib.sha256(b"".join(file.read_bytes() for file in files))
    key.update(repr((FLAGS, jaxlib.__version__, _processor())).encode())
    library = cache_folder() / "native" / f"sums-{key.hexdigest()[:16]}.so"
    if library.exists():
        return library
    command = shutil.which(os.environ.get("CXX") or "c++")
    if command is None:
        raise FileNotFoundError("no C++ compiler found")
    library.parent.mkdir(parents=True, exist_ok=True)
    _log.info("compiling the sums for this machine, once")
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        made = pathlib.Path(folder) / "sums.so"
        sources = [str(file) for file in files if file.suffix == ".cc"]
        include = f"-I{jax.ffi.include_dir()}"
        subprocess.run(
            [command, *FLAGS, include, *sources, "-o", str(made)],
            check=True,
            capture_output=True,
            timeout=300,
        )
        made.replace(library)  # at once: another process may be doing the same
    return library


def _processor() -> str:
    """What the compiler's `native` depends on: homes are shared, machines differ."""
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if not cpuinfo.exists():
        return platform.machine() + platform.processor()
    lines = cpuinfo.read_text().splitlines()
    names = ("model name", "flags", "Features", "CPU part")
    return "\n".join(sorted({line for line in lines if line.startswith(names)}))
