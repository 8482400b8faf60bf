"""Many dimensions seen through their principal axes, with what is lost said.

Points of the plane: tokens without layer norm, or a projection of them.
"""

import dataclasses

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from pushforward.errors import InputError
from pushforward.flows import Trajectory
from pushforward.measures import Particles
from pushforward.plot.runs._colors import Color, colors_of
from pushforward.plot.runs._globe import (
    Beads,
    Camera,
    Globe,
    Trails,
    freshness,
    pieces_of,
    radii,
    worth_drawing,
)
from pushforward.plot.runs._history import History, as_history
from pushforward.plot.style import PAPER, axes_or_new, mixed, styled
from pushforward.spaces import Euclidean


class Plane:
    """Artists of one plane, moved by `show`; the window holds the whole history."""

    def __init__(self, ax: Axes, history: History):
        low = history.points.min(axis=(0, 1))
        high = history.points.max(axis=(0, 1))
        self.scale = max(float((high - low).max()) / 2, 1e-12)
        middle = (low + high) / 2
        reach = 1.12 * self.scale
        ax.set_xlim(middle[0] - reach, middle[0] + reach)
        ax.set_ylim(middle[1] - reach, middle[1] + reach)
        ax.set_aspect("equal")
        self.trails, self.beads = Trails(ax, 2.0), Beads(ax, 3.0)

    @property
    def artists(self) -> list:
        """What `show` changes, in drawing order."""
        return [self.trails.artist, self.beads.artist]

    def show(self, past: History, colors: np.ndarray, camera: object = None) -> None:
        """Tokens of the last frame, and the trails that led there."""
        points, weights = past.points[-1], past.weights[-1]
        size = self.scale * radii(points / self.scale, weights)
        self.beads.place(points, size, colors)
        kept = worth_drawing(past.points / self.scale)
        fresh = freshness(kept, points.shape[0]) if len(kept) > 1 else np.empty(0)
        tinted = np.tile(colors, (len(kept) - 1, 1))
        color = mixed(tinted, np.array(to_rgb(PAPER)), 0.30 + 0.45 * fresh)
        self.trails.place(pieces_of(past.points[kept]), 0.5 + 0.7 * fresh, color)


def principal(history: History) -> tuple[History, str]:
    """The history along its principal axes, and a sentence with the share kept.

    Unit vectors keep three axes through the origin and stay in the unit ball; other
    points keep two axes through their mean. Axes are those of all frames together, so
    that a film does not turn by itself, each signed to make its third moment positive.
    """
    k = min(3 if history.round else 2, history.d)
    center = np.zeros(history.d)
    if not history.round:
        center = history.points.mean(axis=1).mean(axis=0)
    moment = np.zeros((history.d, history.d))
    for x, w in zip(history.points, history.weights, strict=True):
        moment += (x - center).T @ (w[:, None] * (x - center)) / len(history.times)
    values, vectors = np.linalg.eigh(moment)
    axes = vectors[:, ::-1][:, :k]
    shown = (history.points - center) @ axes
    shown = shown * np.where((shown**3).sum(axis=(0, 1)) < 0, -1.0, 1.0)
    share = values[::-1][:k].sum() / max(values.sum(), 1e-300)
    label = f"{k} principal axes of {history.d}, {100 * share:.0f} % of the variance"
    return dataclasses.replace(history, points=shown, space=Euclidean(k)), label


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
    shown, colors = shown.drawn(colors_of(history, color))
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
