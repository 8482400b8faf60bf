"""States on the unit square at a few times, side by side."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pushforward.errors import InputError
from pushforward.plot._style import DEPTHS, INK, new_figure, styled


@styled
def square_snapshots(
    points: np.ndarray,
    states: np.ndarray,
    titles: Sequence[str],
    *,
    edge: float | None = None,
    axes: Sequence[Axes] | None = None,
    label: str = "y",
) -> Figure:
    """Maps of `states` (panels, n) at the nodes `points` (n, 2) of a uniform grid.

    The nodes are those inside the square; on its boundary the state is zero.
    Dashed: x = `edge`, where the control ends. One scale for all panels.
    """
    states = np.asarray(states)
    if states.shape != (len(titles), len(points)):
        raise InputError(
            f"`states` must be ({len(titles)}, {len(points)}), one row per title and "
            f"one column per node, got {states.shape}."
        )
    if axes is None:
        figure = new_figure(2.0 * len(titles) + 0.6, 2.3)
        axes = [figure.add_subplot(1, len(titles), k + 1) for k in range(len(titles))]
    top = float(states.max())
    for k, (ax, title, values) in enumerate(zip(axes, titles, states, strict=True)):
        shown = ax.imshow(
            _as_grid(points, values),
            extent=(0, 1, 0, 1),
            origin="lower",
            cmap=DEPTHS,
            vmin=0,
            vmax=top,
            interpolation="bicubic",
        )
        if edge is not None:
            ax.axvline(edge, color=INK, lw=0.7, ls=(0, (3, 2)))
        ax.set_title(title)
        ax.set_xticks([0, 1])
        ax.set_yticks([0, 1] if k == 0 else [])
    bar = axes[0].figure.colorbar(shown, ax=list(axes), pad=0.02, shrink=0.75)
    bar.set_label(label)
    bar.outline.set_linewidth(0.4)
    return axes[0].figure  # type: ignore[return-value]


def _as_grid(points: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values by row of x2 and column of x1, with a frame of zeros."""
    side = round(len(points) ** 0.5)
    if side * side != len(points):
        raise InputError(
            f"`points` must be the inner nodes of a square grid, got {len(points)}."
        )
    tidy = np.round(points, 9)
    order = np.lexsort((tidy[:, 0], tidy[:, 1]))
    return np.pad(values[order].reshape(side, side), 1)
