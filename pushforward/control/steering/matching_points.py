"""Phase 4: clusters, now points, travel to their targets one after the other."""

import numpy as np
from scipy.sparse.csgraph import dijkstra

from pushforward.control.steering.controls import clearance, leg
from pushforward.control.steering.geometry import (
    angles,
    random_directions,
    unit,
)
from pushforward.control.steering.steered import Plan
from pushforward.errors import NumericalError

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
