"""A network simplex of our own, in C++, whose list of pairs may grow.

POT's starts from nothing whenever it is called; this one goes on from its last tree,
which is what rounds of a few new pairs need. Masses are whole multiples of 2^-52.
"""

import ctypes
import functools
import pathlib
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from pushforward._compiler import address, loaded

SOURCES = pathlib.Path(__file__).parent / "native"
LIBRARY = ("simplex", SOURCES, "POT takes the whole table")
UNIT = 2**52  # parts of the whole mass


class Flow(NamedTuple):
    """The pairs that carry mass, the potentials, and the mass that none carries yet."""

    i: Int[np.ndarray, "s"]
    j: Int[np.ndarray, "s"]
    mass: Float[np.ndarray, "s"]
    f: Float[np.ndarray, "n"]
    g: Float[np.ndarray, "m"]
    lost: float


class Simplex:
    """The cheapest flow from weights a to weights b along the pairs added so far.

    What they cannot carry goes another way, at the price 2 `far`.
    """

    def __init__(self, a: np.ndarray, b: np.ndarray, far: float):
        self.sizes = (len(a), len(b))
        masses = [_whole(w) for w in (a, b)]
        self.here = _library().simplex_new(
            *map(ctypes.c_int, self.sizes), *map(address, masses), ctypes.c_double(far)
        )

    def __del__(self) -> None:
        if here := getattr(self, "here", None):
            _library().simplex_free(ctypes.c_void_p(here))

    def add(self, i: np.ndarray, j: np.ndarray, costs: np.ndarray) -> None:
        """More pairs."""
        i, j = (np.ascontiguousarray(z, np.int64) for z in (i, j))
        costs = np.ascontiguousarray(costs, float)
        size = ctypes.c_int64(len(i))
        here = ctypes.c_void_p(self.here)
        _library().simplex_add(here, size, address(i), address(j), address(costs))

    def run(self, pivots: int, noise: float) -> bool:
        """Whether it is done in so many pivots; less than `noise` is no gain."""
        most = ctypes.c_int64(min(pivots, 2**62))
        here = ctypes.c_void_p(self.here)
        return bool(_library().simplex_run(here, most, ctypes.c_double(noise)))

    def read(self) -> Flow:
        """Where it stands."""
        n, m = self.sizes
        i, j, mass = (np.empty(n + m, np.int64) for _ in range(3))
        f, g, lost = np.empty(n), np.empty(m), np.zeros(1, np.int64)
        parts = map(address, (i, j, mass, f, g, lost))
        count = _library().simplex_read(ctypes.c_void_p(self.here), *parts)
        carried = mass[:count] / UNIT
        return Flow(i[:count], j[:count], carried, f, g, float(lost[0]) / UNIT)


def available() -> bool:
    """Whether there is a compiler, or was one once."""
    return loaded(*LIBRARY) is not None


@functools.cache
def _library() -> Any:
    library = loaded(*LIBRARY)
    assert library is not None, "available() is asked first"
    library.simplex_new.restype = ctypes.c_void_p
    library.simplex_read.restype = ctypes.c_int64
    return library


def _whole(weights: Float[np.ndarray, "n"]) -> Int[np.ndarray, "n"]:
    """Weights as whole numbers with the sum UNIT."""
    parts = np.rint(weights / weights.sum() * UNIT).astype(np.int64)
    off = UNIT - int(parts.sum())
    largest = np.argsort(-parts, kind="stable")[: abs(off)]
    parts[largest] += np.sign(off)
    return parts
