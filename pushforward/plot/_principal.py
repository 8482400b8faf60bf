"""Many dimensions seen through their principal axes, with what is lost said."""

import numpy as np
from matplotlib.axes import Axes

from pushforward.errors import InputError
from pushforward.flows import Trajectory
from pushforward.measures import Particles
from pushforward.plot._camera import Camera
from pushforward.plot._colors import Color, colors_of
from pushforward.plot._globe import Globe
from pushforward.plot._history import History, as_history
from pushforward.plot._plane import Plane
from pushforward.plot._style import axes_or_new, styled
from pushforward.spaces import Euclidean


def principal(history: History) -> tuple[History, str]:
    """The history along its principal axes, and a sentence with the share kept.

    Unit vectors keep three axes through the origin and stay in the unit ball; other
    points keep two axes through their mean. Axes are those of all frames together, so
    that a film does not turn by itself, each signed to make its third moment positive.
    """
    k = min(3 if history.round else 2, history.d)
    x = history.points.reshape(-1, history.d)
    center = np.zeros(history.d) if history.round else x.mean(axis=0)
    w = history.weights.ravel() / history.weights.sum()
    moment = (x - center).T @ (w[:, None] * (x - center))
    values, vectors = np.linalg.eigh(moment)
    axes = vectors[:, ::-1][:, :k]
    shown = (history.points - center) @ axes
    shown = shown * np.where((shown**3).sum(axis=(0, 1)) < 0, -1.0, 1.0)
    share = values[::-1][:k].sum() / max(values.sum(), 1e-300)
    label = f"{k} principal axes of {history.d}, {100 * share:.0f} % of the variance"
    return History(history.times, shown, history.weights, Euclidean(k)), label


@styled
def projection(
    mu: Trajectory | Particles | np.ndarray,
    *,
    ax: Axes | None = None,
    camera: Camera | None = None,
    color: Color = None,
    trails: bool = True,
) -> Axes:
    """Points of any dimension along their principal axes; the title says what is kept.

    Unit vectors (d > 3) are shown in the ball of their first three axes through the
    origin, points of R^d in the plane of the first two through the mean. Distances in
    the picture are lower bounds of the true ones.
    """
    history = as_history(mu)
    if history.round and history.d <= 3:
        better = "plot.sphere" if history.d == 3 else "plot.circle"
        raise InputError(
            f"plot.projection is for points with more than 3 coordinates, got d = "
            f"{history.d}. Use {better}, which loses nothing."
        )
    flat = history.d == 2
    shown, label = (history, "") if flat else principal(history)
    colors = colors_of(history, color)
    end = shown.chosen(np.array([-1]))
    ax = axes_or_new(ax, 4.0, 4.2)
    if history.round:
        scene: Globe | Plane = Globe(ax, graticule=False)
        view = camera or Camera.facing(end.points[0], end.weights[0])
    else:
        scene, view = Plane(ax, shown), Camera()
        names = ("x₁", "x₂") if flat else ("first axis", "second axis")
        ax.set(xlabel=names[0], ylabel=names[1])
    scene.show(shown if trails else end, colors, view)
    ax.set_title(label)
    return ax
