"""What every picture starts from: frames of points, as plain arrays.

The few numbers written beside a picture, frame by frame.
"""

import dataclasses

import equinox as eqx
import numpy as np

from pushforward._checks import scalar
from pushforward._printing import short
from pushforward.errors import InputError
from pushforward.flows import Trajectory, bracket
from pushforward.functionals import InteractionEnergy
from pushforward.measures import Particles, mixed
from pushforward.observables import Clusters, mean_cosine
from pushforward.spaces import AbstractSpace, Circle, Euclidean, Sphere

DRAWN = 2000  # tokens in a picture; of more, so many stand for equal shares of mass


@dataclasses.dataclass(frozen=True)
class History:
    """Frames of weighted points: `points` (t, n, d), `weights` (t, n), `times` (t,).

    `log_times` are logarithms of the time since the start, of flows with merging.
    """

    times: np.ndarray
    points: np.ndarray
    weights: np.ndarray
    space: AbstractSpace
    log_times: np.ndarray | None = None

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

    @property
    def log10_times(self) -> np.ndarray | None:
        """Decimal logarithms of time, where times go beyond what a float can hold."""
        return log10_times(self.times, self.log_times)

    @property
    def now(self) -> str:
        """The time of the last frame, in words."""
        if self.log10_times is None:
            return f"{self.times[-1]:g}"
        return f"10^{self.log10_times[-1]:.6g}"

    def frame(self, k: int) -> Particles:
        """Frame k as a measure."""
        return Particles.normalized(self.space, self.points[k], self.weights[k])

    def chosen(self, frames: np.ndarray) -> "History":
        """Some of the frames."""
        logs = self.log_times
        return History(
            self.times[frames],
            self.points[frames],
            self.weights[frames],
            self.space,
            None if logs is None else logs[frames],
        )

    def drawn(self, colors: np.ndarray) -> tuple["History", np.ndarray]:
        """Not more than DRAWN tokens, and their colors; masses still add to one.

        Each stands for an equal share of the mass of the last frame. Nobody sees more
        of them apart, and a drawing takes longer than the flow.
        """
        mass = self.weights[-1]
        if len(mass) <= DRAWN:
            return self, colors
        reached = np.cumsum(mass)
        places = (np.arange(DRAWN) + 0.5) / DRAWN * reached[-1]
        some, shares = np.unique(np.searchsorted(reached, places), return_counts=True)
        weights = self.weights[:, some] * (shares / DRAWN / mass[some])
        weights /= weights.sum(axis=1, keepdims=True)
        fewer = dataclasses.replace(self, points=self.points[:, some], weights=weights)
        return fewer, colors[some]

    def place(self, t: float) -> float:
        """Where time t is among the frames: 2.5 is half way from frame 2 to 3."""
        k, s = bracket(self.times, self.log_times, t)
        return k + s

    def until(self, place: float) -> "History":
        """The past of a place, ending with the frame there, mixed as by `mixed`."""
        k, s = int(place), place - int(place)
        past = self.chosen(np.arange(k + 1))
        if s == 0:
            return past
        before, after = ((self.points[i], self.weights[i]) for i in (k, k + 1))
        points, weights = mixed(self.space, before, after, s)
        join = lambda a, b: np.concatenate([a, [b]])  # noqa: E731
        logs = self.log_times
        return History(
            join(past.times, _mean(self.times, k, s)),
            join(past.points, np.asarray(points)),
            join(past.weights, weights),
            self.space,
            None if logs is None else join(past.log_times, _mean(logs, k, s)),
        )


def _mean(values: np.ndarray, k: int, s: float) -> np.ndarray:
    """Linear between k and k + 1; what is infinite stays what it was until the end."""
    first, second = values[k], values[k + 1]
    with np.errstate(invalid="ignore"):
        mean = (1 - s) * first + s * second
    return np.where(np.isfinite(mean), mean, first)


def log10_times(times: np.ndarray, log_times: np.ndarray | None) -> np.ndarray | None:
    """Decimal logarithms of the time since the start, for runs whose times overflow."""
    if np.isfinite(times).all():
        return None
    if log_times is None:
        raise InputError(
            "`trajectory` has infinite times and no `log_times`: it cannot be drawn. "
            "Flow again with merge=Merge()."
        )
    return np.asarray(log_times, dtype=float) / np.log(10)


def as_history(value: Trajectory | Particles | np.ndarray) -> History:
    """A trajectory, a measure, or an array (n, d) or (t, n, d), as frames.

    Arrays of unit vectors are taken to lie on the sphere, others in R^d.
    """
    if isinstance(value, History):
        return value
    logs = None
    if isinstance(value, Trajectory):
        points, weights = np.asarray(value.points), np.asarray(value.weights)
        times, space = np.asarray(value.times), value.final.space
        logs = value.log_times
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
    points, weights = (np.asarray(a, dtype=float) for a in (points, weights))
    weights = weights / weights.sum(axis=1, keepdims=True)  # float32 sums to 1 - 1e-8
    return History(times.astype(float), points, weights, space, logs)


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
        f"{short(history.space)}. Use {other}."
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


_energy = eqx.filter_jit(lambda functional, mu: functional(mu))


@dataclasses.dataclass(frozen=True)
class Numbers:
    """Energy in (0, 1], number of clusters, largest mass and mean cosine of a frame."""

    energy: float
    clusters: int
    largest: float
    cosine: float


def numbers(history: History, k: int, beta: float, radius: float) -> Numbers:
    """The numbers of frame k; energy and cosine are NaN off the sphere."""
    mu = history.frame(k)
    found = Clusters(radius)(mu)
    if not history.round:
        return Numbers(np.nan, found.count, found.largest, np.nan)
    energy = float(_energy(InteractionEnergy(beta), mu))
    return Numbers(energy, found.count, found.largest, float(mean_cosine(mu)))


def beta_of(trajectory: object, beta: float | None) -> float:
    """The inverse temperature to measure energy with: given, the field's, or 1."""
    if beta is not None:
        return float(scalar("beta", beta))
    field = trajectory.field if isinstance(trajectory, Trajectory) else None
    found = getattr(field, "beta", None)
    return 1.0 if found is None or np.ndim(found) else float(found)
