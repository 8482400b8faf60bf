"""The file that says which frames of an unfinished run count, and how to go on."""

from __future__ import annotations

import io
import pathlib
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from pushforward._array_files import read_npz
from pushforward.errors import InputError, StoreError
from pushforward.flows import Carry
from pushforward.io._disk import write_atomically
from pushforward.measures import Particles


class Manifest(NamedTuple):
    """The hashes and times of the frames that count, and the integrator's state."""

    t: np.ndarray
    h: np.ndarray
    accepted: np.ndarray
    rejected: np.ndarray
    status: np.ndarray
    points: np.ndarray
    log_weights: np.ndarray
    times: np.ndarray
    hashes: np.ndarray

    @classmethod
    def of(cls, carry: Carry, times: list[float], hashes: list[str]) -> Manifest:
        """What to write once these frames are on the disk."""
        numbers = (carry.t, carry.h, carry.accepted, carry.rejected, carry.status)
        state = (carry.mu.points, carry.mu.log_weights)
        frames = (np.array(times, float), np.array(hashes))
        return cls._make(np.asarray(v) for v in (*numbers, *state, *frames))

    def carry(self, mu: Particles) -> Carry:
        """The integrator's state; `mu` gives the space."""
        if self.points.shape[1:] != mu.points.shape[1:]:
            raise StoreError("the run does not fit its specification. Remove it.")
        state = mu.moved(jnp.asarray(self.points), jnp.asarray(self.log_weights))
        t, h, *counts = (jnp.asarray(value) for value in self[:5])
        return Carry(t, state, h, *counts)

    def write(self, run: pathlib.Path) -> None:
        """Replace the file beside the run."""
        buffer = io.BytesIO()
        np.savez(buffer, **self._asdict())  # type: ignore[arg-type]
        write_atomically(manifest_file(run), buffer.getvalue())


def manifest_file(run: pathlib.Path) -> pathlib.Path:
    """Beside the run, not in it: xarray should see a plain store."""
    return run.with_name(run.name + ".resume.npz")


def read_manifest(run: pathlib.Path) -> Manifest | None:
    """The manifest of an unfinished run, whole; None if there is no such file."""
    path = manifest_file(run)
    try:
        data = read_npz(path)
        manifest = Manifest(*(data[name] for name in Manifest._fields))
    except FileNotFoundError:
        return None
    except (InputError, KeyError) as error:
        raise _damaged(path, error) from error
    if not _plausible(manifest):
        raise _damaged(path, "its entries do not fit together")
    return manifest


def _plausible(m: Manifest) -> bool:
    count = len(m.hashes) if m.hashes.ndim == 1 else 0
    return (
        count > 0
        and m.hashes.dtype.kind == "U"
        and all(value.shape == () for value in m[:5])
        and all(value.dtype.kind == "f" for value in (m.t, m.h, m.points, m.times))
        and all(value.dtype.kind == "i" for value in (m.accepted, m.rejected, m.status))
        and m.points.ndim == 2
        and m.log_weights.shape == m.points.shape[:1]
        and m.log_weights.dtype == m.points.dtype
        and m.times.shape == (count,)
        and bool(np.isfinite(m.t) and np.isfinite(m.points).all())
    )


def _damaged(path: pathlib.Path, why: object) -> StoreError:
    return StoreError(
        f"{path} is damaged: {why}. Restore it from a copy, or remove it and the run, "
        "and run again."
    )
