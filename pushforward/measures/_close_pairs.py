"""Which points hang together at a distance, in any dimension, without all pairs.

|<x, u> - <y, u>| <= |x - y| for every unit vector u: where the sorted projections on u
leave a gap wider than the distance, no pair crosses it. A few directions cut a cloud
into groups, most of them single points or tight clusters; a tight cluster is settled by
the distances to one of its points. What is left is compared block by block along a
direction, by matrix products that only propose pairs; differences decide.
"""

import numpy as np
import scipy
from jaxtyping import Float, Int

DIRECTIONS = 8
STARS = 2  # points of a group whose distances to the whole group are taken
BALLS, PATIENCE = 64, 4  # crowds that are looked for, and failures until that ends
ROWS, COLUMNS = 2048, 4096
MANY = 2**20  # pairs that are compared at once


def linked(points: Float[np.ndarray, "n d"], distance: float) -> np.ndarray:
    """A label for each point: chains of points at most `distance` apart share one."""
    points = np.asarray(points, float)
    points = points - points.mean(axis=0)  # the smaller, the better products round
    group, along = cut_at_gaps(points, distance)
    labels = np.arange(len(points))
    for turn in range(STARS):
        star = _near_one_of_them(points, group, distance, turn)
        labels = joined(labels, *star)
    labels, left = _unsettled(group, labels)
    labels, left = _without_crowds(points, labels, left, distance)
    if len(left):
        order = left[np.lexsort((along[left], group[left]))]
        labels = _by_blocks(points, group, along, order, labels, distance)
    return labels


def joined(
    labels: Int[np.ndarray, "n"], a: Int[np.ndarray, "p"], b: Int[np.ndarray, "p"]
) -> np.ndarray:
    """The labels after the points a[k] and b[k] have been put together."""
    n = int(labels.max()) + 1
    edges = scipy.sparse.coo_array(
        (np.ones(len(a)), (labels[a], labels[b])), shape=(n, n)
    )
    return scipy.sparse.csgraph.connected_components(edges, directed=False)[1][labels]


