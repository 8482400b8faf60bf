"""Connected components of a point cloud at a given radius, without the n x n matrix.

Two points are joined when their geodesic distance is at most the radius; components
are the classes of the transitive closure. Runs on the host, on numpy arrays.
"""

import ctypes
import pathlib
import weakref
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import scipy
from jax import Array
from jaxtyping import Float, Int

from pushforward._compiler import address, loaded
from pushforward.measures._close_pairs import cut_at_gaps, joined, linked
from pushforward.spaces import AbstractSpace, Circle, Euclidean, Sphere

FEW = 2**17  # numbers in all differences, up to which they are taken
SOURCES = pathlib.Path(__file__).parent / "native"
LIBRARY = ("components", SOURCES, "numpy looks for clusters in ten times the time")


class _Known(NamedTuple):
    """What was asked for last."""

    points: weakref.ref
    question: tuple[AbstractSpace, float]
    labels: Int[np.ndarray, "n"]


_latest: _Known | None = None


def components(
    space: AbstractSpace, points: Float[Array | np.ndarray, "n d"], radius: float
) -> Int[np.ndarray, "n"]:
    """Label of the component of each point, numbered by first appearance.

    Sorting on the circle, cell lists in R^3 and R^4, projections above; breadth-first
    search in spaces that have a distance of their own. Arrays of JAX do not change:
    several observables of one frame look once.
    """
    global _latest
    known, question = _latest, (space, radius)
    if known and known.points() is points and known.question == question:
        return known.labels.copy()
    labels = _found(space, np.asarray(points), radius)
    if isinstance(points, Array):
        _latest = _Known(weakref.ref(points), question, labels.copy())
    return labels


def _found(space: AbstractSpace, points: np.ndarray, radius: float) -> np.ndarray:
    if isinstance(space, Circle) or (isinstance(space, Sphere) and space.d == 2):
        labels = _on_circle(points, radius)
    elif isinstance(space, Sphere | Euclidean):
        round_space = isinstance(space, Sphere)
        chord = 2 * np.sin(min(radius, np.pi) / 2) if round_space else radius
        chord = max(chord, 1e-150)  # squares of smaller ones underflow
        chord *= 1 + 1e-12  # a pair exactly at the radius must not hang on rounding
        labels = _near(points, chord)
    else:
        labels = _by_search(points, radius, lambda x, y: _pairs(space, x, y))
    return _in_order_of_appearance(labels)


def _near(points: np.ndarray, chord: float) -> np.ndarray:
    if len(points) * points.size <= FEW:
        return _of_all_pairs(points, chord)
    return _in_few(points, chord) if points.shape[1] <= 4 else linked(points, chord)


def _of_all_pairs(points: np.ndarray, chord: float) -> np.ndarray:
    """Each point takes the least label near it, and the label of that, until none does.

    Nothing is faster for few points, and scipy stays unloaded: a short run ends sooner.
    """
    near = np.linalg.norm(points[:, None] - points, axis=2) <= chord
    labels, before = np.arange(len(points)), None
    while before is None or (labels != before).any():
        before = labels
        least = np.where(near, labels, len(points)).min(axis=1)
        labels = np.minimum(labels, least)
        labels = labels[labels]
    return labels


def _on_circle(points: np.ndarray, radius: float) -> np.ndarray:
    theta = np.arctan2(points[:, 1], points[:, 0])
    order = np.argsort(theta, kind="stable")
    gaps = np.diff(theta[order], append=theta[order[0]] + 2 * np.pi)
    breaks = gaps > radius * (1 + 1e-12)
    if breaks.sum() <= 1:  # one cut still leaves an arc, hence one component
        return np.zeros(len(theta), dtype=int)
    labels = np.concatenate([[0], np.cumsum(breaks[:-1])])
    if not breaks[-1]:  # the arc through -pi = pi
        labels[labels == labels[-1]] = 0
    out = np.empty(len(theta), dtype=int)
    out[order] = labels
    return out


