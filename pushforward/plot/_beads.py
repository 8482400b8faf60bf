"""Tokens as beads whose volume is their mass, so that merging is seen."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection

from pushforward.plot._style import PAPER

WHOLE = 0.11  # radius of the bead that carries all the mass, on the unit sphere
LEAST = 0.007  # a bead stays visible
NEAR = 0.04  # distance at which beads begin to count as one


def radii(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Radius WHOLE m^{1/3}, with m_i = sum_j w_j e^{-|x_i - x_j|^2 / 2 NEAR^2}.

    The local mass m is smooth in the positions: beads swell as they meet, and no size
    jumps. Above 2,000 tokens each bead has its own mass only.
    """
    mass = weights
    if len(points) <= 2000:
        square = (points**2).sum(1)
        gap = square[:, None] + square - 2 * points @ points.T
        mass = np.exp(-np.maximum(gap, 0) / (2 * NEAR**2)) @ weights
    return np.maximum(WHOLE * np.cbrt(mass), LEAST)


class Beads:
    """A layer of discs sized in data units, redrawn in place."""

    def __init__(self, ax: Axes, zorder: float, rim: float = 0.5):
        self.artist = EllipseCollection(
            [],
            [],
            [],
            units="xy",
            offsets=np.empty((0, 2)),
            offset_transform=ax.transData,
            linewidths=rim,
            edgecolors=PAPER,
            zorder=zorder,
            clip_on=False,
        )
        ax.add_collection(self.artist, autolim=False)

    def place(self, xy: np.ndarray, radius: np.ndarray, color: np.ndarray) -> None:
        """Discs at xy (n, 2), in the order given: later ones lie on top."""
        self.artist.set_offsets(xy)
        self.artist.set_widths(2 * radius)
        self.artist.set_heights(2 * radius)
        self.artist.set_angles(np.zeros(len(xy)))
        self.artist.set_facecolor(np.clip(color, 0, 1))
