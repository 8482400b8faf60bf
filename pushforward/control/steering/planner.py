"""Steering: one schedule of weights that sends every source to its target."""

from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np

from pushforward._checks import above_zero
from pushforward.control._checks import finite
from pushforward.control.steering.controls import Consensus, Pull
from pushforward.control.steering.moving import Destinations, disentangle, match
from pushforward.control.steering.slicing import slice_all
from pushforward.control.steering.steered import Plan, Steered, weight_norms
from pushforward.control.steering.targets import (
    Cloud,
    Goal,
    angles,
    checked_goals,
    checked_sources,
    random_directions,
    refuse_overlap,
    unit,
)
from pushforward.errors import InputError, NumericalError
from pushforward.fields import Switched
from pushforward.flows import reporter
from pushforward.measures import Particles
from pushforward.transport import wasserstein_distance

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


CHUNK = 1.0  # time between two looks at the radius while inputs cluster


def steer(
    sources: Sequence[Particles],
    targets: Sequence | np.ndarray,
    *,
    beta: float = 0.0,
    tol: float = 1e-9,
    horizon: float | None = None,
    attention: bool = True,
    seed: int = 0,
    progress: bool | Callable | None = None,
) -> Steered:
    """Weights (V, B, W, U, b), piecewise constant in time, for all inputs at once.

        d/dt mu + div(mu P_x(V A_B[mu](x) + W (U x + b)_+)) = 0   on S^{d-1}, d >= 3.

    Phases: gather (only if a support fills more than a hemisphere), disentangle by
    barycenter gates, cluster by attention (point targets) or slice by caps, match
    along legs that arrive exactly. Every piece acts on every input.

    - `targets`: for each source a point, `Particles` with a few atoms and masses, or
      `Sampled(measure, atoms=8)`. Atoms of a source cannot be cut: where masses are no
      sums of its weights, the nearest sums are taken, and the error says so.
    - `beta`: temperature of the clustering piece, B = beta I.
    - `tol`: radius of the clusters before they travel.
    - `horizon`: total time; weights grow like 1/horizon. Left out, speeds are about 1.
    - `attention`: without it there is no such schedule, and the call says why.

    >>> x = np.eye(3)
    >>> mu = Particles(Sphere(3), x, weights=[0.5, 0.25, 0.25])
    >>> nu = Particles(Sphere(3), x, weights=[0.25, 0.5, 0.25])
    >>> steered = steer([mu, nu], [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    >>> max(steered.errors) < 1e-7
    True

    [geshkovski2024measure]
    """
    clouds = checked_sources(sources)
    goals = checked_goals(clouds, targets)
    beta, tol = float(finite("beta", beta)), above_zero("tol", tol, "It is an angle.")
    if horizon is not None:
        horizon = above_zero("horizon", horizon, "It is the total time.")
    if not attention:
        _refuse_without_attention(clouds)
    plan = Plan(clouds, np.random.default_rng(seed), reporter(progress))
    gather(plan)
    disentangle(plan)
    if all(goal.is_point for goal in goals):
        atoms = cluster(plan, goals, beta, tol)
    else:
        atoms = slice_all(plan, goals, tol)
        refuse_overlap(atoms.owner, np.stack(atoms.goals))
    match(plan, atoms)
    return _result(plan, sources, goals, atoms, horizon)


def cluster(plan: Plan, goals: list[Goal], beta: float, tol: float) -> Destinations:
    """V = I, B = beta I until every input is a point, up to tol."""
    d, elapsed = plan.clouds[0].points.shape[1], 0.0
    piece, clouds = Consensus(beta, d), plan.clouds
    while max(cloud.radius for cloud in clouds) > tol and elapsed < 400:
        clouds = [piece.move(cloud, CHUNK) for cloud in clouds]
        elapsed += CHUNK
    if elapsed:
        plan.append("cluster", "attention contracts each input", piece, elapsed)
    if plan.widest > tol or plan.closest < 1e-3:
        raise NumericalError(
            f"clustering ends with radius {plan.widest:.2g} and {plan.closest:.2g} rad "
            "between inputs. A smaller beta contracts more surely.",
            partial=tuple(plan.log),
        )
    atoms = Destinations()
    for i, (goal, cloud) in enumerate(zip(goals, plan.clouds, strict=True)):
        everything = np.ones(len(cloud.points), dtype=bool)
        atoms.add(i, everything, goal.place(0, everything, cloud.weights), 1.0)
    return atoms


def _result(
    plan: Plan, sources, goals: list[Goal], atoms: Destinations, horizon: float | None
) -> Steered:
    durations = np.array([entry.duration for entry in plan.log])
    if not len(durations):
        raise InputError("`sources` already are the `targets`: nothing to steer.")
    speed = 1.0 if horizon is None else float(durations.sum() / horizon)
    times = np.concatenate([[0.0], np.cumsum(durations)]) / speed
    schedule = Switched([control.field(speed) for control in plan.controls], times)
    pairs = zip(sources, plan.clouds, strict=True)
    finals = tuple(mu.moved(jnp.asarray(cloud.points)) for mu, cloud in pairs)
    errors = tuple(_error(i, c, goals[i], atoms) for i, c in enumerate(plan.clouds))
    return Steered(schedule, errors, weight_norms(schedule), tuple(plan.log), finals)


def _error(i: int, cloud: Cloud, goal: Goal, atoms: Destinations) -> float:
    """W_2 to the target, along the parts when their masses are exact.

    Masses that differ by 1e-16 would show as 1e-8 in the square root of a plan.
    """
    parts = [k for k, owner in enumerate(atoms.owner) if owner == i]
    off = [abs(cloud.weights[atoms.members[k]].sum() - atoms.masses[k]) for k in parts]
    if goal.atoms is None or max(off) > 1e-12:
        return wasserstein_distance(tuple(cloud), tuple(Cloud.of(goal.target)))
    squares = [
        cloud.weights[m] @ np.sum((cloud.points[m] - atoms.goals[k]) ** 2, axis=1)
        for k in parts
        for m in [atoms.members[k]]
    ]
    return float(np.sqrt(np.sum(squares)))


def _refuse_without_attention(clouds: list[Cloud]) -> None:
    nearest = np.pi
    for i, first in enumerate(clouds):
        for second in clouds[:i]:
            nearest = min(nearest, float(angles(first.points, second.points).min()))
    shared = "share points" if nearest < 1e-9 else f"come as near as {nearest:.2g} rad"
    raise InputError(
        "`attention` must be True: without it (V = 0) every input sees the same flow, "
        "one homeomorphism of the sphere, which cannot send a point of two supports to "
        f"two places. The supports of these inputs {shared}."
    )
