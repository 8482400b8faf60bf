"""Strict for every test: 64 bits, no silent promotion of ranks or types.

Compiled programs are shared: one folder for all workers and the commands they start,
empty at the start of the run and gone at its end.
"""

import os
import shutil
import tempfile

import jax
import numpy as np
import pytest

try:
    import shape_checks

    shape_checks.install()  # before anything imports the package
except ModuleNotFoundError:  # tests/gpu, on a machine with little more than JAX
    shape_checks = None

from pushforward._compiler import make_room
from pushforward.errors import PushforwardError

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")

OWN_CACHE = None
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:  # the first process of the run
    OWN_CACHE = tempfile.mkdtemp(prefix="pushforward-compiled-")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = OWN_CACHE
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.2"
    jax.config.update("jax_compilation_cache_dir", OWN_CACHE)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)

_raises = pytest.raises


def raises(expected, **kwargs):
    """`pytest.raises`, without the checks where the library's own words are asked for.

    An annotation says what is right; wrong input is refused by `InputError`, which the
    checker would come before.
    """
    refusal = isinstance(expected, type) and issubclass(expected, PushforwardError)
    watched = _raises(expected, **kwargs)
    if shape_checks is None or not refusal:
        return watched
    return shape_checks.suspended(watched)


pytest.raises = raises


@pytest.fixture(autouse=True, scope="module")
def _forget_compiled_programs():
    yield
    make_room()  # thousands of tests in one process fill it


def pytest_unconfigure():
    if OWN_CACHE is not None:
        shutil.rmtree(OWN_CACHE, ignore_errors=True)


def sine_data(n: int, d: int) -> np.ndarray:
    """The deterministic tokens of the notes: sin(1 + 3i + 7k + ik), normalised."""
    i, k = np.arange(n)[:, None], np.arange(d)[None, :]
    x = np.sin(1.0 + 3 * i + 7 * k + i * k)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.fixture
def sine():
    return sine_data
