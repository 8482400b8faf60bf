"""Time along the bottom of a figure, even or logarithmic."""

import numpy as np
from matplotlib.axes import Axes

from pushforward.errors import InputError


def since_start(times: np.ndarray, log_time: bool) -> tuple[np.ndarray, np.ndarray]:
    """The abscissas, and which frames have one: log(t - t0) has none at the start."""
    if not log_time:
        return times, np.ones(len(times), dtype=bool)
    keep = times > times[0]
    if keep.sum() < 2:
        raise InputError(
            f"`log_time` needs at least two times after the start, got {times}."
        )
    return times[keep] - times[0], keep


def time_axis(ax: Axes, times: np.ndarray, log_time: bool) -> None:
    """Limits, scale and name of the time axis."""
    shown, _ = since_start(times, log_time)
    ax.set_xscale("log" if log_time else "linear")
    low, high = float(shown[0]), float(shown[-1])
    ax.set_xlim(low, high if high > low else low + 1.0)
    since = log_time and times[0] != 0
    ax.set_xlabel(f"time since {times[0]:g}" if since else "time")
