"""One frame of a run as bytes, little endian, as the page reads it.

    'PF01' | u32 id | u32 k | u32 n | u32 dshow | u32 flags | 7 float64 numbers
    | float32 points (n, dshow) | u16 labels (n) | float32 masses (n), where they differ
    | float32 shares (64) of all pairwise cosines, where not all coordinates are shown

The numbers are t, log10 t, energy, clusters, largest mass, mean cosine, arc length.
"""

import dataclasses
import struct

import numpy as np

HEADER = struct.Struct("<4s5I7d")
LAST, MASSES, COSINES = 1, 2, 4  # flags


@dataclasses.dataclass(frozen=True)
class Reading:
    """The seven numbers of a frame."""

    t: float
    log10_t: float
    energy: float
    clusters: float
    largest: float
    cosine: float
    arc: float


def packed(
    k: int,
    reading: Reading,
    shown: np.ndarray,
    labels: np.ndarray,
    masses: np.ndarray | None,
    cosines: np.ndarray | None,
    last: bool,
) -> bytes:
    """The bytes of frame k, with the id left at zero."""
    n, dshow = shown.shape
    flags = LAST if last else 0
    flags |= (0 if masses is None else MASSES) | (0 if cosines is None else COSINES)
    numbers = dataclasses.astuple(reading)
    parts = [
        HEADER.pack(b"PF01", 0, k, n, dshow, flags, *numbers),
        shown.astype("<f4").tobytes(),
        labels.astype("<u2").tobytes(),
        b"" if masses is None else masses.astype("<f4").tobytes(),
        b"" if cosines is None else cosines.astype("<f4").tobytes(),
    ]
    return b"".join(parts)


def addressed(frame: bytes, request: int) -> bytes:
    """The same frame as the answer to a request."""
    return frame[:4] + struct.pack("<I", request) + frame[8:]


def masses_of(frame: bytes) -> np.ndarray | None:
    """The masses of the points of a packed frame, where they differ; sum one."""
    _, _, _, n, dshow, flags = HEADER.unpack_from(frame)[:6]
    start = HEADER.size + (4 * dshow + 2) * n
    if not flags & MASSES:
        return None
    masses = np.maximum(np.frombuffer(frame, "<f4", n, start).astype(float), 0.0)
    return masses / masses.sum()


def numbers_of(frame: bytes) -> Reading:
    """The numbers of a packed frame."""
    return Reading(*HEADER.unpack_from(frame)[6:])
