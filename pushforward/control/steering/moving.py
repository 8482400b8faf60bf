"""Phases 2 and 4: gates drive inputs apart that may share every support, and points
travel to their targets.
"""

import numpy as np
from scipy.sparse.csgraph import dijkstra

from pushforward.control.steering.controls import (
    NEAREST,
    BarycenterGate,
    Gate,
    clearance,
    leg,
)
from pushforward.control.steering.steered import Plan
from pushforward.control.steering.targets import (
    Cloud,
    angles,
    capped,
    random_directions,
    unit,
)
from pushforward.errors import NumericalError

STEP, STEPS = 0.2, 50  # of the scalar equation while axes are compared
ENOUGH = 0.8  # radians between two barycenters; less when many must fit on the sphere
LEAST = 0.12  # below this the plan is not accepted
EQUAL = 2e-3  # barycenters this close are first told apart by a perceptron
TRIES = 24


def disentangle(plan: Plan) -> None:
    """Gates along well chosen axes until the directions of barycenters are apart.

    Axes are compared by running the scalar equations: of all (alpha, c, duration) the
    shortest that brings every pair to the wanted angle, else the one that lowers
    sum 1/angle^2 the most. Inputs whose caps are already disjoint need nothing.
    """
    if capped(plan.clouds, 0.05):
        return
    n, d = len(plan.clouds), plan.clouds[0].points.shape[1]
    wanted = min(ENOUGH, 2.0 / n ** (1 / (d - 1)))
    for _ in range(4 * d * n):
        tell_apart(plan)
        before = plan.closest
        if before >= wanted:
            return
        if not _best_gate(plan, wanted):
            break
        if LEAST < plan.closest < 1.05 * before:
            return
    if plan.closest < LEAST:
        raise NumericalError(
            f"after {len(plan.log)} pieces two inputs are still {plan.closest:.2g} rad "
            "apart: they are too alike, or too many for this dimension. Give inputs "
            "that differ more, or fewer at a time.",
            partial=tuple(plan.log),
        )


def tell_apart(plan: Plan) -> None:
    """Where two barycenters are equal: one perceptron gate that moves them apart.

    The rate at which a gate moves the difference of two barycenters is
    (int (<a, x> - c)_+ P_x d(mu - nu)) w; cap and w are those with the largest rate.
    """
    for _ in range(len(plan.clouds)):
        means = np.stack([cloud.barycenter for cloud in plan.clouds])
        gaps = np.linalg.norm(means[:, None] - means[None], axis=-1)
        np.fill_diagonal(gaps, np.inf)
        if gaps.min() >= EQUAL:
            return
        i, j = np.unravel_index(gaps.argmin(), gaps.shape)
        gate = _telling_gate(plan.rng, plan.clouds[i], plan.clouds[j])
        action = f"tell apart equal barycenters {i} and {j}"
        plan.append("disentangle", action, gate, 2.0)


def _telling_gate(rng: np.random.Generator, mu: Cloud, nu: Cloud) -> Gate:
    best, found = -1.0, None
    support = np.concatenate([mu.points, nu.points])
    signed = np.concatenate([mu.weights, -nu.weights])
    centers = support[rng.integers(len(support), size=4 * TRIES)]
    for a in centers:
        heights = support @ a
        for c in np.quantile(heights, [0.25, 0.5, 0.75]):
            g = signed * np.maximum(heights - c, 0.0)
            rate = g.sum() * np.eye(len(a)) - (support * g[:, None]).T @ support
            _, size, right = np.linalg.svd(rate)
            speed = max(heights.max() - c, 1e-9)
            if size[0] / speed > best:
                best, found = size[0] / speed, Gate(a, float(c), right[0] / speed)
    assert found is not None
    return found


