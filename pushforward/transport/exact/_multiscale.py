"""Exact transport of many points: a linear program that is given few of its columns.

An optimal plan of n and m points has at most n + m - 1 pairs. Here the network simplex
sees pairs that look promising only, and its potentials say which others could lower the
cost: those with c_ij < f_i + g_j, the nearest by the cost c_ij - g_j. They are added
until none is left, which proves the plan. For squared distances such a nearest point is
found by a tree, in one dimension more,

    |x - y_j|^2 - g_j = |(x, 0) - (y_j, sqrt(top - g_j))|^2 - top,   top = max g;

other costs look through all pairs, block by block. The first pairs come from potentials
of the same problem with a quarter of the points, and so on down. [schmitzer2016sparse]
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from pushforward.transport._atoms import Atoms, Plan
from pushforward.transport._costs import Cost, InnerProduct, SquaredDistance
from pushforward.transport.exact._simplex import Flow, Simplex

GROUP = 4  # points that become one on the level above
COARSEST = 400  # points of a level whose pairs are all looked at
FIRST = 8  # pairs for every point, from each side, in the first round
NEIGHBORS = 3  # and at most in every later one
ROUNDING = 1e-15  # of costs, relative to the largest
ROUNDS = 200  # at most; five or so are enough
ROUGH = 1e-3  # the gap, over the cost, of a level that only starts the next one
BLOCK = 4_000_000  # pairs looked at together where there is no tree
AXES = 3  # along which points are put in order
DEEPEST = 6  # dimension up to which trees are worth their while

Progress = Callable[[int, float], object]


@dataclass(frozen=True)
class Program:
    """Transport of two clouds without empty atoms."""

    a: Atoms
    b: Atoms
    cost: Cost

    def costs(self, pairs: Int[np.ndarray, "s"]) -> Float[np.ndarray, "s"]:
        """The cost of every pair i m + j."""
        i, j = np.divmod(pairs, self.b.n)
        return paired(self.cost, self.a.points[i], self.b.points[j])

    def judged(self, flow: Flow, noise: float) -> "Judged":
        """What the potentials say of all pairs, seen or not."""
        a, b, (f, g) = self.a, self.b, (flow.f, flow.g)
        rows = nearest(self.cost, a.points, b.points, g)
        columns = nearest(self.cost, b.points, a.points, f)
        i, j = np.arange(a.n)[:, None], np.arange(b.n)[:, None]
        first = (i * b.n + rows.index)[rows.value < f[:, None] - noise]
        second = (columns.index * b.n + j)[columns.value < g[:, None] - noise]
        best = rows.value[:, 0]
        total = float(flow.mass @ self.costs(flow.i * b.n + flow.j))
        gap = total - float(a.weights @ best + b.weights @ g)
        return Judged(flow, best, total, gap, _united(first, second))


class Judged(NamedTuple):
    """A flow, the best f for its g, what it costs, and the pairs that would help."""

    flow: Flow
    f: Float[np.ndarray, "n"]
    cost: float
    gap: float
    missing: Int[np.ndarray, "s"]


class First(NamedTuple):
    """Pairs to begin with, and potentials nearby: costs are counted from theirs."""

    pairs: Int[np.ndarray, "s"]
    f: Float[np.ndarray, "n"]
    g: Float[np.ndarray, "m"]


@dataclass(frozen=True)
class Nearest:
    """For every point, the others of least c_ij - g_j, and these, in order."""

    index: Int[np.ndarray, "n k"]
    value: Float[np.ndarray, "n k"]


def sparse_plan(
    a: Atoms, b: Atoms, cost: Cost, pivots: int, tol: float, progress: Progress
) -> Plan:
    """The cheapest coupling with its gap; potentials are feasible everywhere.

    Fewer pivots than it takes leave a plan without all the mass, or with a gap.
    """
    left, right = (np.flatnonzero(z.weights) for z in (a, b))
    left, right = left[in_order(a.points[left])], right[in_order(b.points[right])]
    first, second = (
        Atoms(z.points[k], z.weights[k]) for z, k in ((a, left), (b, right))
    )
    program = Program(first, second, cost)
    found, count = _solved(program, tol, ROUNDS, pivots, progress)
    flow, f, g = found.flow, np.zeros(a.n), np.zeros(b.n)
    f[left], g[right] = found.f, flow.g
    places = (left[flow.i], right[flow.j])
    matrix = csr_array((flow.mass, places), shape=(a.n, b.n))
    if a.n > len(left) or b.n > len(right):  # what carries no mass has potentials too
        f = nearest(cost, a.points, program.b.points, flow.g, 1).value[:, 0]
        g = nearest(cost, b.points, program.a.points, f[left], 1).value[:, 0]
    return Plan(matrix, a, b, found.cost, found.cost, found.gap, (f, g), count)


def _solved(
    program: Program, tol: float, rounds: int, pivots: int, progress: Progress
) -> tuple[Judged, int]:
    """Rounds of a level, after those of the levels above it."""
    (new, f, g), m, count = _first_pairs(program, pivots), program.b.n, 0
    far = largest(program.cost, program.a.points, program.b.points) or 1.0
    noise, pairs = ROUNDING * far, new
    simplex = Simplex(program.a.weights, program.b.weights, far)
    while True:
        i, j = np.divmod(new, m)
        simplex.add(i, j, program.costs(new) - f[i] - g[j])
        done = simplex.run(pivots, noise)
        flow = simplex.read()
        flow = flow._replace(f=flow.f + f, g=flow.g + g)
        found, count = program.judged(flow, noise), count + 1
        progress(count, found.gap)
        new = np.setdiff1d(found.missing, pairs, assume_unique=True)
        enough = found.gap <= max(tol * abs(found.cost), noise)
        whole = found.flow.lost == 0
        if not done or (whole and enough) or not len(new) or count >= rounds:
            return found, count
        pairs = np.sort(np.concatenate([pairs, new]))


def _first_pairs(program: Program, pivots: int) -> First:
    """All pairs of few points; of many, the best by the potentials of fewer."""
    a, b = program.a, program.b
    n, m = a.n, b.n
    if max(n, m) <= COARSEST:
        return First(np.arange(n * m), np.zeros(n), np.zeros(m))
    orders = in_order(a.points), in_order(b.points)
    coarse = [_grouped(z, order) for z, order in zip((a, b), orders, strict=True)]
    above = Program(coarse[0], coarse[1], program.cost)
    found, _ = _solved(above, ROUGH, ROUNDS, pivots, lambda count, gap: None)
    far = nearest(program.cost, a.points, coarse[1].points, found.flow.g, 1).value[:, 0]
    back = nearest(program.cost, b.points, coarse[0].points, found.f, 1).value[:, 0]
    rows = nearest(program.cost, a.points, b.points, back, FIRST)
    columns = nearest(program.cost, b.points, a.points, far, FIRST)
    first = np.arange(n)[:, None] * m + rows.index
    second = columns.index * m + np.arange(m)[:, None]
    return First(_united(first, second), far, columns.value[:, 0])


def _united(first: np.ndarray, second: np.ndarray) -> Int[np.ndarray, "s"]:
    """The numbers in either, each once, in order."""
    both = np.sort(np.concatenate([first.ravel(), second.ravel()]))
    return both[np.append(True, np.diff(both) > 0)] if both.size else both


def _grouped(atoms: Atoms, order: Int[np.ndarray, "n"]) -> Atoms:
    """Every few neighbors as one atom, at the place of one of them."""
    starts = np.arange(0, atoms.n, GROUP)
    weights = np.add.reduceat(atoms.weights[order], starts)
    middle = order[np.minimum(starts + GROUP // 2, atoms.n - 1)]
    return Atoms(atoms.points[middle], weights)


def in_order(points: Float[np.ndarray, "n d"]) -> Int[np.ndarray, "n"]:
    """Along a curve that keeps neighbors together: bits of coordinates, interleaved."""
    x = points - points.mean(axis=0)
    if x.shape[1] > AXES:
        x = x @ np.linalg.svd(x.T @ x)[0][:, :AXES]
    low, span = x.min(axis=0), np.ptp(x, axis=0).max() or 1.0
    cells = ((x - low) / span * (2**20 - 1)).astype(np.uint64)
    code = np.zeros(len(x), np.uint64)
    for bit in range(20):
        for axis in range(x.shape[1]):
            one = (cells[:, axis] >> np.uint64(bit)) & np.uint64(1)
            code |= one << np.uint64(bit * x.shape[1] + axis)
    return np.argsort(code, kind="stable")


def nearest(
    cost: Cost,
    x: Float[np.ndarray, "n d"],
    y: Float[np.ndarray, "m d"],
    g: Float[np.ndarray, "m"],
    count: int = NEIGHBORS,
) -> Nearest:
    """The y_j of least c(x_i, y_j) - g_j, for every x_i."""
    count = min(count, len(y))
    if not by_tree(cost, x.shape[1]):
        parts = list(_searched(cost, x, y, g, count))
        return Nearest(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    inner = isinstance(cost, InnerProduct)  # half a squared distance, and two squares
    lower = np.sum(y**2, axis=1) + 2 * g if inner else g
    lift = np.sqrt(lower.max() - lower)
    tree = cKDTree(np.column_stack([y, lift]))
    at = np.column_stack([x, np.zeros(len(x))])
    index = np.asarray(tree.query(at, range(1, count + 1), workers=-1)[1])
    columns = [paired(cost, x, y[k]) - g[k] for k in index.T]
    values = np.stack(columns, axis=1)
    order = np.argsort(values, axis=1)  # exact to rounding, unlike those of the tree
    return Nearest(*(np.take_along_axis(z, order, axis=1) for z in (index, values)))


def largest(
    cost: Cost, x: Float[np.ndarray, "n d"], y: Float[np.ndarray, "m d"]
) -> float:
    """A bound of all |c(x_i, y_j)|, not far above them."""
    if isinstance(cost, SquaredDistance):
        return float(np.sum(np.ptp(np.vstack([x, y]), axis=0) ** 2))
    if isinstance(cost, InnerProduct):
        sizes = [np.sqrt(np.max(np.sum(z**2, axis=1))) for z in (x, y)]
        return float(sizes[0] * sizes[1])
    rows = max(1, BLOCK // len(y))
    tables = (np.abs(cost(x[k : k + rows], y)) for k in range(0, len(x), rows))
    return max(float(table.max()) for table in tables)


def by_tree(cost: Cost, d: int) -> bool:
    """Whether a tree finds the least c_ij - g_j faster than a look at all pairs."""
    return isinstance(cost, SquaredDistance | InnerProduct) and d <= DEEPEST


def _searched(
    cost: Cost, x: np.ndarray, y: np.ndarray, g: np.ndarray, count: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Among all pairs, some rows at a time."""
    rows = max(1, BLOCK // len(y))
    for start in range(0, len(x), rows):
        table = cost(x[start : start + rows], y) - g
        index = np.argpartition(table, count - 1, axis=1)[:, :count]
        values = np.take_along_axis(table, index, axis=1)
        order = np.argsort(values, axis=1)
        yield (
            np.take_along_axis(index, order, axis=1),
            np.take_along_axis(values, order, axis=1),
        )


def paired(cost: Cost, x: np.ndarray, y: np.ndarray) -> Float[np.ndarray, "s"]:
    """c(x_s, y_s)."""
    if isinstance(cost, SquaredDistance):
        return np.sum((x - y) ** 2, axis=1)
    if isinstance(cost, InnerProduct):
        return -np.sum(x * y, axis=1)
    step = 64  # small tables, of which the diagonal is kept
    parts = [
        np.diagonal(cost(x[k : k + step], y[k : k + step]))
        for k in range(0, len(x), step)
    ]
    return np.concatenate(parts)
