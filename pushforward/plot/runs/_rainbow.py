"""Angle against time on the circle: every token is a line of its own hue.

Time along the bottom of a figure, even or logarithmic.

Observables against time, with predictions dashed on top.
"""

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from pushforward.errors import InputError
from pushforward.flows import Trajectory
from pushforward.plot.runs._colors import ByStart
from pushforward.plot.runs._history import (
    History,
    as_trajectory,
    log10_times,
    require_sphere,
)
from pushforward.plot.style import INK, PALETTE, axes_or_new, styled


def since_start(
    times: np.ndarray, log_time: bool, log10_times: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The abscissas, and which frames have one: log(t - t0) has none at the start.

    Times beyond 1e308 come as `log10_times`, and are drawn as these.
    """
    if log10_times is None and not log_time:
        return times, np.ones(len(times), dtype=bool)
    keep = times > times[0] if log10_times is None else np.isfinite(log10_times)
    if keep.sum() < 2:
        raise InputError(
            f"`log_time` needs at least two times after the start, got {times}."
        )
    if log10_times is not None:
        return log10_times[keep], keep
    return times[keep] - times[0], keep


def time_axis(
    ax: Axes,
    times: np.ndarray,
    log_time: bool,
    log10_times: np.ndarray | None = None,
) -> None:
    """Limits, scale and name of the time axis."""
    shown, _ = since_start(times, log_time, log10_times)
    log_scale = log_time and log10_times is None
    ax.set_xscale("log" if log_scale else "linear")
    low, high = float(shown[0]), float(shown[-1])
    ax.set_xlim(low, high if high > low else low + 1.0)
    since = f"time since {times[0]:g}" if times[0] != 0 else "time"
    if log10_times is not None:
        ax.set_xlabel(f"log$_{{10}}$ of {since}")
    else:
        ax.set_xlabel(since if log_time else "time")


@styled
def rainbow(
    trajectory: Trajectory | np.ndarray,
    *,
    ax: Axes | None = None,
    log_time: bool = False,
) -> Axes:
    """Angles theta_i(t) in [-pi, pi] for d = 2, colored by the starting angle.

    A line that leaves at pi enters again at -pi, without a vertical stroke between.
    With `log_time` the axis is log(t - t0), and the start itself is left out; so it
    is, without being asked, for runs that go beyond t = 1e308.
    """
    history = as_trajectory(trajectory, "rainbow")
    require_sphere(history, 2, "rainbow")
    ax = axes_or_new(ax, 4.8, 3.0)
    history, colors = history.drawn(ByStart().of(history))
    lines, owner = _continued(history, log_time)
    width = float(np.clip(60 / history.points.shape[1], 0.4, 1.1))
    ax.add_collection(LineCollection(lines, colors=colors[owner], linewidths=width))
    time_axis(ax, history.times, log_time, history.log10_times)
    ax.set_ylim(-np.pi, np.pi)
    ax.set_yticks(np.pi * np.arange(-1, 1.5, 0.5), ["−π", "−π/2", "0", "π/2", "π"])
    ax.set_ylabel("angle")
    return ax


def _continued(history: History, log_time: bool) -> tuple[list[np.ndarray], np.ndarray]:
    """Continuous lines (t, angle), with the copies by 2 pi that cross the window."""
    times, keep = since_start(history.times, log_time, history.log10_times)
    theta = np.arctan2(history.points[..., 1], history.points[..., 0])
    theta = np.unwrap(theta, axis=0)[keep]
    turns_low = np.ceil((theta.min(axis=0) - np.pi) / (2 * np.pi)).astype(int)
    turns_high = np.floor((theta.max(axis=0) + np.pi) / (2 * np.pi)).astype(int)
    lines, owner = [], []
    for i, (low, high) in enumerate(zip(turns_low, turns_high, strict=True)):
        for k in range(low, high + 1):
            lines.append(np.column_stack([times, theta[:, i] - 2 * np.pi * k]))
            owner.append(i)
    return lines, np.array(owner)


@styled
def series(
    times: Trajectory | np.ndarray,
    values: Mapping[str, np.ndarray | Callable],
    theory: Mapping[str, np.ndarray | Callable] | None = None,
    *,
    ax: Axes | None = None,
    log_time: bool = False,
    ylabel: str = "",
) -> Axes:
    """One line for each named observable; predictions are dashed.

    `values` are arrays over the times, or functions of a measure when a trajectory is
    given. `theory` holds arrays over the same times or functions of time; a prediction
    with the name of an observable takes its color. The legend stands beside the data.

    >>> t = np.linspace(0, 2, 50)
    >>> ax = series(t, {"decay": np.exp(-t)}, {"decay": lambda t: np.exp(-t)})
    >>> len(ax.lines)
    2
    """
    grid = np.asarray(times.times if isinstance(times, Trajectory) else times, float)
    logs = None
    if isinstance(times, Trajectory) and grid.ndim == 1:
        logs = log10_times(grid, times.log_times)
    if grid.ndim != 1 or len(grid) == 0 or (logs is None and not _increasing(grid)):
        raise InputError(f"`times` must be increasing, got shape {grid.shape}.")
    theory = {} if theory is None else theory
    if not values and not theory:
        raise InputError("`values` is empty: name at least one observable to draw.")
    shown, keep = since_start(grid, log_time, logs)
    ax = axes_or_new(ax, 5.4, 2.9)
    names = list(dict.fromkeys([*values, *theory]))
    color = {name: PALETTE[k % len(PALETTE)] for k, name in enumerate(names)}
    for name, value in values.items():
        y = _measured(times, grid, name, value)[keep]
        ax.plot(shown, y, color=color[name], label=name, zorder=2)
    for name, value in theory.items():
        y = _over(grid, name, value(grid) if callable(value) else value)[keep]
        above = INK if name in values else color[name]
        style: dict = {"ls": (0, (4, 2.5)), "lw": 1.1, "zorder": 3}
        ax.plot(shown, y, color=above, label=f"{name}, theory", **style)
    time_axis(ax, grid, log_time, logs)
    ax.set_ylabel(ylabel)
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), handlelength=2.2)
    return ax


def _increasing(grid: np.ndarray) -> bool:
    return bool((grid[1:] > grid[:-1]).all())


def _measured(times: object, grid: np.ndarray, name: str, value) -> np.ndarray:
    if not callable(value):
        return _over(grid, name, value)
    if not isinstance(times, Trajectory):
        raise InputError(
            f"`values[{name!r}]` is a function of a measure, which needs a trajectory. "
            "Pass the trajectory instead of its times, or an array of values."
        )
    return _over(grid, name, times.observe(value))


def _over(grid: np.ndarray, name: str, value: object) -> np.ndarray:
    array = np.asarray(value, dtype=float)
    array = np.broadcast_to(array, grid.shape) if array.ndim == 0 else array
    if array.shape != grid.shape:
        raise InputError(
            f"`{name}` must have one value for each of {len(grid)} times, got shape "
            f"{array.shape}."
        )
    return array
