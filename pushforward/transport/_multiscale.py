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
from scipy.sparse import coo_array, csr_array
from scipy.spatial import cKDTree

from pushforward.transport._atoms import Atoms, Plan
from pushforward.transport._costs import Cost, InnerProduct, SquaredDistance

GROUP = 4  # points that become one on the level above
COARSEST = 400  # points of a level whose pairs are all looked at
NEIGHBORS = 8  # pairs for every point, from each side
ROUNDING = 1e-15  # of costs, relative to the largest
ROUNDS = 100  # at most; five or so are enough
ROUGH = 2  # rounds on a level that only starts the next one
BLOCK = 4_000_000  # pairs looked at together where there is no tree
AXES = 3  # along which points are put in order
DEEPEST = 6  # dimension up to which trees are worth their while

Solver = Callable[[np.ndarray, np.ndarray, coo_array], tuple]
Progress = Callable[[int, float], object]


class Solved(NamedTuple):
    """A plan on some pairs, feasible potentials, and the pairs that it should see."""

    plan: coo_array
    f: Float[np.ndarray, "n"]
    g: Float[np.ndarray, "m"]
    cost: float
    gap: float
    noise: float
    missing: Int[np.ndarray, "s"]


@dataclass(frozen=True)
class Program:
    """Transport of two clouds without empty atoms, and who solves it for some pairs."""

    a: Atoms
    b: Atoms
    cost: Cost
    solver: Solver

    def costs(self, pairs: Int[np.ndarray, "s"]) -> Float[np.ndarray, "s"]:
        """The cost of every pair i m + j."""
        i, j = np.divmod(pairs, self.b.n)
        return paired(self.cost, self.a.points[i], self.b.points[j])

    def solved(self, pairs: Int[np.ndarray, "s"]) -> Solved:
        """The best plan on these pairs, and what it says about all others."""
        values = self.costs(pairs)
        unit = float(np.abs(values).max()) or 1.0  # the tolerances are absolute
        shape, (a, b) = (self.a.n, self.b.n), (self.a.weights, self.b.weights)
        i, j = np.divmod(pairs, self.b.n)
        table = coo_array((values / unit, (i, j)), shape=shape)
        plan, log = self.solver(a, b, table)
        f, g = (unit * np.asarray(log[name]) for name in ("u", "v"))
        seen = plan.tocoo()
        total = float(
            seen.data @ self.costs(seen.row.astype(np.int64) * len(b) + seen.col)
        )
        rows = nearest(self.cost, self.a.points, self.b.points, g)
        columns = nearest(self.cost, self.b.points, self.a.points, f)
        noise = ROUNDING * unit
        i, j = np.arange(len(a))[:, None], np.arange(len(b))[:, None]
        first = (i * len(b) + rows.index)[rows.value < f[:, None] - noise]
        second = (columns.index * len(b) + j)[columns.value < g[:, None] - noise]
        best = rows.value[:, 0]
        gap = total - float(a @ best + b @ g)
        return Solved(seen, best, g, total, gap, noise, np.union1d(first, second))


@dataclass(frozen=True)
class Nearest:
    """For every point, the others of least c_ij - g_j, and these, in order."""

    index: Int[np.ndarray, "n k"]
    value: Float[np.ndarray, "n k"]


def sparse_plan(
    a: Atoms,
    b: Atoms,
    cost: Cost,
    solver: Solver,
    tol: float,
    progress: Progress,
) -> Plan:
    """The cheapest coupling with its gap; potentials are feasible everywhere."""
    left, right = np.flatnonzero(a.weights), np.flatnonzero(b.weights)
    small = (Atoms(z.points[k], z.weights[k]) for z, k in ((a, left), (b, right)))
    program = Program(*small, cost, solver)
    found, count = _solved(program, tol, ROUNDS, progress)
    plan, f, g = found.plan, found.f, found.g
    places = (left[plan.row], right[plan.col])
    matrix = csr_array((plan.data, places), shape=(a.n, b.n))
    if a.n > len(left) or b.n > len(right):  # what carries no mass has potentials too
        f = nearest(cost, a.points, program.b.points, g, 1).value[:, 0]
        g = nearest(cost, b.points, program.a.points, f[left], 1).value[:, 0]
    return Plan(matrix, a, b, found.cost, found.cost, found.gap, (f, g), count)


def _solved(
    program: Program, tol: float, rounds: int, progress: Progress
) -> tuple[Solved, int]:
    """Rounds of a level, after those of the levels above it."""
    pairs, count = _first_pairs(program), 0
    while True:
        found = program.solved(pairs)
        count += 1
        progress(count, found.gap)
        new = np.setdiff1d(found.missing, pairs, assume_unique=True)
        enough = found.gap <= max(tol * abs(found.cost), found.noise)
        if enough or not len(new) or count >= rounds:
            return found, count
        pairs = np.union1d(pairs, new)


def _first_pairs(program: Program) -> Int[np.ndarray, "s"]:
    """All pairs of few points; of many, the best by the potentials of fewer."""
    a, b = program.a, program.b
    n, m = a.n, b.n
    if max(n, m) <= COARSEST:
        return np.arange(n * m)
    orders = in_order(a.points), in_order(b.points)
    coarse = [_grouped(z, order) for z, order in zip((a, b), orders, strict=True)]
    above = Program(*coarse, program.cost, program.solver)
    found, _ = _solved(above, 0.0, ROUGH, lambda count, gap: None)
    far = nearest(program.cost, a.points, coarse[1].points, found.g, 1).value[:, 0]
    back = nearest(program.cost, b.points, coarse[0].points, found.f, 1).value[:, 0]
    rows = nearest(program.cost, a.points, b.points, back).index
    columns = nearest(program.cost, b.points, a.points, far).index
    first = np.arange(n)[:, None] * m + rows
    second = columns * m + np.arange(m)[:, None]
    # these alone may allow no coupling at all
    some = _staircase(orders, a.weights, b.weights)
    return np.unique(np.concatenate([first.ravel(), second.ravel(), some]))


def _grouped(atoms: Atoms, order: Int[np.ndarray, "n"]) -> Atoms:
    """Every few neighbors as one atom, at the place of one of them."""
    starts = np.arange(0, atoms.n, GROUP)
    weights = np.add.reduceat(atoms.weights[order], starts)
    middle = order[np.minimum(starts + GROUP // 2, atoms.n - 1)]
    return Atoms(atoms.points[middle], weights)


def _staircase(orders, a: np.ndarray, b: np.ndarray) -> Int[np.ndarray, "s"]:
    """Pairs of a coupling: both clouds spent in order."""
    first, second = orders
    up = [np.cumsum(w[k]) for w, k in ((a, first), (b, second))]
    for levels in up:
        levels /= levels[-1]
    levels = np.union1d(*up)
    middle = levels - np.diff(levels, prepend=0.0) / 2
    i, j = (np.minimum(np.searchsorted(u, middle), len(u) - 1) for u in up)
    return first[i] * len(b) + second[j]


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
        yield tuple(np.take_along_axis(z, order, axis=1) for z in (index, values))


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
