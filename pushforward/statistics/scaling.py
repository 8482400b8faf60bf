"""Put objects in the plane from their distances: classical multidimensional scaling."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.statistics._matrices import finite_matrix


@dataclass(frozen=True)
class Scaling:
    """Coordinates whose distances approximate the given ones.

    `explained` is the share of the positive spectrum that the kept axes carry: near
    one, the picture is faithful.
    """

    points: Float[np.ndarray, "m k"]
    explained: float


def classical_scaling(distances: object, dimension: int = 2) -> Scaling:
    """The best Euclidean picture of a distance matrix D (m, m).

    Eigenvectors of -J D^2 J / 2 with J the centering matrix; each axis is turned so
    that its largest coordinate is positive, so the picture does not flip by chance.

    >>> x = np.array([0.0, 1.0, 3.0])
    >>> found = classical_scaling(np.abs(x[:, None] - x[None, :]), 1)
    >>> np.round(found.points[:, 0] - found.points[0, 0], 6).tolist()
    [0.0, 1.0, 3.0]
    """
    D = finite_matrix("distances", distances, "(m, m)")
    m = len(D)
    if D.shape != (m, m) or np.abs(D - D.T).max() > 1e-8 * max(1.0, np.abs(D).max()):
        raise InputError(
            f"`distances` must be a symmetric square matrix, got shape {D.shape}. Pass "
            "`gulp_matrix(...).at(lam)`."
        )
    if np.abs(D).max() > 1e100:
        raise InputError(
            f"`distances` must be at most 1e100, got {np.abs(D).max():g}. Rescale them."
        )
    if not 1 <= whole("dimension", dimension, 1) < m:
        raise InputError(
            f"`dimension` must lie between 1 and {m - 1} for {m} objects, got "
            f"{dimension}."
        )
    J = np.eye(m) - 1.0 / m
    e, V = np.linalg.eigh(-0.5 * J @ np.square(D) @ J)
    e, V = np.maximum(e[::-1], 0.0), V[:, ::-1]
    points = V[:, :dimension] * np.sqrt(e[:dimension])
    largest = points[np.abs(points).argmax(0), np.arange(dimension)]
    points = points * np.where(largest < 0, -1.0, 1.0)
    total = e.sum()
    return Scaling(points, float(e[:dimension].sum() / total) if total > 0 else 1.0)
