"""Observables against time, with predictions dashed on top."""

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.axes import Axes

from pushforward.errors import InputError
from pushforward.flows import Trajectory
from pushforward.plot._style import INK, PALETTE, axes_or_new, styled
from pushforward.plot._time_axis import since_start, time_axis


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
    if grid.ndim != 1 or len(grid) == 0 or not (np.diff(grid) > 0).all():
        raise InputError(f"`times` must be increasing, got shape {grid.shape}.")
    theory = {} if theory is None else theory
    if not values and not theory:
        raise InputError("`values` is empty: name at least one observable to draw.")
    shown, keep = since_start(grid, log_time)
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
    time_axis(ax, grid, log_time)
    ax.set_ylabel(ylabel)
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), handlelength=2.2)
    return ax


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
