"""The unit ball of R^3 on paper: shading, graticule, and tokens as beads whose volume
is their mass.
"""

import dataclasses

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle

from pushforward.errors import InputError
from pushforward.plot.runs._history import History
from pushforward.plot.style import HAIR, PAPER, SOFT, mixed

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
    jumps.
    """
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


@dataclasses.dataclass(frozen=True)
class Camera:
    """An orthographic view from (azimuth, elevation), in degrees; the z axis points up.

    >>> Camera(azimuth=0.0, elevation=0.0).see(np.array([[1.0, 0.0, 0.0]])).tolist()
    [[0.0, 0.0, 1.0]]
    """

    azimuth: float = -60.0
    elevation: float = 22.0

    def __post_init__(self) -> None:
        angles = np.array([self.azimuth, self.elevation], dtype=float)
        if not np.isfinite(angles).all() or abs(self.elevation) > 90:
            raise InputError(
                "a camera needs a finite azimuth and an elevation in [-90, 90] "
                f"degrees, got azimuth={self.azimuth}, elevation={self.elevation}."
            )

    @property
    def axes(self) -> np.ndarray:
        """Rows: to the right, up, and toward the eye."""
        a, e = np.radians([self.azimuth, self.elevation])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        eye = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
        return np.stack([right, np.cross(eye, right), eye])

    def see(self, points: np.ndarray) -> np.ndarray:
        """(..., 3) points as (across, up, depth); depth > 0 is the near side."""
        return points @ self.axes.T + 0.0  # no negative zeros

    def turned(self, degrees: float) -> "Camera":
        """The same view after walking around the z axis."""
        return Camera(self.azimuth + degrees, self.elevation)

    @classmethod
    def facing(cls, points: np.ndarray, weights: np.ndarray) -> "Camera":
        """The view that shows the most mass on the near side, away from the rim.

        Searched over azimuths, a little above or below the equator.
        """
        views = [cls(a, e) for e in (22, -22) for a in np.arange(-180.0, 180.0, 5)]
        eyes = np.stack([view.axes[2] for view in views])
        shown = np.tanh(2.5 * (points @ eyes.T - 0.2))  # (n, views)
        return views[int(np.argmax(np.round(weights @ shown, 12)))]


LIGHT = np.array([-0.45, 0.55, 0.70]) / np.linalg.norm([-0.45, 0.55, 0.70])
LIT, SHADE = np.array(to_rgb("#fbfcfe")), np.array(to_rgb("#c9d3e1"))
BODY = np.array(to_rgb("#e9eef5"))  # what far things fade into
TINY = 1.5e-3  # pieces of trail below half a pixel are not drawn
EDGE = 1.06  # half-width of the axes: room for beads on the rim


class Globe:
    """Artists of one globe, moved by `show`; films redraw them, pictures do so once."""

    def __init__(self, ax: Axes, graticule: bool = True):
        self.lines = _graticule() if graticule else np.empty((0, 2, 3))
        rim = Circle((0, 0), 1.0, fill=False, ec=SOFT, lw=0.7, zorder=2.5, alpha=0.8)
        ax.add_patch(rim)  # before it clips: it has no place until then
        ball = ax.imshow(_shading(), extent=(-1, 1, -1, 1), interpolation="bilinear")
        ball.set(clip_path=rim, zorder=0)
        far = LineCollection([], colors=HAIR, linewidths=0.35, alpha=0.45, zorder=1)
        near = LineCollection([], colors=HAIR, linewidths=0.5, alpha=0.95, zorder=2)
        self.graticule = [far, near]
        for lines in self.graticule:
            ax.add_collection(lines, autolim=False)
        self.trails = [Trails(ax, 1.2), Trails(ax, 3.0)]
        self.beads = [Beads(ax, 1.4, rim=0.25), Beads(ax, 4.0)]
        ax.set(xlim=(-EDGE, EDGE), ylim=(-EDGE, EDGE), aspect="equal")
        ax.set_axis_off()

    @property
    def artists(self) -> list:
        """What `show` changes, in drawing order."""
        found: list = [*self.graticule, *(layer.artist for layer in self.trails)]
        found += [layer.artist for layer in self.beads]
        return sorted(found, key=lambda artist: artist.get_zorder())

    def show(self, past: History, colors: np.ndarray, camera: Camera) -> None:
        """Tokens at the last frame of `past`, and the trails that led there."""
        self._turn(camera)
        self._trail(past, colors, camera)
        self._place(past, colors, camera)

    def _turn(self, camera: Camera) -> None:
        seen = camera.see(self.lines)
        depth = seen[..., 2:]
        for lines, hidden in zip(self.graticule, (depth > 0, depth < 0), strict=True):
            lines.set_segments(list(np.where(hidden, np.nan, seen[..., :2])))

    def _place(self, past: History, colors: np.ndarray, camera: Camera) -> None:
        points, weights = past.points[-1], past.weights[-1]
        seen, size = camera.see(points), radii(points, weights)
        order = np.argsort(seen[:, 2], kind="stable")
        for layer, side in zip(self.beads, (-1, 1), strict=True):
            mine = order[(seen[order, 2] >= 0) == (side > 0)]
            depth = seen[mine, 2]
            color = mixed(colors[mine], BODY, strength(depth))
            layer.place(seen[mine, :2], size[mine] * (0.94 + 0.06 * depth), color)

    def _trail(self, past: History, colors: np.ndarray, camera: Camera) -> None:
        kept = worth_drawing(past.points)
        n = past.points.shape[1]
        pieces = pieces_of(camera.see(past.points[kept]))
        fresh = freshness(kept, n) if len(kept) > 1 else np.empty(0)
        depth = pieces[..., 2].mean(axis=1)
        share = strength(depth) * (0.42 + 0.40 * fresh)
        color = mixed(np.tile(colors, (len(kept) - 1, 1)), BODY, share)
        width = (0.5 + 1.1 * fresh) * np.where(depth > 0, 1.0, 0.7)
        long = np.abs(pieces[:, 0, :2] - pieces[:, 1, :2]).max(axis=1) > TINY
        for layer, side in zip(self.trails, (-1, 1), strict=True):
            mine = long & ((depth >= 0) == (side > 0))
            layer.place(pieces[mine, :, :2], width[mine], color[mine])


def strength(depth: np.ndarray) -> np.ndarray:
    """How much of its own color a thing keeps: 1 in front, a quarter at the back."""
    s = np.clip((depth + 0.12) / 0.42, 0, 1)
    return 0.30 + 0.08 * np.clip(depth, -1, 0) + 0.70 * s * s * (3 - 2 * s)


def _shading(size: int = 360) -> np.ndarray:
    """A matte ball lit from the upper left, as an (size, size, 3) image."""
    u = np.linspace(-1, 1, size)
    x, y = np.meshgrid(u, u[::-1])
    z = np.sqrt(np.maximum(1 - x**2 - y**2, 0.0))
    light = np.clip((x * LIGHT[0] + y * LIGHT[1] + z * LIGHT[2] + 0.6) / 1.6, 0, 1)
    return mixed(LIT, SHADE, light * (0.45 + 0.55 * z**0.6))  # darker toward the limb


def _graticule(every: int = 30, steps: int = 91) -> np.ndarray:
    """Meridians and parallels, (lines, steps, 3)."""
    across = np.radians(np.linspace(-180, 180, steps))
    along = np.radians(np.linspace(-90, 90, steps))
    meridians = [
        np.stack([np.cos(along) * np.cos(a), np.cos(along) * np.sin(a), np.sin(along)])
        for a in np.radians(np.arange(0, 360, every))
    ]
    parallels = [
        np.stack([np.cos(b) * np.cos(across), np.cos(b) * np.sin(across), 0 * across])
        + np.array([[0.0], [0.0], [np.sin(b)]])
        for b in np.radians(np.arange(every - 90, 90, every))
    ]
    return np.stack([line.T for line in meridians + parallels])
