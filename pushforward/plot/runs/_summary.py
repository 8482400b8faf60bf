"""A run as one picture, and what a notebook shows of a run or a measure."""

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pushforward.flows import Trajectory
from pushforward.measures import Particles
from pushforward.observables import CLUSTER_RADIUS
from pushforward.plot.page import table
from pushforward.plot.runs._colors import ByCluster, Color
from pushforward.plot.runs._history import (
    DRAWN,
    History,
    as_trajectory,
    beta_of,
    numbers,
)
from pushforward.plot.runs._principal import projection
from pushforward.plot.runs._rainbow import rainbow, since_start, time_axis
from pushforward.plot.runs._sphere import circle, sphere
from pushforward.plot.style import PALETTE, new_figure, styled
from pushforward.spaces import Sphere

MOST = 201  # frames that are measured
OBSERVED = {
    "energy": "energy",
    "clusters": "clusters",
    "largest": "largest_mass",
    "cosine": "mean_cosine",
}


@styled
def summary(
    trajectory: Trajectory | np.ndarray,
    *,
    beta: float | None = None,
    radius: float = CLUSTER_RADIUS,
    color: Color = None,
    log_time: bool = False,
    observed: Mapping[str, Any] | None = None,
) -> Figure:
    """The picture of a run: its end with trails, energy, clusters and mean cosine.

    Energy is 2 beta e^{-beta} E in (0, 1], with the beta of the field unless given;
    clusters are components at `radius`. On the circle angles against time come too;
    for d > 3 the picture is a projection, named with the variance it keeps. What is
    known already, at the same beta and radius, may be `observed`: energy, clusters,
    largest_mass and mean_cosine at every frame, as `pushforward simulate` keeps them.
    """
    history = as_trajectory(trajectory, "summary")
    color = ByCluster(radius) if color is None else color
    figure = new_figure(8.0, 4.6)
    left, right = figure.subfigures(1, 2, width_ratios=(1.25, 1.0))
    n = history.points.shape[1]
    title = f"t = {history.now}, n = {n}" + f" ({DRAWN} drawn)" * (n > DRAWN)
    if history.round and history.d == 2:
        top, bottom = left.subplots(2, 1, height_ratios=(1.35, 1.0))
        circle(trajectory, ax=top, color=color).set_title(title)
        rainbow(trajectory, ax=bottom, log_time=log_time)
    elif history.round and history.d == 3:
        sphere(trajectory, ax=left.subplots(), color=color).set_title(title)
    else:
        ax = projection(trajectory, ax=left.subplots(), color=color)
        ax.set_title(f"{title}\n{ax.get_title()}".strip())
    panels = right.subplots(3, 1, sharex=True)
    known = observed if observed and set(observed) >= set(OBSERVED.values()) else None
    measured = beta_of(trajectory, beta), radius
    _panels(panels, history, measured, log_time, known)
    return figure


def _panels(panels, history: History, measured, log_time: bool, known) -> None:
    beta, radius = measured
    count = len(history.times)
    frames = np.unique(np.linspace(0, count - 1, min(count, MOST)).astype(int))
    some = history.chosen(frames)
    times, keep = since_start(some.times, log_time, some.log10_times)
    frames = frames[keep]
    column = _columns(history, frames, beta, radius, known)
    top, middle, bottom = panels
    if history.round:
        top.plot(times, column("energy"), color=PALETTE[0])
        top.set(ylim=(0, 1.04), title=f"energy, β = {beta:g}")
        bottom.plot(times, column("cosine"), color=PALETTE[2])
        low = min(-0.05, float(column("cosine").min()) - 0.05)
        bottom.set(ylim=(low, 1.04), title="mean cosine of two tokens")
    else:
        spread = _spread(history)[frames]
        top.plot(times, spread, color=PALETTE[0])
        top.set(title="root mean square distance to the mean")
        bottom.plot(times, np.linalg.norm(_means(history), axis=1)[frames])
        bottom.set(title="norm of the mean")
    _clusters(middle, times, column("clusters"), column("largest"), radius)
    time_axis(bottom, history.times, log_time, history.log10_times)


def _columns(history: History, frames, beta: float, radius: float, known) -> Callable:
    """The numbers of the frames, by name: measured, or known already."""
    if known is not None and history.round:
        return lambda name: np.asarray(known[OBSERVED[name]], dtype=float)[frames]
    found = [numbers(history, k, beta, radius) for k in frames]
    return lambda name: np.array([getattr(f, name) for f in found])


def _clusters(ax: Axes, times, count, largest, radius: float) -> None:
    """Number of clusters on the left axis, mass of the largest on the right one."""
    ax.plot(times, count, color=PALETTE[6], drawstyle="steps-post")
    ax.set_ylim(0, 1.08 * count.max())
    ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.set_ylabel("clusters", color=PALETTE[6])
    mass = ax.twinx()
    mass.plot(times, largest, color=PALETTE[1], ls=(0, (5, 1.5)))
    mass.set(ylim=(0, 1.08))
    mass.set_ylabel("largest mass", color=PALETTE[1])
    mass.spines["right"].set_visible(True)
    ax.set_title(f"clusters at radius {radius:g}")


def _means(history: History) -> np.ndarray:
    return np.einsum("tn,tnd->td", history.weights, history.points)


def _spread(history: History) -> np.ndarray:
    away = ((history.points - _means(history)[:, None]) ** 2).sum(axis=2)
    return np.sqrt((history.weights * away).sum(axis=1))


ROWS = 20


@styled
def picture(value: Any) -> bytes | None:
    """The PNG of a run of tokens, its summary, or of tokens; None for all else.

    None leaves a notebook with the line of text: for batches, for densities, and for
    runs that kept only observables.
    """
    if isinstance(value, Trajectory):
        if value.measures is None or not _tokens(value.final, 2) or len(value) < 2:
            return None
        return summary(value)._repr_png_()  # type: ignore[attr-defined]
    return _cloud(value) if _tokens(value, 2) else None


def _tokens(value: Any, axes: int) -> bool:
    return isinstance(value, Particles) and value.points.ndim == axes


def _cloud(mu: Particles) -> bytes:
    """The tokens of one frame."""
    round_ = isinstance(mu.space, Sphere)
    draw = {2: circle, 3: sphere}.get(mu.d, projection) if round_ else projection
    return draw(mu).get_figure(root=True)._repr_png_()  # type: ignore


def report_table(text: str, head: Sequence[str], rows: Sequence[Sequence]) -> str:
    """What a notebook shows of a report: its text, and the first of its rows."""
    shown = f"<pre>{html.escape(text)}</pre>" + table(head, rows[:ROWS])
    more = len(rows) - ROWS
    return shown + (f"<p>and {more} more</p>" if more > 0 else "")
