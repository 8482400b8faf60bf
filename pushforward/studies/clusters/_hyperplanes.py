"""A growing eigenvalue: parallel hyperplanes and their generalizations.

Theorem 4.1, the conjecture on codimension, theorem 5.1, and leaders in the plane.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np
from scipy.spatial import ConvexHull

import pushforward as pf
from pushforward import theory
from pushforward.observables import ParallelSubspaces
from pushforward.studies import Claim
from pushforward.studies.clusters._polytope import cloud
from pushforward.studies.clusters._systems import (
    CODIMENSION,
    PLANE,
    SPACE,
    SPACE_2,
    Path,
    attention,
    cube,
    rescaled,
)
from pushforward.studies.clusters.study import Parameters, at_most, paper, within

SAME = 0.05  # values of a form closer than this belong to one hyperplane
NEAR = 5e-3  # distance below which tokens of [-5, 5]^d are on a hyperplane
PRODUCT = np.diag([1.0, 1.0, -0.5])
DRAWS = 8  # of random matrices for the leaders
LINK = 1e-4  # attention above this is drawn as a link in the published program


class Case(NamedTuple):
    """Words, V, K (Q = I), the time, and the linear forms that freeze."""

    words: str
    V: np.ndarray
    K: np.ndarray
    t1: float
    forms: np.ndarray


def _case(words: str, V: np.ndarray, t1: float, K: np.ndarray | None = None) -> Case:
    K = np.eye(len(V)) if K is None else K
    shape = theory.limit_shapes.predict_limit(V, np.eye(len(V)), K)
    return Case(words, V, K, t1, shape.forms)


INDEFINITE = np.diag([1.0, 1.0, -0.5])
CASES = {
    "plane": _case("the stored matrix of the plane", PLANE, 12.0),
    "space": _case("the first stored matrix in space", SPACE, 12.0),
    "second": _case("the second stored matrix in space", SPACE_2, 12.0),
    "indefinite": _case("Q^T K = diag(1, 1, -1/2)", SPACE, 12.0, INDEFINITE),
}
# Forms of smaller eigenvalues freeze at their own, slower rates.
SUBSPACES = {
    "line": Case(
        "codimension 2, the stored symmetric matrix",
        CODIMENSION,
        np.eye(3),
        40.0,
        theory.limit_shapes.growing_forms(CODIMENSION),
    ),
    "point": Case(
        "codimension 3, the second stored matrix in space",
        SPACE_2,
        np.eye(3),
        100.0,
        theory.limit_shapes.growing_forms(SPACE_2),
    ),
}


@functools.lru_cache
def ends(p: Parameters, name: str) -> tuple[np.ndarray, ...]:
    """Late rescaled tokens from every start of a case."""
    return tuple(rescaled(*system).end for system in systems(p, name))


def systems(p: Parameters, name: str) -> list[tuple]:
    """V, start, times, Q and K of every start of a case."""
    case = (CASES | SUBSPACES)[name]
    starts = cube(p, f"hyperplanes {name}", len(case.V))
    if name in SUBSPACES:
        starts = starts[: max(4, p.replicas // 4)]
    identity = np.eye(len(case.V))
    times = (0.0, case.t1)
    return [(case.V, x, times, identity, case.K) for x in starts]


def _count(name: str, kind: str, where: str, what: str) -> Callable:
    case = (CASES | SUBSPACES)[name]

    def claim(p: Parameters) -> Claim:
        found = ends(p, name)
        planes = ParallelSubspaces(case.forms, SAME)
        most = max(planes.count(cloud(z)) for z in found)
        note = f"the most of {len(found)} starts at t = {case.t1:g}"
        return at_most(words, where, kind, most, 3, note)

    words = f"{what}; {case.words}."
    claim.__doc__ = words
    return claim


def _distance(name: str, kind: str, where: str, what: str) -> Callable:
    case = (CASES | SUBSPACES)[name]

    def claim(p: Parameters) -> Claim:
        planes = ParallelSubspaces(case.forms, SAME)
        found = ends(p, name)
        off = max(planes.distance(cloud(z)) for z in found)
        note = f"the farthest token of {len(found)} starts at t = {case.t1:g}"
        return at_most(words, where, kind, off, NEAR, note)

    words = f"{what}; {case.words}."
    claim.__doc__ = words
    return claim


def products(p: Parameters) -> list[tuple]:
    """V, start and times of every start under V = diag(1, 1, -1/2)."""
    return [(PRODUCT, x, (0.0, 12.0)) for x in cube(p, "product", 3)]


def product(p: Parameters) -> Claim:
    """V = diag(1, 1, -1/2): tokens go to (boundary of a polygon or 0) x line."""
    worst = 0.0
    for system in products(p):
        z = rescaled(*system).end[:, :2]
        faces = ConvexHull(z).equations
        depth = -(z @ faces[:, :-1].T + faces[:, -1]).max(axis=1)
        worst = max(worst, np.minimum(depth, np.linalg.norm(z, axis=1)).max())
    note = f"depth of the deepest token inside, t = 12, {p.replicas} starts"
    claim, where = str(product.__doc__), paper("theorem 5.1")
    return at_most(claim, where, "theorem", worst, 1e-3, note)


@functools.lru_cache
def gram(p: Parameters, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """V and A = Q = K of the program on leaders: Gram matrices of uniform entries."""
    key = pf.key_for(p.seed, f"gram {draw}")
    M = np.asarray(jax.random.uniform(key, (2, 2, 2), minval=-1.0, maxval=1.0))
    return M[0] @ M[0].T, M[1] @ M[1].T


def clearest(p: Parameters) -> int:
    """The draw in which attention sees all directions best: the one to look at."""
    return int(np.argmin([np.linalg.cond(gram(p, k)[1]) for k in range(DRAWS)]))


@functools.lru_cache
def with_leaders(p: Parameters, draw: int) -> Path:
    """Twenty tokens of the plane to t = 10, random Gram matrices."""
    return rescaled(*leading(p, draw))


def leading(p: Parameters, draw: int) -> tuple:
    """V, start, times, Q and K of the runs with leaders."""
    V, A = gram(p, draw)
    start = cube(p, "leaders", 2, 20)[0]
    return V, start, np.linspace(0.0, 10.0, p.frames), A, A


def few_leaders(p: Parameters) -> Claim:
    """Leaders in the plane: at t = 10 all attention goes to at most 3 of 20 tokens."""
    counts = []
    for k in range(DRAWS):
        V, A = gram(p, k)
        P = attention(V, 10.0, with_leaders(p, k).end, A, A)
        counts.append(int((P.max(axis=0) > LINK).sum()))
    note = f"tokens given more than {LINK:g} by any; {DRAWS} Gram V, Q = K: {counts}"
    claim, where = str(few_leaders.__doc__), paper("figure on leaders")
    return at_most(claim, where, "experiment", max(counts), 3, note)


def spectrum(p: Parameters) -> Claim:
    """The stored matrices have the published leading eigenvalues."""
    published = (1.347990, 0.991010, 1.078327, 1.963445)
    stored = (PLANE, SPACE, SPACE_2, CODIMENSION)
    found = [np.linalg.eigvals(V).real.max() for V in stored]
    error = np.abs(np.subtract(found, published)).max()
    where = paper("section 4, code")
    return within(str(spectrum.__doc__), where, "identity", error, 0.0, 1e-6)


T41 = ("theorem", paper("theorem 4.1"))
GUESS = ("conjecture", paper("section 4"))
CLAIMS = (
    spectrum,
    *(_count(n, *T41, "At most three parallel hyperplanes") for n in CASES),
    *(_distance(n, *T41, "Tokens reach their hyperplanes") for n in CASES),
    *(_count(n, *GUESS, "At most three parallel subspaces") for n in SUBSPACES),
    *(_distance(n, *GUESS, "Tokens reach their subspaces") for n in SUBSPACES),
    product,
    few_leaders,
)
