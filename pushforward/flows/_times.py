"""When to save: a number of frames, chosen times, or times spaced by logarithm."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from pushforward._checks import Number, above_zero, whole
from pushforward.errors import InputError

SAME_TIME = 1e-14  # times closer than this share of themselves are one: rounding
ALMOST = 1e-6  # of a layer: a time this near to the start of one is its start


@dataclasses.dataclass(frozen=True)
class LogTimes:
    """`num` times equally spaced in log t from `first` to t1, after the start.

    >>> LogTimes(first=0.1, num=3).between(0.0, 10.0).tolist()
    [0.0, 0.1, 1.0, 10.0]
    """

    first: float
    num: int = 101

    def between(self, t0: float, t1: float) -> Float[np.ndarray, "k"]:
        """The times themselves."""
        whole("num", self.num, 2)
        if not 0 < self.first < t1 - t0:
            raise InputError(
                f"`first` must lie between 0 and t1 - t0 = {t1 - t0:g}, "
                f"got {self.first:g}."
            )
        return np.concatenate([[t0], t0 + np.geomspace(self.first, t1 - t0, self.num)])


@dataclasses.dataclass(frozen=True)
class ArcLength:
    """A frame whenever the measure has moved by `step`, for flows with merging.

    Arc length is that of the tokens, ds^2 = sum_i |dx_i|^2, the clock of normalized
    gradient flow. Plateaus that last e^{beta} take no room in it.
    """

    step: float

    def __post_init__(self):
        above_zero("step", self.step, "It is the arc length between frames.")


@dataclasses.dataclass(frozen=True)
class OnlyObservables:
    """Keep observables at the given times but not the points; the last one is kept.

    `times` is what `save` would otherwise be.
    """

    times: object = 101


def save_times(save: Any, t0: Number, t1: Number) -> Float[np.ndarray, "k"]:
    """The increasing times of the frames; the first is t0 and the last is t1.

    Both are added where `save` does not have them: a run knows its start and its end.
    """
    t0, t1 = _finite("t0", t0), _finite("t1", t1)
    if t1 < t0:
        raise InputError(
            f"`t1` must not be before `t0`, got t0 = {t0:g}, t1 = {t1:g}. To run "
            "backward in time, flow the field (-1.0) * field."
        )
    if isinstance(save, ArcLength):
        raise InputError("ArcLength needs merging: pass merge=Merge().")
    if isinstance(save, OnlyObservables):
        return save_times(save.times, t0, t1)
    if isinstance(save, LogTimes):
        return save.between(t0, t1)
    if isinstance(save, int | np.integer):
        return np.linspace(t0, t1, whole("save", save, 2) if t1 > t0 else 1)
    try:
        times = np.asarray(save, dtype=float)
    except (TypeError, ValueError, OverflowError):
        times = np.empty(0)
    if not np.isfinite(times).all():
        raise InputError(f"`save` must hold finite times, got {save!r}.")
    if times.ndim != 1 or len(times) == 0 or (np.diff(times) <= 0).any():
        raise InputError(
            f"`save` must be a number of frames or increasing times, got {save!r}."
        )
    if times[0] < t0 or times[-1] > t1 * (1 + 1e-12):
        raise InputError(
            f"`save` must lie in [t0, t1] = [{t0:g}, {t1:g}], got times from "
            f"{times[0]:g} to {times[-1]:g}."
        )
    times = times if times[0] == t0 else np.concatenate([[t0], times])
    return times if times[-1] >= t1 else np.concatenate([times, [t1]])


def layer_starts(
    wanted: Float[np.ndarray, "k"],
    t0: Number,
    h: Number,
    switches: Float[np.ndarray, "s"],
    rounded: Callable = np.round,
) -> Float[np.ndarray, "m"]:
    """The times t0 + k h of whole layers of length h that are nearest, once each.

    With `np.ceil` those from the wanted ones on. A time that is a switch of the field
    up to rounding is that switch: the layer which begins there sees what follows.
    """
    t0, h = float(t0), float(h)
    index = (np.asarray(wanted, float) - t0) / h
    whole = np.round(index)
    index = np.where(np.abs(index - whole) < ALMOST, whole, rounded(index))
    starts = t0 + h * np.unique(index)
    for switch in switches:
        starts = np.where(np.abs(starts - switch) < ALMOST * h, switch, starts)
    return starts


def bracket(
    times: Float[np.ndarray, "k"],
    log_times: Float[np.ndarray, "t"] | None,
    t: float,
    fix: str = "Flow to a later t1 to see more.",
) -> tuple[int, float]:
    """Frame k and the share s of the way to frame k + 1 at which time t lies.

    A frame up to rounding is that frame, s = 0, and of several the last. Frames of a
    flow with merging may be e^100 apart: they have `log_times`, logarithms of the time
    since the start, and s is linear in these.
    """
    near = np.isclose(times, t, rtol=SAME_TIME, atol=0.0) | (times == t)
    if near.any():
        return int(np.flatnonzero(near)[-1]), 0.0
    if not times[0] <= t <= times[-1]:
        raise InputError(
            f"`t` must lie in [{times[0]:g}, {times[-1]:g}], got {t:g}. {fix}"
        )
    k = int(np.searchsorted(times, t, side="right")) - 1
    if log_times is None or not np.isfinite(log_times[k]):
        return k, float((t - times[k]) / (times[k + 1] - times[k]))
    since = np.log(t - times[0])
    return k, float((since - log_times[k]) / (log_times[k + 1] - log_times[k]))


def _finite(name: str, value) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"`{name}` must be a number, got {value!r}.") from error
    if not np.isfinite(number):
        raise InputError(f"`{name}` must be finite, got {number}.")
    return number
