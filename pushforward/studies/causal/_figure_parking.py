"""Figure 2: tokens on the circle park around early tokens."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import pushforward as pf
from pushforward import theory
from pushforward.observables import Centers, Clusters
from pushforward.plot import wheel
from pushforward.plot.style import HAIR, INK, PALETTE, SOFT, mixed, new_figure, styled
from pushforward.studies.causal.runs import CIRCLE_BETA as BETA
from pushforward.studies.causal.runs import SNAPSHOTS, parking
from pushforward.studies.causal.study import Parameters

RED = PALETTE[1]


def compute_parking(p: Parameters) -> dict[str, np.ndarray]:
    """One sequence of n tokens to t = 150, and its centers."""
    run = parking(p).run()
    delta = float(theory.parking.center_scale(BETA))
    centers = Centers(delta)(run[0])
    return {
        "times": np.asarray(run.times),
        "points": np.asarray(run.points),
        "kept": centers.kept,
        "strong": centers.strong,
        "delta": np.array(delta),
    }


@styled
def draw_parking(data: dict[str, np.ndarray]) -> Figure:
    """Four moments on the circle, and all angles over time below them."""
    figure = new_figure(9.0, 6.0)
    grid = figure.add_gridspec(2, 4, height_ratios=[1.0, 1.35])
    for k, t in enumerate(SNAPSHOTS):
        _circle(figure.add_subplot(grid[0, k]), data, t)
    _angles(figure.add_subplot(grid[1, :]), data)
    return figure


def _circle(ax: Axes, data: dict[str, np.ndarray], t: float) -> None:
    k = int(np.argmin(np.abs(data["times"] - t)))
    x = data["points"][k]
    ax.plot(
        *np.array([np.cos(a := np.linspace(0, 2 * np.pi, 400)), np.sin(a)]),
        color=HAIR,
        lw=0.8,
        zorder=1,
    )
    hue = wheel(np.arctan2(data["points"][0][:, 1], data["points"][0][:, 0]))
    ax.scatter(x[:, 0], x[:, 1], s=16, c=hue, lw=0, zorder=2)
    for name, color, size in (("kept", INK, 1.13), ("strong", RED, 1.13)):
        c = x[data[name]]
        ax.scatter(size * c[:, 0], size * c[:, 1], s=22, color=color, lw=0, zorder=3)
    ax.set_aspect("equal")
    ax.set_xlim(-1.3, 1.3)
    ax.set_ylim(-1.3, 1.3)
    ax.axis("off")
    count = Clusters(0.5 / np.sqrt(BETA))(pf.Particles(pf.Circle(), x)).count
    ax.set_title(f"t = {t:g}" + (f": {count} clusters" if t else ""))


def _angles(ax: Axes, data: dict[str, np.ndarray]) -> None:
    x, theta = _clock(data["times"]), _broken(data["points"])
    start = np.arctan2(data["points"][0][:, 1], data["points"][0][:, 0])
    pale = mixed(wheel(start), np.ones(3), np.full(len(start), 0.8))
    lines = [np.column_stack([x, theta[:, i]]) for i in range(theta.shape[1])]
    ax.add_collection(LineCollection(lines, colors=pale, linewidths=0.6))
    for k in data["kept"]:
        strong = k in data["strong"]
        color, z = (RED, 4) if strong else (INK, 3)
        ax.plot(x, theta[:, k], color=color, lw=1.5, zorder=z)
        ax.plot(x[0], theta[0, k], "o", ms=4, color=color, zorder=z, clip_on=False)
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(-np.pi, np.pi)
    ticks = np.array([0, 1, 2, 5, 10, 20, 50, 100, 150])
    ax.set_xticks(_clock(ticks), [f"{t:g}" for t in ticks])
    ax.set_yticks(np.pi * np.arange(-1, 1.5, 0.5), ["−π", "−π/2", "0", "π/2", "π"])
    ax.set_xlabel("time (axis: log(1 + t))")
    ax.set_ylabel("angle")
    names = [
        Line2D(
            [], [], color=RED, lw=1.5, label=f"{len(data['strong'])} strong centers"
        ),
        Line2D(
            [],
            [],
            color=INK,
            lw=1.5,
            label=f"{len(data['kept']) - len(data['strong'])} other Rényi centers",
        ),
        Line2D([], [], color=SOFT, lw=0.8, label=f"{theta.shape[1]} tokens, by start"),
    ]
    ax.legend(handles=names, loc="upper center", bbox_to_anchor=(0.5, 1.11), ncols=3)


def _clock(t: np.ndarray) -> np.ndarray:
    return np.log1p(t)


def _broken(points: np.ndarray) -> np.ndarray:
    """Angles in [-pi, pi], with a gap where a token crosses the cut."""
    theta = np.arctan2(points[..., 1], points[..., 0])
    jump = np.abs(np.diff(theta, axis=0)) > np.pi
    theta[1:][jump] = np.nan
    return theta


FIGURES = {"figure-2-parking": (compute_parking, draw_parking)}