def _in_few(points: np.ndarray, chord: float) -> np.ndarray:
    """In low dimension: compiled cells, or cells of numpy for those that projections
    do not show to be alone.
    """
    points = np.ascontiguousarray(points, float)
    library = loaded(*LIBRARY)
    if library and np.isfinite(points).all():
        n, d = points.shape
        labels = np.empty(n, np.int64)
        sizes = ctypes.c_int64(n), ctypes.c_int64(d), ctypes.c_double(chord)
        library.components(address(points), *sizes, address(labels))
        return labels
    group, _ = cut_at_gaps(points, chord)
    some = np.flatnonzero(np.bincount(group)[group] > 1)
    labels = np.arange(len(points))
    if len(some):
        labels[some] = len(points) + _by_cells(points[some], chord)
    return labels


def _by_cells(points: np.ndarray, chord: float) -> np.ndarray:
    d = points.shape[1]
    side = chord / np.sqrt(d)  # points of one cell are within the chord of each other
    cells, member = np.unique(np.floor(points / side), axis=0, return_inverse=True)
    member = member.ravel()
    near = scipy.spatial.cKDTree(cells + 0.5).query_pairs(
        2.0 * np.sqrt(d), output_type="ndarray"
    )
    first = np.full(len(cells), -1)
    first[member[::-1]] = np.arange(len(points))[::-1]
    gap = np.linalg.norm(points[first[near[:, 0]]] - points[first[near[:, 1]]], axis=1)
    touching = near[gap <= chord]
    labels = joined(np.arange(len(cells)), *touching.T)
    unsure = near[labels[near[:, 0]] != labels[near[:, 1]]]
    if len(unsure):
        touching = np.vstack(
            [touching, _touching(points, member, unsure, labels, chord)]
        )
        labels = joined(np.arange(len(cells)), *touching.T)
    return labels[member]


def _touching(
    points: np.ndarray,
    member: np.ndarray,
    pairs: np.ndarray,
    labels: np.ndarray,
    chord: float,
) -> np.ndarray:
    """The pairs of cells that have two points within the chord of each other."""
    order = np.argsort(member, kind="stable")
    bounds = np.searchsorted(member[order], np.arange(member.max() + 2))
    inside = [points[order[bounds[c] : bounds[c + 1]]] for c in range(len(bounds) - 1)]
    root = labels.copy()
    found = []
    for a, b in pairs:
        if root[a] == root[b]:
            continue
        if _minimum_distance(inside[a], inside[b]) <= chord:
            found.append((a, b))
            root[root == root[b]] = root[a]
    return np.array(found, dtype=int).reshape(-1, 2)


def _minimum_distance(x: np.ndarray, y: np.ndarray) -> float:
    if len(x) * len(y) <= 10_000:
        return float(scipy.spatial.distance.cdist(x, y).min())
    return float(np.min(scipy.spatial.cKDTree(x).query(y)[0]))


def _by_search(points, radius, distances) -> np.ndarray:
    """Breadth-first search: every point is in the frontier once, n^2 distances."""
    n = len(points)
    labels = np.full(n, -1)
    label = 0
    for seed in range(n):
        if labels[seed] >= 0:
            continue
        labels[seed] = label
        frontier = np.array([seed])
        while len(frontier):
            free = np.flatnonzero(labels < 0)
            hit = np.zeros(len(free), dtype=bool)
            block = max(1, 4_000_000 // max(1, len(free)))
            for start in range(0, len(frontier), block):
                rows = points[frontier[start : start + block]]
                if len(free):
                    hit |= (distances(rows, points[free]) <= radius).any(axis=0)
            frontier = free[hit]
            labels[frontier] = label
        label += 1
    return labels


def _pairs(space: AbstractSpace, x, y) -> np.ndarray:
    x, y = jnp.asarray(x)[:, None, :], jnp.asarray(y)[None, :, :]
    return np.asarray(space.distance(x, y))


def _in_order_of_appearance(labels: np.ndarray) -> np.ndarray:
    if (labels[:1] == 0).all() and (np.diff(np.maximum.accumulate(labels)) <= 1).all():
        return labels  # they are: to sort a million takes longer than to look
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=int)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.ravel()]
