"""Points of the plane: tokens without layer norm, or a projection of them."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from pushforward.plot._beads import Beads, radii
from pushforward.plot._history import History
from pushforward.plot._style import PAPER, mixed
from pushforward.plot._trails import Trails, freshness, pieces_of, worth_drawing


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
