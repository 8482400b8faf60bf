"""The hot loops in C++, compiled once for this machine by its own compiler.

XLA writes neither the products of thin matrices nor long recurrences as fast as a loop
whose numbers stay in registers. The sources are in `native/`. Without a compiler XLA
does the same sums, and one line in the log says so.
"""

import ctypes
import functools
import logging
import pathlib
import subprocess
from typing import Any

import jax
import jaxlib
from jaxtyping import Array

from pushforward._compiler import built

SOURCES = pathlib.Path(__file__).parent / "native"
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
        folder, jaxlib_is = jax.ffi.include_dir(), jaxlib.__version__
        library = ctypes.CDLL(built("sums", SOURCES, folder, jaxlib_is))
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
