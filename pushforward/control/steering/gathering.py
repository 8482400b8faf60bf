"""Phase 1, when needed: pull everything away from a hole of the supports."""

import numpy as np

from pushforward.control.steering.controls import Pull
from pushforward.control.steering.geometry import angles, random_directions, unit
from pushforward.control.steering.steered import Plan

CAP = 1.2  # radians: all points end inside this cap, well within a hemisphere
TRIES = 400


def gather(plan: Plan) -> None:
    """One constant pull toward -w_0 if some support is not in an open hemisphere.

    w_0 is the middle of the largest hole that a random search finds. The paper pulls
    a second time, into the positive orthant; nothing here uses the orthant.
    """
    spread = [float((c.points @ c.center).min()) for c in plan.clouds]
    if min(spread) > 0 and min(np.linalg.norm(c.barycenter) for c in plan.clouds) > 0:
        return
    points = np.concatenate([cloud.points for cloud in plan.clouds])
    hole, room = _largest_hole(plan.rng, points)
    # tan(theta/2) falls like e^{-t}; the farthest point is pi - room from -w_0
    duration = float(np.log(np.tan((np.pi - room) / 2) / np.tan(CAP / 2)))
    if duration > 0:
        action = f"pull away from a hole of radius {room:.2f}"
        plan.append("gather", action, Pull(-hole), duration)


def _largest_hole(
    rng: np.random.Generator, points: np.ndarray
) -> tuple[np.ndarray, float]:
    """A point far from all points, and how far."""
    d = points.shape[1]
    starts = random_directions(rng, TRIES, d)
    total = points.sum(axis=0)
    if np.linalg.norm(total) > 1e-9:
        starts = np.concatenate([starts, -unit(total)[None]])
    room = angles(starts, points).min(axis=1)
    best, reach = starts[room.argmax()], float(room.max())
    for scale in 0.5 ** np.arange(1, 12):  # a shrinking random walk uphill
        near = unit(best + scale * random_directions(rng, 40, d))
        room = angles(near, points).min(axis=1)
        if room.max() > reach:
            best, reach = near[room.argmax()], float(room.max())
    return best, reach