def _best_gate(plan: Plan, wanted: float) -> bool:
    """Append the best gate found; False when none helps."""
    axes, levels = _candidates(plan)
    means = np.stack([_barycenters(c, axes, levels) for c in plan.clouds])  # n t a d
    closest, energy = _separation(means)
    start = energy[0].min()
    reached = closest >= wanted
    if reached.any():
        first = int(np.argmax(reached.any(axis=1)))
        best = first, int(np.argmax(np.where(reached[first], closest[first], 0)))
    else:
        flat = int(energy.argmin())
        best = flat // energy.shape[1], flat % energy.shape[1]
        if energy[best] > 0.98 * start:
            return False
    time, pick = best
    gate = BarycenterGate(axes[pick], float(levels[pick]))
    high = means[:, 0, pick] @ axes[pick] > levels[pick]
    names = ",".join(map(str, np.flatnonzero(high)))
    low = ",".join(map(str, np.flatnonzero(~high)))
    plan.append("disentangle", f"barycenter gate: {names} | {low}", gate, STEP * time)
    return True


def _candidates(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Axes along differences of barycenters and at random; thresholds in the gaps."""
    means = np.stack([cloud.barycenter for cloud in plan.clouds])
    n, d = means.shape
    i, j = np.triu_indices(n, 1)
    axes = np.concatenate(
        [unit(means[i] - means[j]), random_directions(plan.rng, TRIES, d)]
    )
    centers = np.sort(means @ axes.T, axis=0)  # (n, axes)
    gaps = np.diff(centers, axis=0)
    place = gaps.argmax(axis=0)
    pick = np.arange(len(axes))
    levels = (centers[place, pick] + centers[place + 1, pick]) / 2
    # the pair itself must be cut as well: its own middle is a second threshold
    own = np.sum((means[i] + means[j]) / 2 * axes[: len(i)], axis=1)
    return np.concatenate([axes, axes[: len(i)]]), np.concatenate([levels, own])


def _barycenters(cloud: Cloud, axes: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Barycenters (times, axes, d) along every gate, by Runge-Kutta on its tau."""
    x, w = cloud
    s = x @ axes.T
    start = np.arctanh(np.clip(s, -NEAREST, NEAREST))
    rate = lambda tau: w @ np.tanh(start + tau) - levels  # noqa: E731
    tau, out = np.zeros(len(axes)), []
    for step in range(STEPS + 1):
        height = np.tanh(start + tau)
        across = w[:, None] * np.cosh(start) / np.cosh(start + tau)
        along = w @ height - np.sum(across * s, axis=0)
        out.append(across.T @ x + along[:, None] * axes)
        if step < STEPS:
            a = rate(tau)
            b = rate(tau + STEP / 2 * a)
            c = rate(tau + STEP / 2 * b)
            e = rate(tau + STEP * c)
            tau = tau + STEP / 6 * (a + 2 * b + 2 * c + e)
    return np.stack(out)


def _separation(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Smallest angle, and sum 1/angle^2, over pairs: arrays (times, axes)."""
    u = unit(means)
    i, j = np.triu_indices(len(u), 1)
    chord = np.linalg.norm(u[i] - u[j], axis=-1)
    theta = np.maximum(2 * np.arcsin(np.minimum(chord / 2, 1.0)), 1e-12)
    return theta.min(axis=0), (theta**-2).sum(axis=0)


MARGIN = 0.003  # radians that a cap keeps from the nearest other cluster
WAYPOINTS = 120
HERE = 1e-12  # a chord this short needs no leg
ROOM = 0.5  # radians around an input that is being cut
WORK = 6_000_000  # products of pairs of waypoints and points to keep clear of


class Destinations:
    """Which particles make up each cluster, its mass, and where it must go."""

    def __init__(self) -> None:
        self.owner: list[int] = []
        self.members: list[np.ndarray] = []
        self.goals: list[np.ndarray] = []
        self.masses: list[float] = []

    def add(self, owner: int, members: np.ndarray, goal: np.ndarray, mass: float):
        """One more cluster: rows `members` of input `owner`."""
        self.owner.append(owner)
        self.members.append(members)
        self.goals.append(goal)
        self.masses.append(mass)

    def place(self, plan: Plan, k: int) -> np.ndarray:
        """Where cluster k is now."""
        cloud = plan.clouds[self.owner[k]]
        mine = self.members[k]
        return unit(cloud.weights[mine] @ cloud.points[mine])


def match(plan: Plan, atoms: Destinations) -> None:
    """Every cluster to its goal along legs that leave all the others in place."""
    waiting = list(range(len(atoms.owner)))
    detours = 0
    while waiting:
        arrived = [k for k in waiting if _travel(plan, atoms, k, atoms.goals[k])]
        waiting = [k for k in waiting if k not in arrived]
        if waiting and not arrived:  # a cycle: one of them must step aside
            detours += 1
            aside = waiting[detours % len(waiting)]
            if detours > 3 * len(atoms.owner) or not _step_aside(plan, atoms, aside):
                raise NumericalError(
                    f"no corridor to the targets of clusters {waiting}: some points "
                    "are too close to each other. Move targets apart.",
                    partial=tuple(plan.log),
                )


def _travel(plan: Plan, atoms: Destinations, k: int, goal: np.ndarray) -> bool:
    """Take cluster k to the goal, if there is a way."""
    others = _others(plan, atoms, k)
    path = route(plan.rng, atoms.place(plan, k), goal, others)
    if path is None:
        return False
    for stop, end in enumerate(path, start=1):
        start = atoms.place(plan, k)
        if np.linalg.norm(start - end) < HERE:
            continue
        gate, duration = leg(start, end, others)
        action = f"input {atoms.owner[k]}, cluster {k}: leg {stop} of {len(path)}"
        plan.append("match", action, gate, duration)
    return True


def make_room(plan: Plan, atoms: Destinations, rest: np.ndarray) -> None:
    """Clusters near the points `rest` go to their goals, or aside."""
    for k, goal in enumerate(atoms.goals):
        place = atoms.place(plan, k)
        if angles(place[None], rest).min() > ROOM or np.allclose(place, goal):
            continue
        wide = [c.points for c in plan.clouds if c.radius > 1e-6]
        free = not wide or angles(goal[None], np.concatenate(wide)).min() > ROOM
        if not (free and _travel(plan, atoms, k, goal)):
            _step_aside(plan, atoms, k)


def _step_aside(plan: Plan, atoms: Destinations, k: int) -> bool:
    """Move cluster k to a free place, away from all points and all goals."""
    free = random_directions(plan.rng, 400, len(atoms.goals[k]))
    taken = np.concatenate([_others(plan, atoms, k), np.stack(atoms.goals)])
    room = angles(free, taken).min(axis=1)
    order = np.argsort(-room)[:20]
    return any(_travel(plan, atoms, k, free[place]) for place in order)


def _others(plan: Plan, atoms: Destinations, k: int) -> np.ndarray:
    return plan.others(atoms.owner[k], atoms.members[k])


def route(
    rng: np.random.Generator, start: np.ndarray, goal: np.ndarray, others: np.ndarray
) -> list[np.ndarray] | None:
    """Ends of the legs from start to goal with the fewest legs and the most room.

    Waypoints are random. In dimension d >= 3 points do not block the sphere, so that
    a corridor always exists.
    """
    if np.linalg.norm(start - goal) < HERE:
        return []
    obstacles = np.unique(np.round(others, 7), axis=0)  # a cluster counts once
    count = int(np.clip(np.sqrt(WORK / max(len(obstacles), 1)), 24, WAYPOINTS))
    way = random_directions(rng, count, len(start))
    near = [unit(end + 0.3 * way[: count // 4]) for end in (start, goal)]
    nodes = np.concatenate([start[None], goal[None], way, *near])
    i, j = np.triu_indices(len(nodes), 1)
    room = clearance(nodes[i], nodes[j], obstacles)
    cost = np.zeros((len(nodes), len(nodes)))
    price = 1 + 0.02 / np.maximum(room, 1e-9)  # narrow legs are slow, hence dear
    cost[i, j] = np.where(room > MARGIN, price, 0.0)
    length, back = dijkstra(cost, directed=False, indices=[0], return_predecessors=True)
    return _followed(nodes, back[0]) if np.isfinite(length[0, 1]) else None


def _followed(nodes: np.ndarray, back: np.ndarray) -> list[np.ndarray]:
    path, node = [], 1
    while node != 0:
        path.append(nodes[node])
        node = int(back[node])
    return path[::-1]
