"""Angle against time on the circle: every token is a line of its own hue."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from pushforward.flows import Trajectory
from pushforward.plot._colors import ByStart
from pushforward.plot._history import History, as_trajectory, require_sphere
from pushforward.plot._style import axes_or_new, styled
from pushforward.plot._time_axis import since_start, time_axis


@styled
def rainbow(
    trajectory: Trajectory | np.ndarray,
    *,
    ax: Axes | None = None,
    log_time: bool = False,
) -> Axes:
    """Angles theta_i(t) in [-pi, pi] for d = 2, colored by the starting angle.

    A line that leaves at pi enters again at -pi, without a vertical stroke between.
    With `log_time` the axis is log(t - t0), and the start itself is left out.
    """
    history = as_trajectory(trajectory, "rainbow")
    require_sphere(history, 2, "rainbow")
    ax = axes_or_new(ax, 4.8, 3.0)
    lines, owner = _continued(history, log_time)
    colors = ByStart().of(history)[owner]
    width = float(np.clip(60 / history.points.shape[1], 0.4, 1.1))
    ax.add_collection(LineCollection(lines, colors=colors, linewidths=width))
    time_axis(ax, history.times, log_time)
    ax.set_ylim(-np.pi, np.pi)
    ax.set_yticks(np.pi * np.arange(-1, 1.5, 0.5), ["−π", "−π/2", "0", "π/2", "π"])
    ax.set_ylabel("angle")
    return ax


def _continued(history: History, log_time: bool) -> tuple[list[np.ndarray], np.ndarray]:
    """Continuous lines (t, angle), with the copies by 2 pi that cross the window."""
    times, keep = since_start(history.times, log_time)
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
