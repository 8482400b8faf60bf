"""What the figures share: paths of tokens in the plane, or in space seen from afar."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from scipy.spatial import ConvexHull

from pushforward import plot
from pushforward.plot.style import HAIR, INK, PALETTE, PAPER, SOFT, mixed

CAMERA = plot.Camera(azimuth=-55.0, elevation=24.0)


def seen(points: np.ndarray, camera: plot.Camera = CAMERA) -> np.ndarray:
    """(..., 2): points of the plane as they are, points of space from the camera."""
    return points if points.shape[-1] == 2 else camera.see(points)[..., :2]


def group_colors(labels: np.ndarray) -> np.ndarray:
    """One color of the palette per group, the largest group first."""
    order = np.argsort(-np.bincount(labels), kind="stable")
    rank = np.argsort(order)
    return np.array([to_rgb(PALETTE[k % len(PALETTE)]) for k in rank[labels]])


def paths(ax: Axes, points: np.ndarray, colors: np.ndarray, size: float = 16.0) -> None:
    """Trails of tokens (t, n, 2 or 3), hollow at the start and full at the end."""
    flat = seen(points)
    pale = mixed(colors, np.array(to_rgb(PAPER)), np.full(len(colors), 0.55))
    lines = list(flat.transpose(1, 0, 2))
    ax.add_collection(
        LineCollection(lines, colors=pale.tolist(), linewidths=0.8, zorder=2)
    )
    hollow: dict = {"c": PAPER, "edgecolors": colors, "lw": 0.7, "zorder": 3}
    full: dict = {"c": colors, "edgecolors": PAPER, "lw": 0.4, "zorder": 4}
    ax.scatter(flat[0, :, 0], flat[0, :, 1], s=0.5 * size, **hollow)
    ax.scatter(flat[-1, :, 0], flat[-1, :, 1], s=size, **full)


def hull(ax: Axes, points: np.ndarray, late: bool) -> None:
    """The convex hull, dashed for the start; edges on the far side are pale."""
    style: dict = {"lw": 0.9} if late else {"lw": 0.7, "ls": (0, (4, 3))}
    near = INK if late else SOFT
    for (i, j), front in _edges(ConvexHull(points)).items():
        ends = seen(points[[i, j]])
        ax.plot(*ends.T, color=near if front else HAIR, zorder=1 + 0.5 * front, **style)


def _edges(found: ConvexHull) -> dict[tuple[int, int], bool]:
    """Edges of the hull, and whether a face beside them looks at the camera."""
    if found.points.shape[1] == 2:
        return {(int(i), int(j)): True for i, j in found.simplices}
    normals = found.equations[:, :-1]
    looks = normals @ CAMERA.axes[2] > 0
    edges = {}
    for f, (face, others) in enumerate(
        zip(found.simplices, found.neighbors, strict=True)
    ):
        for k, g in enumerate(others):
            if normals[f] @ normals[g] < 1 - 1e-6:  # no diagonals of flat faces
                i, j = sorted(int(v) for v in np.delete(face, k))
                edges[i, j] = bool(looks[f] or looks[g])
    return edges


def frame(ax: Axes, *clouds: np.ndarray, margin: float = 0.06) -> None:
    """A square window around everything; in space a picture without axes."""
    flat = np.concatenate([seen(c).reshape(-1, 2) for c in clouds])
    low, high = flat.min(axis=0), flat.max(axis=0)
    reach = (0.5 + margin) * float((high - low).max())
    middle = (low + high) / 2
    ax.set_xlim(middle[0] - reach, middle[0] + reach)
    ax.set_ylim(middle[1] - reach, middle[1] + reach)
    ax.set_aspect("equal")
    if clouds[0].shape[-1] == 3:
        ax.set_axis_off()


def triad(ax: Axes) -> None:
    """The three axes of space, small, in the lower left corner."""
    ends = CAMERA.see(np.eye(3))[:, :2]
    inset = ax.inset_axes((0.0, 0.0, 0.16, 0.16))
    for end, name in zip(ends, "xyz", strict=True):
        inset.plot([0, end[0]], [0, end[1]], color=SOFT, lw=0.8)
        inset.text(
            1.35 * end[0],
            1.35 * end[1],
            name,
            color=SOFT,
            size=6.5,
            ha="center",
            va="center",
        )
    inset.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal")
    inset.set_axis_off()


def parallel_lines(ax: Axes, form: np.ndarray, values: np.ndarray) -> None:
    """The lines {form x = value} of the plane, behind everything, across the window."""
    low, high = ax.get_xlim()
    reach = 4 * (high - low)
    along = reach * np.array([-form[1], form[0]]) / np.linalg.norm(form)
    limits = ax.get_xlim(), ax.get_ylim()
    for value in values:
        foot = form * value / (form @ form)
        ax.plot(*np.stack([foot - along, foot + along]).T, color=HAIR, lw=3, zorder=1)
    ax.set(xlim=limits[0], ylim=limits[1])
