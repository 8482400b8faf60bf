"""The unit circle on paper: tokens on the rim, their past inside.

Tokens on the unit circle.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle

from pushforward.flows import Trajectory
from pushforward.measures import Particles
from pushforward.plot._beads import (
    Beads,
    Trails,
    freshness,
    pieces_of,
    radii,
    worth_drawing,
)
from pushforward.plot._colors import Color, colors_of
from pushforward.plot._history import History, as_history, require_sphere
from pushforward.plot._sphere import last_frame
from pushforward.plot.style import HAIR, PAPER, SOFT, axes_or_new, mixed, styled

CORE = 0.35  # radius at which the oldest frame is drawn; the present is at 1
EDGE = 1.16


class Ring:
    """Artists of one circle, moved by `show`."""

    def __init__(self, ax: Axes):
        ax.add_patch(Circle((0, 0), 1.0, fill=False, ec=SOFT, lw=0.8, zorder=1))
        ax.add_patch(Circle((0, 0), CORE, fill=False, ec=HAIR, lw=0.5, zorder=1))
        for angle in np.arange(0, 2 * np.pi, np.pi / 2):
            tick = np.outer([1.02, 1.06], [np.cos(angle), np.sin(angle)])
            ax.plot(*tick.T, color=SOFT, lw=0.6)
        self.trails, self.beads = Trails(ax, 2.0), Beads(ax, 3.0)
        ax.set(xlim=(-EDGE, EDGE), ylim=(-EDGE, EDGE), aspect="equal")
        ax.set_axis_off()

    @property
    def artists(self) -> list:
        """What `show` changes, in drawing order."""
        return [self.trails.artist, self.beads.artist]

    def show(self, past: History, colors: np.ndarray, camera: object = None) -> None:
        """Tokens of the last frame on the circle; inside it, radius is time."""
        points, weights = past.points[-1], past.weights[-1]
        self.beads.place(points, radii(points, weights), colors)
        kept = worth_drawing(past.points) if len(past.times) > 1 else np.array([0])
        radius = np.linspace(CORE, 1.0, len(past.times))[kept]
        pieces = pieces_of(past.points[kept] * radius[:, None, None])
        fresh = freshness(kept, points.shape[0]) if len(kept) > 1 else np.empty(0)
        tinted = np.tile(colors, (len(kept) - 1, 1))
        color = mixed(tinted, np.array(to_rgb(PAPER)), 0.35 + 0.45 * fresh)
        self.trails.place(pieces, 0.5 + 0.7 * fresh, color)


@styled
def circle(
    mu: Trajectory | Particles | np.ndarray,
    *,
    ax: Axes | None = None,
    color: Color = None,
    trails: bool = True,
) -> Axes:
    """Points of S^1 as beads on a circle; a trajectory adds its past inside.

    Inside the circle radius is time, from the first frame at the inner circle to the
    present at the outer one. The volume of a bead is the mass at its place.
    """
    history = as_history(mu)
    require_sphere(history, 2, "circle")
    ax = axes_or_new(ax, 3.6, 3.6)
    past = history if trails else last_frame(history)
    Ring(ax).show(past, colors_of(history, color))
    return ax
