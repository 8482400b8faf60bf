"""V = I: hulls shrink to a polytope and tokens go to a finite set, theorem 3.1."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.spatial import ConvexHull

import pushforward as pf
from pushforward import theory
from pushforward.observables import distance_to_set, hull_volume, limit_set_gap
from pushforward.studies import Claim
from pushforward.studies.clusters._systems import (
    SPACE_2,
    TIGHT,
    Path,
    cube,
    followed,
    rescaled,
)
from pushforward.studies.clusters.study import Parameters, at_most, paper, within

TIMES = np.arange(0.0, 13.0)
# Q = K = SKEW makes Q^T K positive definite and far from a multiple of the identity.
SKEW = np.array([[1.0, 0.5], [0.0, 0.8]])
THEOREM = paper("theorem 3.1")


class Case(NamedTuple):
    """A dimension, and Q = K."""

    words: str
    d: int
    A: np.ndarray

    @property
    def B(self) -> np.ndarray:
        """Q^T K."""
        return self.A.T @ self.A


CASES = {
    "plane": Case("the plane, Q = K = I", 2, np.eye(2)),
    "space": Case("space, Q = K = I", 3, np.eye(3)),
    "skew": Case("the plane, Q^T K positive definite", 2, SKEW),
}


@functools.lru_cache
def runs(p: Parameters, name: str) -> tuple[Path, ...]:
    """Rescaled tokens from every start of a case."""
    return tuple(rescaled(*system) for system in systems(p, name))


def systems(p: Parameters, name: str) -> list[tuple]:
    """V, start, times, Q and K of every start of a case."""
    case = CASES[name]
    starts = cube(p, f"polytope {name}", case.d)
    return [(np.eye(case.d), x, TIMES, case.A, case.A) for x in starts]


def cloud(z: np.ndarray) -> pf.Particles:
    """Tokens as a measure."""
    return pf.Particles(pf.Euclidean(z.shape[1]), z)


def vertices(z: np.ndarray, B: np.ndarray, radius: float = 0.05) -> np.ndarray:
    """Vertices of the limit polytope, seen at a finite time.

    Tokens near a vertex would be vertices of their own: of each group only its leader,
    the token of the largest <B z, z>, is kept.
    """
    labels = cloud(z).labels(radius)
    size = np.einsum("ni,ij,nj->n", z, B, z)
    groups = (np.flatnonzero(labels == c) for c in np.unique(labels))
    heads = z[[i[size[i].argmax()] for i in groups]]
    return heads[theory.polytope.hull_vertices(heads)]


@functools.lru_cache
def limit_sets(p: Parameters, name: str) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """The vertices and the set S of the polytope of every start of a case."""
    B = CASES[name].B
    found = (vertices(run.end, B) for run in runs(p, name))
    return tuple((v, theory.polytope.limit_set(v, B)) for v in found)


def _to_set(name: str) -> Callable[[Parameters], Claim]:
    case = CASES[name]

    def claim(p: Parameters) -> Claim:
        pairs = zip(runs(p, name), limit_sets(p, name), strict=True)
        worst = max(distance_to_set(cloud(run.end), S) for run, (_, S) in pairs)
        note = f"largest distance to S at t = {TIMES[-1]:g}, {p.replicas} starts"
        return at_most(words, THEOREM, "theorem", worst, 1e-3, note)

    words = f"Rescaled tokens go to the finite set S; {case.words}."
    claim.__doc__ = words
    return claim


def hull_shrinks(p: Parameters) -> Claim:
    """V = I: the convex hull of the rescaled tokens never grows (d = 2 and 3)."""
    growth = []
    for run in runs(p, "plane") + runs(p, "space"):
        volume = np.array([hull_volume(cloud(z)) for z in run.points])
        growth.append((np.diff(volume) / volume[0]).max())
    note = "largest increment of the volume, relative, over steps of 1 in time"
    claim, where = str(hull_shrinks.__doc__), paper("section 3")
    return at_most(claim, where, "theorem", max(growth), 1e-9, note)


def rate(p: Parameters) -> Claim:
    """V = I: the gap max_v <z, v> - |z|^2 closes like e^-t."""
    first = int(np.searchsorted(TIMES, 8.0))
    slopes = []
    for run in runs(p, "plane"):
        gap = [limit_set_gap(cloud(z)) for z in run.points[[first, -1]]]
        slopes.append(np.diff(np.log(gap))[0] / (TIMES[-1] - TIMES[first]))
    worst = max(slopes, key=lambda s: abs(s + 1))
    note = f"slope of its logarithm from t = 8 to 12, the worst of {p.replicas} starts"
    claim, where = str(rate.__doc__), paper("theorem 3.1, proof")
    return within(claim, where, "theorem", worst, -1.0, 0.02, note)


def _sets(p: Parameters) -> list[tuple[np.ndarray, np.ndarray]]:
    return [pair for name in CASES for pair in limit_sets(p, name)]


def vertices_belong(p: Parameters) -> Claim:
    """The vertices of the limit polytope belong to S."""
    worst = max(distance_to_set(cloud(v), S) for v, S in _sets(p))
    note = "distance of the farthest vertex; S from its definition, no simulation"
    return at_most(str(vertices_belong.__doc__), THEOREM, "theorem", worst, 1e-9, note)


def inside_boundary(p: Parameters) -> Claim:
    """S lies on the boundary of the polytope, but for the point 0."""
    worst = 0.0
    for v, S in _sets(p):
        if len(v) <= v.shape[1]:  # a segment or triangle is its own boundary
            continue
        faces = ConvexHull(v).equations
        depth = -(S @ faces[:, :-1].T + faces[:, -1]).max(axis=1)
        worst = max(worst, depth[np.linalg.norm(S, axis=1) > 1e-9].max())
    note = "depth of the deepest other point inside"
    return at_most(str(inside_boundary.__doc__), THEOREM, "theorem", worst, 1e-9, note)


def rescaling(p: Parameters) -> Claim:
    """z = e^-tV x: tokens and rescaled tokens, integrated apart, agree at t = 2."""
    start = cube(p, "rescaling", 3, 8, side=1.0)[0]
    field = pf.Attention(1.0, np.eye(3), np.eye(3), SPACE_2)
    x = followed(field, start, (0.0, 2.0), solver=TIGHT).end
    z = rescaled(SPACE_2, start, (0.0, 2.0), solver=TIGHT).end
    error = np.abs(x @ scipy.linalg.expm(-2 * SPACE_2).T - z).max()
    claim, where = str(rescaling.__doc__), paper("section 1")
    note = "8 tokens, the second stored matrix in space"
    return at_most(claim, where, "identity", error, 1e-8, note)


CLAIMS = (
    rescaling,
    hull_shrinks,
    *(_to_set(name) for name in CASES),
    rate,
    vertices_belong,
    inside_boundary,
)
