"""Phase 3 for targets with several atoms: cut each input into parts by caps.

A gate on the cap {<e, x> > c} with its pull at the center e moves points straight to
e, each on its own great circle: with s = <e, x>, s' = k (s - c)(1 - s^2).
"""

from dataclasses import dataclass

import numpy as np

from pushforward.control.steering.controls import Consensus, Gate
from pushforward.control.steering.moving import Destinations, make_room
from pushforward.control.steering.steered import Plan
from pushforward.control.steering.targets import (
    Cloud,
    Goal,
    angles,
    capped,
    random_directions,
    tangent,
    unit,
)
from pushforward.errors import NumericalError

TILTS = (0.15, 0.3, 0.5, 0.7)  # of the axis of a cut, in shares of the free room
TRIES = 48
SAFE = 1e-5  # of the gap at a threshold, as a share of the height of the cap


@dataclass(frozen=True)
class Cut:
    """A cap, the rows of the rest that it takes, and the quality of its threshold."""

    e: np.ndarray
    c: float
    taken: np.ndarray
    off: float
    gap: float


def slice_all(plan: Plan, goals: list[Goal], tol: float) -> Destinations:
    """Cut and collapse every input; returns the clusters and where they belong."""
    shrink(plan)
    atoms = Destinations()
    for i, goal in enumerate(goals):
        rest = np.ones(len(plan.clouds[i].points), dtype=bool)
        for k, mass in enumerate(goal.masses):
            last = k == len(goal.masses) - 1
            cut = _next_cut(plan, atoms, i, rest, None if last else mass, goal.image)
            gate, duration = collapse(plan.clouds[i].points[cut.taken], cut, tol)
            share = plan.clouds[i].weights[cut.taken].sum()
            word = "collapse" if last else "slice"
            plan.append(word, f"input {i}: mass {share:.4g}", gate, duration)
            place = goal.place(k, cut.taken, plan.clouds[i].weights)
            atoms.add(i, cut.taken, place, float(mass))
            rest = rest & ~cut.taken
    return atoms


def _next_cut(plan: Plan, atoms: Destinations, i: int, rest, mass, image) -> Cut:
    """The best cut; when collapsed parts stand in the way, they first make room."""
    cut = choose(plan, i, rest, mass, image)
    if cut is None:
        make_room(plan, atoms, plan.clouds[i].points[rest])
        cut = choose(plan, i, rest, mass, image)
    if cut is None:
        raise NumericalError(
            f"no cap separates a part of input {i} from everything else. Fewer atoms, "
            "or inputs that differ more, leave more room.",
            partial=tuple(plan.log),
        )
    return cut


def shrink(plan: Plan) -> None:
    """Contract inputs by attention until each lies in a cap of its own."""
    d, elapsed = plan.clouds[0].points.shape[1], 0.0
    piece, clouds = Consensus(0.0, d), plan.clouds
    while not _roomy(clouds) and elapsed < 12:
        clouds = [piece.move(cloud, 0.25) for cloud in clouds]
        elapsed += 0.25
    if elapsed:
        plan.append("shrink", "contract each input", piece, elapsed)
    if not capped(plan.clouds):
        raise NumericalError(
            "inputs contract to points that are too close to be cut apart. Give "
            "inputs that differ more.",
            partial=tuple(plan.log),
        )


def _roomy(clouds: list[Cloud]) -> bool:
    if max(cloud.radius for cloud in clouds) > 1.0:
        return False
    return capped([Cloud(c.points, c.weights) for c in clouds], 0.1) or (
        capped(clouds) and max(c.radius for c in clouds) < 0.05
    )


def choose(
    plan: Plan, i: int, rest: np.ndarray, mass: float | None, image: np.ndarray | None
) -> Cut | None:
    """The best cap that takes this mass of the rest of input i and nothing else.

    Without a mass it takes all the rest. With an image (a transport map at the points)
    the part is the one that the map keeps together, else the one with the widest gap.
    """
    cloud, others = plan.clouds[i], plan.others(i, rest)
    axes = _axes(plan, cloud, rest, others)
    cuts = [_cut(cloud, rest, others, mass, e) for e in axes]
    cuts = [cut for cut in cuts if cut.gap > 0]
    if image is None or mass is None:
        cuts.sort(key=lambda cut: (cut.off > 1e-12, -cut.gap))
    else:
        scatter = lambda cut: _scatter(image, cloud.weights, cut.taken)  # noqa: E731
        cuts.sort(key=lambda cut: (cut.off > 1e-12, cut.gap < SAFE, scatter(cut)))
    for cut in cuts:
        left = cloud.points[rest & ~cut.taken]
        if not len(left) or _divisible(left, np.vstack([others, cut.e])):
            return cut
    return None