def cut_at_gaps(
    points: Float[np.ndarray, "n d"], distance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Groups that no pair crosses, and the direction along which they reach widest."""
    n, d = points.shape
    rounding = 1e-14 * np.sqrt(d) * max(1e-300, np.abs(points).max(initial=0.0))
    rng = np.random.default_rng(0)
    group, widest, along = np.zeros(n, dtype=np.int64), -1.0, np.zeros(n)
    some = np.arange(n)  # those that are not alone yet
    for _ in range(DIRECTIONS):
        u = rng.normal(size=d)
        p = points @ (u / np.linalg.norm(u))
        if p.std() > widest:
            widest, along = p.std(), p
        order = some[np.lexsort((p[some], group[some]))]
        gap = np.diff(p[order]) > distance + rounding
        change = np.diff(group[order]) > 0
        if not np.any(gap & ~change):
            break
        ends = np.concatenate([[True], gap | change])
        fresh = group.max() + np.cumsum(ends)
        group[order] = fresh
        alone = ends & np.append(ends[1:], True)
        some = order[~alone]
        if not len(some):
            break
    return np.unique(group, return_inverse=True)[1], along


def _near_one_of_them(points, group, distance: float, turn: int):
    """Points and one of their group that they are close to."""
    order = np.argsort(group, kind="stable")
    first = np.searchsorted(group[order], np.arange(group.max() + 1))
    size = np.diff(first, append=len(group))
    center = order[first + turn * (size // STARS)][group]
    near = np.flatnonzero(_close(points, np.arange(len(group)), center, distance))
    return near, center[near]


def _unsettled(group: np.ndarray, labels: np.ndarray):
    """Labels from 0 without holes, and the points of groups with several labels."""
    _, labels = np.unique(labels, return_inverse=True)
    low = np.full(group.max() + 1, len(labels))
    high = np.zeros_like(low)
    np.minimum.at(low, group, labels)
    np.maximum.at(high, group, labels)
    return labels, np.flatnonzero((low < high)[group])


def _without_crowds(points, labels, left: np.ndarray, distance: float):
    """Labels after crowded balls were joined, and the points that still need a look.

    All points of a ball are within the distance of its center. Of a ball that no
    other point and no other ball comes close to, nothing is left to ask.
    """
    x, rng = points[left], np.random.default_rng(1)
    ball, free = np.full(len(x), -1), np.arange(len(x))
    away: list[np.ndarray] = []  # from every point to every center
    sizes: list[float] = []  # the radii of the balls
    poor = 0
    while len(free) and poor < PATIENCE and len(away) < BALLS:
        center = free[rng.integers(len(free))]
        away.append(np.linalg.norm(x - x[center], axis=1))
        members = free[away[-1][free] <= distance]
        sizes.append(away[-1][members].max())
        ball[members] = len(away) - 1
        labels = joined(labels, left[members], left[np.full(len(members), center)])
        poor = 0 if len(members) > len(free) / 50 else poor + 1
        free = np.flatnonzero(ball < 0)
    if not len(x):
        return labels, left
    reached = np.stack(away, axis=1) <= distance * (1 + 1e-9) + np.array(sizes)
    reached[np.arange(len(x)), np.maximum(ball, 0)] &= ball < 0
    exposed = np.append(reached[ball < 0].any(axis=0), True)[ball]
    return labels, left[exposed | reached.any(axis=1)]


def _close(points, a: np.ndarray, b: np.ndarray, distance: float) -> np.ndarray:
    """Whether |x_a - x_b| <= distance: by differences, which round harmlessly."""
    step = max(1, 2**24 // points.shape[1])
    parts = [
        np.linalg.norm(points[a[k : k + step]] - points[b[k : k + step]], axis=1)
        for k in range(0, len(a), step)
    ]
    return np.concatenate([np.zeros(0), *parts]) <= distance


def _by_blocks(points, group, along, order, labels, distance: float) -> np.ndarray:
    """Every block of points against those after it that its projections can reach."""
    x, groups, p = points[order], group[order], along[order]
    left, right, limit = _squared_distances(x, distance)
    reach = distance + 1e-14 * max(1e-300, np.abs(p).max())
    mine = labels[order]
    for start in range(0, len(x), ROWS):
        stop = min(start + ROWS, len(x))
        last = np.searchsorted(groups, groups[stop - 1], side="right")
        end = stop + np.searchsorted(p[stop:last], p[stop - 1] + reach, side="right")
        for first in range(start, end, COLUMNS):
            columns = slice(first, min(first + COLUMNS, end))
            near = left[start:stop] @ right[columns].T <= limit
            if first == start:  # a point is near itself
                np.fill_diagonal(near, False)
            if near.any():
                mine = _settle(x, mine, near, (start, first), distance)
    _, where, member = np.unique(mine, return_index=True, return_inverse=True)
    return joined(labels, order, order[where[member]])


def _squared_distances(x: np.ndarray, distance: float):
    """Factors whose products are |x_i - x_j|^2, and the most that rounding allows."""
    squares = np.einsum("ij,ij->i", x, x)[:, None]
    rounding = 4 * (x.shape[1] + 4) * squares.max()
    kind = np.float32 if distance**2 > rounding * 1.2e-7 else np.float64
    ones = np.ones_like(squares)
    left = np.hstack([x, squares, ones]).astype(kind)
    right = np.hstack([-2 * x, ones, squares]).astype(kind)
    return left, right, kind(distance**2 + rounding * np.finfo(kind).eps)


def _settle(x, mine, near: np.ndarray, at: tuple[int, int], distance: float):
    """The labels after every proposed pair of a block has been looked at."""
    start, left = at
    rows = slice(start, start + near.shape[0])
    columns = slice(left, left + near.shape[1])
    near &= mine[rows, None] != mine[None, columns]
    while np.count_nonzero(near) > MANY:  # a crowd: one pair a row joins most of it
        i = np.flatnonzero(near.any(axis=1))
        j = near[i].argmax(axis=1)
        near[i, j] = False
        yes = _close(x, start + i, left + j, distance)
        if not yes.any():
            break
        mine = joined(mine, start + i[yes], left + j[yes])
        near &= mine[rows, None] != mine[None, columns]
    i, j = np.nonzero(near)
    yes = _close(x, start + i, left + j, distance)
    return joined(mine, start + i[yes], left + j[yes])
