"""Transport on the circle: unroll it, and choose where to cut; on the sphere by great
circles in place of lines."""

from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.transport._atoms import (
    Atoms,
    Plan,
    affordable,
    as_atoms,
    as_floats,
    certified_dual,
    on_the_line,
    same_dimension,
)
from pushforward.transport._costs import unit_rows
from pushforward.transport.exact._line import SlicedDistance, _power

TURN = 2 * np.pi
GOLDEN = (np.sqrt(5) - 1) / 2


def circle_plan(mu: object, nu: object, *, p: float = 2.0) -> Plan:
    """The optimal coupling of two measures on the circle, cost (arc length)^p.

    Points are angles in radians, (n,) or (n, 1), or unit vectors (n, 2).

    >>> import numpy as np
    >>> plan = circle_plan([0.1], [2 * np.pi - 0.1], p=1)
    >>> round(plan.cost, 12)
    0.2
    """
    p = _power(p)
    a, b = _angles("mu", mu), _angles("nu", nu)
    affordable(a.n, b.n)
    x, y = a.points[:, 0], b.points[:, 0]
    arc = np.abs(np.subtract.outer(x, y))
    table = np.minimum(arc, TURN - arc) ** p
    theta = _best_cut(a, b, p)
    pieces = _pieces(a, b, theta)
    i, j, mass, _ = pieces
    matrix = csr_array((mass, (i, j)), shape=(a.n, b.n))
    total = float(mass @ table[i, j])
    f = _potential(a, b, p, pieces)
    dual, potentials = certified_dual(table, f, a.weights, b.weights)
    return Plan(matrix, a, b, total, total, total - dual, potentials)


def _potential(
    a: Atoms, b: Atoms, p: float, pieces: tuple[np.ndarray, ...]
) -> np.ndarray:
    """f with f + g = c along the staircase, made periodic.

    Unrolled, the potentials gain a drift per turn. Where source and target change
    together there are two ways to go on, of drift of opposite signs at the optimal
    cut: the combination without drift is a potential of the circle.
    """
    i, j, _, turns = pieces
    x = np.append(a.points[i, 0], a.points[i[0], 0] + TURN)
    y = np.append(b.points[j, 0] + TURN * turns, b.points[j[0], 0])
    y[-1] += TURN * (turns[0] + 1)
    source_first, drift_1 = _walk(x, y, i, p)
    # the other way round is the same walk seen from the target
    target_first, drift_2 = _walk(x, y, i, p, target_first=True)
    spread = drift_2 - drift_1
    share = 0.5 if spread == 0 else np.clip(drift_2 / spread, 0.0, 1.0)
    f = np.zeros(a.n)
    f[i] = share * source_first + (1 - share) * target_first
    return f


def _walk(
    x: np.ndarray, y: np.ndarray, i: np.ndarray, p: float, *, target_first: bool = False
) -> tuple[np.ndarray, float]:
    """f at each piece, and what it gained over one turn."""
    f, g = 0.0, abs(x[0] - y[0]) ** p
    out = np.zeros(len(x))
    for k in range(1, len(x)):
        moved_x, moved_y = x[k] != x[k - 1], y[k] != y[k - 1]
        if moved_y and (target_first or not moved_x):
            g = abs(x[k - 1] - y[k]) ** p - f
            moved_y = False
        if moved_x:
            at = y[k - 1] if moved_y else y[k]
            f = abs(x[k] - at) ** p - g
        if moved_y:
            g = abs(x[k] - y[k]) ** p - f
        out[k] = f
    return out[: len(i)], float(out[-1])


def circle_distance(mu: object, nu: object, *, p: float = 2.0) -> float:
    """W_p between two measures on the circle, in n log n and without a matrix."""
    p = _power(p)
    a, b = _angles("mu", mu), _angles("nu", nu)
    return float(_cost_at(a, b, p, _best_cut(a, b, p)) ** (1 / p))


def _angles(name: str, mu: object) -> Atoms:
    points: Any = getattr(mu, "points", mu[0] if isinstance(mu, tuple) and mu else mu)
    x = as_floats(f"points of {name}", points)
    if x.ndim == 2 and x.shape[1] == 2:
        atoms = as_atoms(name, mu)
        off = float(np.abs(np.linalg.norm(atoms.points, axis=1) - 1).max())
        if off > 1e-6:
            raise InputError(
                f"points of {name} are off the unit circle by {off:.2g}; pass angles, "
                f"or divide each row by its norm."
            )
        angle = np.arctan2(atoms.points[:, 1], atoms.points[:, 0])
    else:
        atoms = on_the_line(name, mu)
        angle = atoms.points[:, 0]
    return Atoms(np.mod(angle, TURN)[:, None], atoms.weights)


