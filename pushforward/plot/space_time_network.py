"""A network of changing width as a picture: states over depth and neuron index."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pushforward.plot._style import HAIR, new_figure, styled


@styled
def width_heat_maps(
    grids: Sequence[np.ndarray], states: Sequence[np.ndarray], titles: Sequence[str]
) -> Figure:
    """x(t, zeta) of several samples, (layers + 1, width) each; one column per layer.

    Every layer is drawn with its own nodes, so a diamond of widths looks like one.
    """
    figure = new_figure(2.6 * len(states) + 0.6, 2.9)
    widest = max(len(g) for g in grids)
    reach = max(float(np.max(np.abs(s))) for s in states)
    mesh = None
    for k, state in enumerate(states):
        ax = figure.add_subplot(1, len(states), k + 1)
        for layer, grid in enumerate(grids):
            n = len(grid)
            edges = 0.5 + (n / widest) * (np.linspace(0, 1, n + 1) - 0.5)
            mesh = ax.pcolormesh(
                [layer, layer + 0.92],
                edges,
                state[layer, :n, None],
                cmap="RdBu_r",
                vmin=-reach,
                vmax=reach,
                edgecolor=HAIR,
                linewidth=0.15,
                rasterized=True,
            )
        ax.set_title(titles[k])
        ax.set_xlabel("layer")
        ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        ax.set_yticks([])
        ax.set_ylabel("neuron index" if k == 0 else "")
        ax.spines["left"].set_visible(False)
    if mesh is not None:
        bar = figure.colorbar(mesh, ax=figure.axes, pad=0.02)
        bar.set_label(r"$x(t, \zeta)$")
    return figure
