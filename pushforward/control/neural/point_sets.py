"""The planar data sets of the papers, as (points, labels)."""

import numpy as np

from pushforward.control._checks import count, finite
from pushforward.errors import InputError


def circles(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """A disc of radius 1/2 (label -1) inside a ring of radii 1 to 3/2 (label +1)."""
    rng = np.random.default_rng(seed)
    half = count("n", n, 2) // 2
    angles = rng.uniform(0, 2 * np.pi, 2 * half)
    inner, outer = rng.uniform(0, 0.5, half), rng.uniform(1, 1.5, half)
    radii = np.concatenate([inner, outer])
    points = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
    return points, np.repeat([-1.0, 1.0], half)


def moons(
    seed: int, n: int = 60, *, noise: float = 0.1
) -> tuple[np.ndarray, np.ndarray]:
    """Two interleaved half circles, labels -1 and +1."""
    rng = np.random.default_rng(seed)
    half = count("n", n, 2) // 2
    a, b = np.pi * rng.random(half), np.pi * rng.random(half)
    upper = np.stack([np.cos(a), np.sin(a)], axis=1)
    lower = np.stack([1 - np.cos(b), 0.5 - np.sin(b)], axis=1)
    points = np.concatenate([upper, lower])
    points = points + noise * rng.standard_normal(points.shape)
    return points - np.array([0.5, 0.25]), np.repeat([-1.0, 1.0], half)


def rings(
    seed: int, sizes: tuple[int, ...], radii: tuple[tuple[float, float], ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Concentric rings, one class each: labels 0, 1, 2, ..."""
    if len(sizes) != len(radii):
        raise InputError(
            f"`sizes` and `radii` must have one entry per class, got {len(sizes)} and "
            f"{len(radii)}."
        )
    rng = np.random.default_rng(seed)
    parts = []
    for size, (low, high) in zip(sizes, radii, strict=True):
        angle, radius = rng.uniform(0, 2 * np.pi, size), rng.uniform(low, high, size)
        parts.append(np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1))
    return np.concatenate(parts), np.repeat(np.arange(len(sizes)), sizes)


def chess(
    seed: int, *, side: int = 3, per_cell: int = 333, reach: float = 1.4
) -> tuple[np.ndarray, np.ndarray]:
    """A side x side chess board with gaps between cells, labels -1 and +1."""
    rng = np.random.default_rng(seed)
    side, per_cell = count("side", side, 2), count("per_cell", per_cell)
    gap = 0.2
    width = (2 * reach - gap * (side - 1)) / side
    corners = -reach + (width + gap) * np.arange(side)
    points, labels = [], []
    for i in range(side):
        for j in range(side):
            corner = np.array([corners[i], corners[j]])
            points.append(corner + width * rng.random((per_cell, 2)))
            labels.append(np.full(per_cell, 1.0 if (i + j) % 2 == 0 else -1.0))
    return np.concatenate(points), np.concatenate(labels)


def lifted(points: object, extra: int = 1) -> np.ndarray:
    """Points with `extra` zero coordinates appended: more room to untangle classes."""
    array = finite("points", points, (None, None))
    return np.hstack([array, np.zeros((len(array), count("extra", extra, 0)))])