def _pieces(
    a: Atoms, b: Atoms, theta: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Source, target, mass and number of turns of each piece of the coupling."""
    row = np.argsort(a.points[:, 0], kind="stable")
    column = np.argsort(b.points[:, 0], kind="stable")
    row, column = row[a.weights[row] > 0], column[b.weights[column] > 0]
    up_a, up_b = np.cumsum(a.weights[row]), np.cumsum(b.weights[column])
    up_a[-1] = up_b[-1] = 1.0
    levels = np.sort(np.concatenate([up_a, np.mod(up_b - theta, 1.0)]))
    levels = levels[np.append(True, np.diff(levels) > 4e-16 * len(levels))]
    mass = np.diff(levels, prepend=0.0)
    middle = levels - mass / 2
    shifted = middle + theta
    turns = np.floor(shifted)
    i = row[np.minimum(np.searchsorted(up_a, middle), len(row) - 1)]
    j = column[np.minimum(np.searchsorted(up_b, shifted - turns), len(column) - 1)]
    kept = mass > 1e-15
    return i[kept], j[kept], mass[kept], turns[kept]


def _cost_at(a: Atoms, b: Atoms, p: float, theta: float) -> float:
    i, j, mass, turns = _pieces(a, b, theta)
    lifted = b.points[j, 0] + TURN * turns
    return float(mass @ np.abs(a.points[i, 0] - lifted) ** p)


def _best_cut(a: Atoms, b: Atoms, p: float) -> float:
    """Golden section on the convex function, then the breakpoint it ends at."""
    low, high = -1.5, 1.5
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = _cost_at(a, b, p, left), _cost_at(a, b, p, right)
    while high - low > 1e-11:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = _cost_at(a, b, p, left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = _cost_at(a, b, p, right)
    return _nearest_breakpoint(a, b, (low + high) / 2)


def _nearest_breakpoint(a: Atoms, b: Atoms, theta: float) -> float:
    """The theta nearest to the given one at which a level of mu meets one of nu."""
    up_a = np.cumsum(a.weights[np.argsort(a.points[:, 0], kind="stable")])
    up_b = np.cumsum(b.weights[np.argsort(b.points[:, 0], kind="stable")])
    lifted = np.concatenate([up_b - 2, up_b - 1, up_b, up_b + 1, up_b + 2])
    at = np.searchsorted(lifted, up_a + theta)
    candidates = np.concatenate(
        [lifted[np.clip(at - s, 0, len(lifted) - 1)] - up_a for s in (0, 1)]
    )
    return float(candidates[np.argmin(np.abs(candidates - theta))])


def sphere_sliced_distance(
    mu: object, nu: object, *, p: float = 2.0, projections: int = 200, seed: int
) -> SlicedDistance:
    """SSW_p^p = E over great circles U of W_p^p(P_U mu, P_U nu), by arcs.

    P_U x = U^T x / |U^T x| is the nearest point of the circle to x, U an orthonormal
    frame of two vectors, uniform. Costs n log n a circle. In dimension two there is one
    circle, and the answer is `circle_distance`, without error. `power` is SSW_p^p,
    `standard_error` its error from finitely many circles.

    >>> import numpy as np
    >>> found = sphere_sliced_distance(np.eye(2)[:1], np.eye(2)[1:], seed=0)
    >>> round(found.distance, 6), found.standard_error < 1e-12  # pi/2
    (1.570796, True)

    [bonet2023spherical]
    """
    p, count = _power(p), whole("projections", projections, 2)
    a, b = as_atoms("mu", mu), as_atoms("nu", nu)
    same_dimension(a, b)
    unit_rows(a.points, b.points)
    planes = great_circles(a.points.shape[1], count, whole("seed", seed, 0))
    powers = np.array(
        [
            circle_distance(_on_circle(a, plane), _on_circle(b, plane), p=p) ** p
            for plane in planes
        ]
    )
    mean = float(powers.mean())
    error = float(powers.std(ddof=1) / np.sqrt(count))
    return SlicedDistance(mean ** (1 / p), mean, error)


def great_circles(d: int, count: int, seed: int) -> Float[np.ndarray, "k d 2"]:
    """Orthonormal frames of two vectors of R^d, uniform and independent."""
    rng = np.random.default_rng(seed)
    return np.stack(
        [np.linalg.qr(rng.standard_normal((d, 2)))[0] for _ in range(count)]
    )


def _on_circle(atoms: Atoms, plane: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angles of the nearest points of a great circle, with their weights."""
    u = atoms.points @ plane
    return np.arctan2(u[:, 1], u[:, 0]), atoms.weights