def _divisible(x: np.ndarray, others: np.ndarray) -> bool:
    """Whether a cap can hold all of x and none of the others, with some room.

    A part cut from the middle of a cloud would leave a ring, which no cap holds.
    """
    e = separating_axis(x, others)
    return bool((x @ e).min() - (others @ e).max() > 1e-3 * (1 - (x @ e).min()))


def _axes(plan: Plan, cloud: Cloud, rest: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The center of the rest, its side away from the others, and tilts of both."""
    x, w = cloud.points[rest], cloud.weights[rest]
    center, room = unit(w @ x), 1.6
    axes = [center]
    if len(others):
        room = min(room, float(angles(center[None], others).min()))
        axes.append(separating_axis(x, others))
    aside = random_directions(plan.rng, TRIES, len(center))
    tilted = [
        np.cos(t * room) * axis + np.sin(t * room) * unit(tangent(axis, aside))
        for axis in axes
        for t in TILTS
    ]
    return np.concatenate([np.stack(axes), *tilted])


def separating_axis(x: np.ndarray, y: np.ndarray, steps: int = 400) -> np.ndarray:
    """Toward x from y: the normal of the widest slab between the two hulls.

    Frank-Wolfe on the distance between the convex hulls, with exact line search.
    """
    p, q = x.mean(axis=0), y.mean(axis=0)
    for _ in range(steps):
        e = p - q
        low, high = x[(x @ e).argmin()], y[(y @ e).argmax()]
        step = (low - p) - (high - q)
        size = float(step @ step)
        if size < 1e-24 or -(e @ step) < 1e-9 * float(e @ e):
            break
        share = min(-float(e @ step) / size, 1.0)
        p, q = p + share * (low - p), q + share * (high - q)
    return unit(p - q)


def _cut(
    cloud: Cloud,
    rest: np.ndarray,
    others: np.ndarray,
    mass: float | None,
    e: np.ndarray,
) -> Cut:
    heights = np.where(rest, cloud.points @ e, -np.inf)
    order = np.argsort(-heights, kind="stable")[: int(rest.sum())]
    total = np.cumsum(cloud.weights[order])
    wanted = total[-1] if mass is None else mass
    count = int(np.argmin(np.abs(total - wanted))) + 1
    floor = float((others @ e).max()) if len(others) else -1.0
    if count < len(order):
        floor = max(floor, float(heights[order[count]]))
    lowest = float(heights[order[count - 1]])
    floor = max(floor, lowest - 0.5 * (1 - lowest) - 0.02)  # no larger than needed
    c = (lowest + floor) / 2
    taken = np.zeros(len(heights), dtype=bool)
    taken[order[:count]] = True
    gap = (lowest - floor) / (1 - c)
    return Cut(e, c, taken, abs(float(total[count - 1] - wanted)), gap)


def _scatter(image: np.ndarray, weights: np.ndarray, taken: np.ndarray) -> float:
    """Mean squared distance of the image of a part to its own mean."""
    w = weights[taken] / weights[taken].sum()
    y = image[taken]
    return float(w @ np.sum((y - w @ y) ** 2, axis=1))


def collapse(points: np.ndarray, cut: Cut, tol: float) -> tuple[Gate, float]:
    """The gate that takes the part to the center of its cap, within the angle tol."""
    c, s = cut.c, float((points @ cut.e).min())
    up, down = 2 * (1 - c), 2 * (1 + c)

    def clock(above: float, below: float, s: float) -> float:
        # partial fractions of 1 / ((s - c)(1 - s)(1 + s))
        return np.log(above) / (1 - c**2) - np.log(below) / up - np.log(1 + s) / down

    duration = clock(1 - c, tol**2 / 2, 1.0) - clock(s - c, 1 - s, s)
    strength = 1 / (1 - c)
    return Gate(cut.e, c, strength * cut.e), float(duration / strength)
