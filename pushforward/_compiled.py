"""Compiled programs of a process that lives long.

Each holds memory maps, and Linux grants a process 65,530; beyond them XLA dies. Linux
alone tells, and there alone is the limit.
"""

import gc
import pathlib

import equinox as eqx
import jax

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
