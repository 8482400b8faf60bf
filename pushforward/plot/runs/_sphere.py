"""Pictures of tokens on the circle and on S^2."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle

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
from pushforward.plot.runs._history import (
    History,
    as_history,
    as_trajectory,
    require_sphere,
)
from pushforward.plot.style import (
    HAIR,
    PAPER,
    SOFT,
    axes_or_new,
    mixed,
    new_figure,
    styled,
)


@styled
def sphere(
    mu: Trajectory | Particles | np.ndarray,
    *,
    ax: Axes | None = None,
    camera: Camera | None = None,
    color: Color = None,
    trails: bool = True,
) -> Axes:
    """Points of S^2 as beads on a globe; a trajectory adds the trails of its past.

    The volume of a bead is the mass at its place; what lies behind the globe is pale.
    Colors are the clusters of the last frame (`ByCluster(0.1)`) unless `color` is
    given. Without a `camera`, most of the final mass faces the reader.

    >>> import jax, pushforward as pf
    >>> mu = pf.Particles.uniform(pf.Sphere(3), 64, key=jax.random.key(0))
    >>> ax = pf.plot.sphere(mu, color=pf.plot.ByStart())
    """
    history = as_history(mu)
    require_sphere(history, 3, "sphere")
    shown, colors = history.drawn(colors_of(history, color))
    ax = axes_or_new(ax, 4.0, 4.0)
    view = camera or facing_end(shown)
    Globe(ax).show(shown if trails else last_frame(shown), colors, view)
    return ax


@styled
def frames(
    trajectory: Trajectory | np.ndarray,
    times: Sequence[float],
    *,
    camera: Camera | None = None,
    color: Color = None,
    trails: bool = True,
) -> Figure:
    """A strip of spheres, one for each of `times`, seen by one camera.

    Tokens keep the color of the cluster they will end in.
    """
    history = as_trajectory(trajectory, "frames")
    require_sphere(history, 3, "frames")
    chosen = [float(t) for t in np.atleast_1d(np.asarray(times, dtype=float))]
    if not chosen:
        raise InputError("`times` must name at least one time, for example [0, 20].")
    history, colors = history.drawn(colors_of(history, color))
    view = camera or facing_end(history)
    figure = new_figure(2.15 * len(chosen), 2.45)
    for ax, t in zip(np.ravel(figure.subplots(1, len(chosen))), chosen, strict=True):
        past = history.until(history.place(t))
        Globe(ax).show(past if trails else last_frame(past), colors, view)
        ax.set_title(f"t = {t:g}")
    return figure


def facing_end(history: History) -> Camera:
    """The camera that looks at where most tokens end."""
    return Camera.facing(history.points[-1], history.weights[-1])


def last_frame(history: History) -> History:
    """The present without its past."""
    return history.chosen(np.array([-1]))


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
    shown, colors = history.drawn(colors_of(history, color))
    Ring(ax).show(shown if trails else last_frame(shown), colors)
    return ax
