"""The polytope of V = I: hull vertices, the finite set tokens go to, and hardmax.

Rescaled tokens with V = I and B = Q^T K positive definite converge to the finite set
S = {x in K : <B x, x> = max over vertices v of <B x, v>}, where K is the limit of their
convex hulls. [geshkovski2023clusters], [alcalde2025frankwolfe]
"""

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, QhullError

from pushforward.errors import InputError, NumericalError
from pushforward.theory._checks import nonnegative, scalar, square, table


def hull_vertices(points: ArrayLike) -> np.ndarray:
    """Indices of the vertices of the convex hull, in increasing order."""
    return np.unique(_boundary(table("points", points)))


def limit_set(vertices: ArrayLike, B: ArrayLike | None = None) -> np.ndarray:
    """The finite set S of a polytope given by points that span it, as rows.

    x is in S exactly when x is the B-projection of 0 on the affine hull of the face
    that has x inside, and <B x, v> <= <B x, x> for every vertex v. So S holds the
    vertices that are their own farthest point, some centers of faces, and 0 if the
    polytope contains it.

    >>> square = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
    >>> len(limit_set(square))  # 4 vertices, 4 midpoints of edges, and 0
    9
    """
    points = table("vertices", vertices)
    B = _metric(B, points.shape[1])
    faces = {
        face
        for simplex in _boundary(points)
        for size in range(1, len(simplex) + 1)
        for face in combinations(sorted(int(i) for i in simplex), size)
    }
    scale = max(1.0, float(np.abs(points).max()))
    found: list[np.ndarray] = []
    for face in sorted(faces) + [tuple(range(len(points)))]:
        x = _projection_of_zero(points[list(face)], B)
        full = len(face) == len(points)
        inside = _in_hull(x, points) if full else _in_simplex(x, points[list(face)])
        farthest = (points @ B @ x).max() <= x @ B @ x + 1e-9 * scale**2
        new = all(np.abs(x - y).max() > 1e-8 * scale for y in found)
        if inside and farthest and new:
            found.append(x)
    return np.array(found)


def hardmax_tokens(
    t: float, points: ArrayLike, B: ArrayLike | None = None
) -> np.ndarray:
    """Tokens at time t when each follows the one it attends to most (beta infinite).

    dz_i/dt = z_{sigma(i)} - z_i with sigma(i) = argmax_j <B z_i, z_j>, hence
    z_i(t) = e^{-t} z_i + (1 - e^{-t}) z_{sigma(i)}, exact while every token
    that is followed follows itself; anything else is refused. Ties go to the first
    index.
    """
    points = table("points", points)
    decay = np.exp(-scalar("t", nonnegative("t", t)))
    leader = np.argmax(points @ _metric(B, points.shape[1]) @ points.T, axis=1)
    followed = np.unique(leader)
    moving = followed[leader[followed] != followed]
    if moving.size:
        raise InputError(
            f"`points`: token {moving[0]} is the leader of others and follows another "
            "one, so there is no closed form. Use vertices of equal B-norm."
        )
    return decay * points + (1 - decay) * points[leader]


def hardmax_cells(
    x: ArrayLike, vertices: ArrayLike, B: ArrayLike | None = None
) -> np.ndarray:
    """Index of the vertex each row of x moves to: argmax_v <B x, v>."""
    x, vertices = table("x", x), table("vertices", vertices)
    if x.shape[1] != vertices.shape[1]:
        raise InputError(
            f"`x` and `vertices` must have the same dimension, got {x.shape} and "
            f"{vertices.shape}."
        )
    return np.argmax(x @ _metric(B, x.shape[1]) @ vertices.T, axis=1)


def _metric(B: ArrayLike | None, d: int) -> np.ndarray:
    if B is None:
        return np.eye(d)
    B = square("B", B)
    if B.shape != (d, d):
        raise InputError(
            f"`B` must have shape {(d, d)} like the points, got {B.shape}."
        )
    return B


def _boundary(points: np.ndarray) -> np.ndarray:
    """Simplices, as rows of indices, that cover the (relative) boundary of the hull."""
    offsets = points - points[0]
    _, sizes, axes = np.linalg.svd(offsets, full_matrices=False)
    rank = int((sizes > 1e-10 * max(1.0, sizes[0])).sum())
    if rank == 0:
        return np.array([[0]])
    flat = offsets @ axes[:rank].T
    if rank == 1:
        return np.array([[flat.argmin()], [flat.argmax()]])
    try:
        return ConvexHull(flat).simplices
    except QhullError as error:
        reason = str(error).splitlines()[0]
        raise NumericalError(
            f"the convex hull could not be computed ({reason}). Bring the coordinates "
            "to comparable sizes."
        ) from None


def _projection_of_zero(face: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The point of the affine hull of `face` with the least <B x, x>."""
    edges = face[1:] - face[0]
    if not len(edges):
        return face[0]
    weights = np.linalg.lstsq(edges @ B @ edges.T, -edges @ B @ face[0], rcond=None)[0]
    return face[0] + weights @ edges


def _in_simplex(x: np.ndarray, face: np.ndarray) -> bool:
    system = np.vstack([face.T, np.ones(len(face))])
    target = np.append(x, 1.0)
    weights = np.linalg.lstsq(system, target, rcond=None)[0]
    return bool(np.allclose(system @ weights, target) and (weights > -1e-9).all())


def _in_hull(x: np.ndarray, points: np.ndarray) -> bool:
    system = np.vstack([points.T, np.ones(len(points))])
    answer = linprog(np.zeros(len(points)), A_eq=system, b_eq=np.append(x, 1.0))
    return bool(answer.success)
