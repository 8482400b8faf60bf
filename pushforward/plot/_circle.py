"""Tokens on the unit circle."""

import numpy as np
from matplotlib.axes import Axes

from pushforward.flows import Trajectory
from pushforward.measures import Particles
from pushforward.plot._colors import Color, colors_of
from pushforward.plot._history import as_history, require_sphere
from pushforward.plot._ring import Ring
from pushforward.plot._sphere import last_frame
from pushforward.plot._style import axes_or_new, styled


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
