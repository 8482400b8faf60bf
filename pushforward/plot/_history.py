"""What every picture starts from: frames of points, as plain arrays."""

import dataclasses

import numpy as np

from pushforward.errors import InputError
from pushforward.flows import Trajectory
from pushforward.measures import Particles
from pushforward.spaces import AbstractSpace, Circle, Euclidean, Sphere


@dataclasses.dataclass(frozen=True)
class History:
    """Frames of weighted points: `points` (t, n, d), `weights` (t, n), `times` (t,)."""

    times: np.ndarray
    points: np.ndarray
    weights: np.ndarray
    space: AbstractSpace

    @property
    def d(self) -> int:
        """The ambient dimension."""
        return self.points.shape[2]

    @property
    def moving(self) -> bool:
        """Whether there is a past to draw."""
        return len(self.times) > 1

    @property
    def round(self) -> bool:
        """Whether the points are unit vectors."""
        return isinstance(self.space, Sphere | Circle)

    def frame(self, k: int) -> Particles:
        """Frame k as a measure."""
        return Particles.normalized(self.space, self.points[k], self.weights[k])

    def chosen(self, frames: np.ndarray) -> "History":
        """Some of the frames."""
        kept = self.times[frames], self.points[frames], self.weights[frames]
        return History(*kept, self.space)

    def at(self, t: float) -> "History":
        """The frame at time t alone, interpolated as `Trajectory.at` does."""
        points, weights = _between(self, t)
        return History(np.array([t]), points[None], weights[None], self.space)

    def until(self, t: float) -> "History":
        """The past of time t, ending with the interpolated frame at t itself."""
        now = self.at(t)
        past = self.times < t
        join = lambda a, b: np.concatenate([a[past], b])  # noqa: E731
        return History(
            join(self.times, now.times),
            join(self.points, now.points),
            join(self.weights, now.weights),
            self.space,
        )


def _between(history: History, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights at t: linear between frames, then back onto the space.

    The same rule as `Trajectory.at`, on numpy arrays: a film asks for it often.
    """
    times = history.times
    if not times[0] <= t <= times[-1]:
        raise InputError(
            f"`t` must lie in [{times[0]:g}, {times[-1]:g}], got {t:g}. "
            "Flow to a later t1 to see more."
        )
    k = max(min(int(np.searchsorted(times, t, side="right")) - 1, len(times) - 2), 0)
    if len(times) == 1 or t == times[k]:
        return history.points[k], history.weights[k]
    s = (t - times[k]) / (times[k + 1] - times[k])
    x = (1 - s) * history.points[k] + s * history.points[k + 1]
    w = history.weights[k] ** (1 - s) * history.weights[k + 1] ** s
    return np.asarray(history.space.project(x)), w / w.sum()


def as_history(value: Trajectory | Particles | np.ndarray) -> History:
    """A trajectory, a measure, or an array (n, d) or (t, n, d), as frames.

    Arrays of unit vectors are taken to lie on the sphere, others in R^d.
    """
    if isinstance(value, History):
        return value
    if isinstance(value, Trajectory):
        points, weights = np.asarray(value.points), np.asarray(value.weights)
        times, space = np.asarray(value.times), value.final.space
    elif isinstance(value, Particles):
        points, weights = np.asarray(value.points)[None], np.asarray(value.weights)
        times, space, weights = np.zeros(1), value.space, weights[None]
    else:
        points = _array(value)
        weights = np.full(points.shape[:2], 1 / points.shape[1])
        times, space = np.arange(len(points), dtype=float), _space_of(points)
    if points.ndim != 3:
        raise InputError(
            f"`trajectory` must be one run, got points of shape {points.shape}. "
            "A batch of runs is drawn one run at a time."
        )
    weights = weights.astype(float)
    weights = weights / weights.sum(axis=1, keepdims=True)  # float32 sums to 1 - 1e-8
    return History(times.astype(float), points.astype(float), weights, space)


def as_trajectory(value: object, function: str) -> History:
    """The same, but a single frame is refused: `function` needs a course of time."""
    history = as_history(value)  # type: ignore[arg-type]
    if not history.moving:
        raise InputError(
            f"plot.{function} needs a trajectory or an array (t, n, d), got one frame. "
            "Pass the result of pf.flow."
        )
    return history


def require_sphere(history: History, d: int, function: str) -> None:
    """Refuse points that `function` cannot draw, naming the function that can."""
    if history.d == d and history.round:
        return
    if not history.round:
        other = "plot.projection"
    else:
        other = {2: "plot.circle", 3: "plot.sphere"}.get(history.d, "plot.projection")
    raise InputError(
        f"plot.{function} draws unit vectors of R^{d}, got points of "
        f"{repr(history.space).split('  #')[0]}. Use {other}."
    )


def _array(value: object) -> np.ndarray:
    try:
        points = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            "expected a Trajectory, Particles or an array (n, d) or (t, n, d), got "
            f"{type(value).__name__}."
        ) from error
    points = points[None] if points.ndim == 2 else points
    if points.ndim != 3 or 0 in points.shape or points.shape[2] < 2:
        raise InputError(
            f"`points` must have shape (n, d) or (t, n, d) with d >= 2, got "
            f"{points.shape}."
        )
    if not np.isfinite(points).all():
        raise InputError("`points` has NaN or infinity. Remove or repair those rows.")
    return points


def _space_of(points: np.ndarray) -> AbstractSpace:
    d = points.shape[2]
    unit = np.abs(np.linalg.norm(points, axis=2) - 1).max() < 1e-6
    return Sphere(d) if unit else Euclidean(d)
