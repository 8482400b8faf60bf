"""Tokens on S^2, with the paths that brought them there."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pushforward.errors import InputError
from pushforward.flows import Trajectory
from pushforward.measures import Particles
from pushforward.plot._colors import Color, colors_of
from pushforward.plot._globe import Camera, Globe
from pushforward.plot._history import (
    History,
    as_history,
    as_trajectory,
    require_sphere,
)
from pushforward.plot.style import axes_or_new, new_figure, styled


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
    past = history if trails else last_frame(history)
    ax = axes_or_new(ax, 4.0, 4.0)
    view = camera or facing_end(history)
    Globe(ax).show(past, colors_of(history, color), view)
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
    colors = colors_of(history, color)
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
