"""Tokens as beads whose volume is their mass, so that merging is seen.

The past of each token as a line that thins and pales with age.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection

from pushforward.plot.style import PAPER

STRIDE = 0.02  # frames in which no token moves farther than this are skipped


def worth_drawing(points: np.ndarray, stride: float = STRIDE) -> np.ndarray:
    """Indices of the frames (t, n, d) that a trail needs: the rest would be dots."""
    kept = [0]
    for k in range(1, len(points)):
        if np.abs(points[k] - points[kept[-1]]).max() > stride:
            kept.append(k)
    if kept[-1] != len(points) - 1:
        kept.append(len(points) - 1)
    return np.array(kept)


class Trails:
    """A layer of line pieces, redrawn in place."""

    def __init__(self, ax: Axes, zorder: float):
        self.artist = LineCollection([], zorder=zorder, capstyle="round", clip_on=False)
        ax.add_collection(self.artist, autolim=False)

    def place(self, pieces: np.ndarray, width: np.ndarray, color: np.ndarray) -> None:
        """Pieces (k, 2, 2) with a width and an opaque color each; widest on top."""
        order = np.argsort(width, kind="stable")
        self.artist.set_segments(list(pieces[order]))
        self.artist.set_linewidth(width[order].tolist())
        self.artist.set_color(np.clip(color[order], 0, 1))


def pieces_of(past: np.ndarray) -> np.ndarray:
    """(t, n, c) positions as ((t - 1) n, 2, c) line pieces, oldest first."""
    pairs = np.stack([past[:-1], past[1:]], axis=2)
    return pairs.reshape(-1, 2, past.shape[2])


def freshness(times: np.ndarray, n: int) -> np.ndarray:
    """For each piece, 0 at the oldest and 1 now, by index rather than by time.

    Saved times may be spaced by logarithm; a trail should fade evenly along itself.
    """
    count = max(len(times) - 1, 1)
    return np.repeat((np.arange(1, count + 1)) / count, n)


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
