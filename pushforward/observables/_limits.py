"""How near tokens without layer norm are to their limits: hulls, planes, the set S.

[geshkovski2023clusters]
"""

from collections.abc import Sequence

import equinox as eqx
import numpy as np
import scipy
from jax.typing import ArrayLike
from jaxtyping import Float, Int, Real

from pushforward._checks import (
    AnyArray,
    as_float_array,
    check_finite,
    matrix_or_none,
    measure,
    positive,
)
from pushforward.errors import InputError
from pushforward.measures import Particles


class ParallelSubspaces(eqx.Module):
    """Tokens sorted by the values of linear forms: parallel affine subspaces.

    `forms` is (k, d), one form per row; tokens whose values are joined by steps of at
    most `radius` share the subspace {x : forms x = mean value of the group}.

    >>> mu = Particles(Euclidean(2), [[1.0, 7.0], [1.0, -2.0], [3.0, 0.0]])
    >>> planes = ParallelSubspaces([[1.0, 0.0]], 0.1)
    >>> planes.count(mu), planes.distance(mu)
    (2, 0.0)
    """

    forms: Float[AnyArray, "k d"]
    radius: float = eqx.field(static=True)

    def __init__(self, forms: Real[ArrayLike, "k d"] | Sequence, radius: float):
        found = matrix_or_none("forms", forms)
        if found is None:
            raise InputError("`forms` must be a (k, d) matrix, one linear form a row.")
        self.forms = found
        why = "It is a distance between values of the forms."
        self.radius = float(positive("radius", radius, why))

    def labels(self, mu: Particles) -> Int[np.ndarray, "n"]:
        """The group of each token, numbered from zero."""
        values = self._values(mu)
        if len(values) == 1:
            return np.zeros(1, dtype=int)
        tree = scipy.cluster.hierarchy.linkage(values, method="single")
        return (
            np.asarray(
                scipy.cluster.hierarchy.fcluster(
                    tree, self.radius, criterion="distance"
                )
            )
            - 1
        )

    def count(self, mu: Particles) -> int:
        """The number of subspaces."""
        return int(self.labels(mu).max()) + 1

    def distance(self, mu: Particles) -> float:
        """The largest distance of a token from the subspace of its group."""
        values, labels = self._values(mu), self.labels(mu)
        means = np.array([values[labels == c].mean(axis=0) for c in np.unique(labels)])
        # The nearest point of {forms x = c}: the distance is |forms^+ (forms x - c)|.
        off = (values - means[labels]) @ np.linalg.pinv(np.asarray(self.forms)).T
        return float(np.linalg.norm(off, axis=1).max())

    def _values(self, mu: Particles) -> Float[np.ndarray, "n k"]:
        forms, x = np.asarray(self.forms), np.asarray(mu.points, dtype=float)
        if forms.shape[1] != x.shape[1]:
            raise InputError(
                f"`forms` has {forms.shape[1]} columns, but tokens have "
                f"{x.shape[1]} coordinates. Pass one column per coordinate."
            )
        return x @ forms.T


def distance_to_set(mu: Particles, targets: Real[ArrayLike, "m d"] | Sequence) -> float:
    """The largest distance from a token to the nearest of the target points."""
    measure("mu", mu)
    targets = np.asarray(as_float_array("targets", targets))
    x = np.asarray(mu.points)
    if targets.ndim != 2 or not len(targets) or targets.shape[1] != x.shape[1]:
        raise InputError(
            f"`targets` must be points with {x.shape[1]} coordinates as rows, got "
            f"shape {targets.shape}."
        )
    check_finite("targets", targets)
    return float(np.linalg.norm(x[:, None] - targets, axis=-1).min(axis=1).max())


def limit_set_gap(
    mu: Particles, B: Real[ArrayLike, "d d"] | Sequence | None = None
) -> float:
    """max_i (max_j <B x_i, x_j> - <B x_i, x_i>): zero exactly on the set S.

    S is where every token is its own best match in the hull; B = Q^T K is the identity
    when left out.
    """
    measure("mu", mu)
    B = matrix_or_none("B", B)
    x = np.asarray(mu.points, dtype=float)
    seen = x if B is None else x @ np.asarray(B).T
    step = max(1, 2**21 // len(x))  # rows at a time, so that memory is linear in n
    gap = -np.inf
    for k in range(0, len(x), step):
        match = seen[k : k + step] @ x.T
        gap = max(gap, (match.max(axis=1) - np.diag(match, k)).max())
    return float(gap)


def hull_volume(mu: Particles) -> float:
    """The volume of the convex hull: length for d = 1, area for d = 2.

    Zero when the tokens lie in a proper affine subspace.
    """
    measure("mu", mu)
    x = np.asarray(mu.points, dtype=float)
    if x.shape[1] == 1:
        return float(np.ptp(x))
    offsets = x - x[0]
    if np.linalg.matrix_rank(offsets) < x.shape[1]:
        return 0.0
    try:
        return float(scipy.spatial.ConvexHull(x).volume)
    except scipy.spatial.QhullError:  # flat to rounding, though not to the rank above
        return 0.0
