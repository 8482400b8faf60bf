"""Pictures of networks in depth: classes on the move, regions, norms by layer.

A network of changing width as a picture: states over depth and neuron index.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pushforward.errors import InputError
from pushforward.plot.style import (
    HAIR,
    INK,
    PALETTE,
    SOFT,
    axes_or_new,
    new_figure,
    styled,
)

_PALE = ListedColormap(["#cfe0ee", "#f6d8c4", "#cfeadf", "#efd3e2"])


def _classes(labels: np.ndarray, n: int) -> np.ndarray:
    labels = np.asarray(labels)
    if labels.shape != (n,):
        raise InputError(f"`labels` must have shape ({n},), got {labels.shape}.")
    return np.unique(labels, return_inverse=True)[1]


@styled
def class_trajectories(
    states: np.ndarray, labels: np.ndarray, *, ax: Axes | None = None
) -> Axes:
    """Paths of samples in the plane, (times, n, d >= 2), one color per class.

    Open circles: start. Filled: end.
    """
    ax = axes_or_new(ax, 4.0, 3.8)
    kinds = _classes(labels, states.shape[1])
    for i, kind in enumerate(kinds):
        color = PALETTE[kind % len(PALETTE)]
        ax.plot(states[:, i, 0], states[:, i, 1], color=color, lw=0.5, alpha=0.55)
    for kind in np.unique(kinds):
        color, own = PALETTE[kind % len(PALETTE)], kinds == kind
        start, end = states[0, own], states[-1, own]
        ax.plot(start[:, 0], start[:, 1], "o", ms=3.2, mfc="white", mec=color, mew=0.7)
        ax.plot(end[:, 0], end[:, 1], "o", ms=3.2, color=color)
    ax.set_xlabel(r"$x_1$")
    ax.set_ylabel(r"$x_2$")
    ax.set_aspect("equal", adjustable="datalim")
    return ax


@styled
def lift(states: np.ndarray, labels: np.ndarray) -> Figure:
    """Start and end of samples in R^3: how the added coordinate untangles classes."""
    figure = new_figure(7.0, 3.4)
    kinds = _classes(labels, states.shape[1])
    colors = [PALETTE[k % len(PALETTE)] for k in kinds]
    for k, (title, x) in enumerate((("input", states[0]), ("output", states[-1]))):
        ax = figure.add_subplot(1, 2, k + 1, projection="3d")
        ax.scatter(x[:, 0], x[:, 1], x[:, 2], c=colors, s=6, linewidths=0)
        ax.set_title(title)
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.pane.fill = False
            axis.pane.set_edgecolor(HAIR)
            axis.set_major_locator(_few())
        ax.set_zlabel("added coordinate")
    return figure


def _few():
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)


@styled
def regions_by_layer(
    axes_values: np.ndarray,
    regions: np.ndarray,
    points: np.ndarray,
    labels: np.ndarray,
    layers: Sequence[int],
) -> Figure:
    """What each layer would answer: (panels, m, m) class numbers on a square grid."""
    columns = min(4, len(regions))
    rows = -(-len(regions) // columns)
    figure = new_figure(1.9 * columns, 2.05 * rows)
    kinds = _classes(labels, len(points))
    colors = np.array([PALETTE[k % len(PALETTE)] for k in kinds])
    for k, region in enumerate(regions):
        ax = figure.add_subplot(rows, columns, k + 1)
        ax.pcolormesh(
            axes_values,
            axes_values,
            region,
            cmap=_PALE,
            vmin=0,
            vmax=3,
            shading="nearest",
            rasterized=True,
        )
        ax.scatter(points[:, 0], points[:, 1], c=colors, s=2.0, linewidths=0)
        ax.set_title(f"layer {layers[k]}")
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_aspect("equal")
        for spine in ax.spines.values():
            spine.set_visible(False)
    return figure


@styled
def norms_by_layer(
    times: np.ndarray,
    norms: np.ndarray,
    *,
    active_time: float | None = None,
    bound: float | None = None,
    ax: Axes | None = None,
    ylabel: str = r"$\|u\|_1$",
) -> Axes:
    """A bar per layer, (layers + 1) times; dashed: the active time and the bound."""
    if len(times) != len(norms) + 1:
        raise InputError(
            f"`times` must have one more entry than `norms`, got {len(times)} and "
            f"{len(norms)}."
        )
    ax = axes_or_new(ax, 4.6, 2.4)
    alive = norms > 0
    ax.bar(
        times[:-1][alive],
        norms[alive],
        np.diff(times)[alive],
        align="edge",
        color=PALETTE[0],
        edgecolor="white",
        linewidth=0.3,
    )
    if bound is not None:
        ax.axhline(bound, color=SOFT, lw=0.8, ls=":", label=f"M = {bound:g}")
    if active_time is not None:
        dashes = (0, (4, 2.5))
        label = f"T* = {active_time:.3f}"
        ax.axvline(active_time, color=PALETTE[1], lw=1.0, ls=dashes, label=label)
    ax.set_xlim(times[0], times[-1])
    ax.set_ylim(0, 1.12 * max(float(np.max(norms)), bound or 0.0))
    ax.set_xlabel("depth t")
    ax.set_ylabel(ylabel)
    if bound is not None or active_time is not None:
        ax.legend(loc="center right")
    return ax


@styled
def decay_by_layer(
    curves: Mapping[str, tuple[np.ndarray, np.ndarray]],
    *,
    rates: Mapping[str, float] | None = None,
    ax: Axes | None = None,
    ylabel: str = "risk",
) -> Axes:
    """Quantities against depth on a log scale; dashed lines have predicted rates."""
    ax = axes_or_new(ax, 4.8, 2.9)
    for k, (name, (times, values)) in enumerate(curves.items()):
        color, shown = PALETTE[k % len(PALETTE)], np.asarray(values) > 0
        ax.semilogy(times[shown], values[shown], color=color, label=name)
        if rates and name in rates:
            anchor = len(times) // 3
            line = values[anchor] * np.exp(-rates[name] * (times - times[anchor]))
            shown_rate = f"rate {rates[name]:.4g}"
            dashes = (0, (4, 2.5))
            ax.semilogy(times, line, color=INK, ls=dashes, lw=0.9, label=shown_rate)
    ax.set_xlabel("depth t")
    ax.set_ylabel(ylabel)
    if len(curves) > 1 or rates:
        ax.legend()
    return ax


@styled
def power_laws(
    horizons: np.ndarray,
    curves: Mapping[str, np.ndarray],
    predictions: Mapping[str, np.ndarray],
    *,
    ax: Axes | None = None,
    ylabel: str = "final risk",
) -> Axes:
    """Quantities against the horizon on log axes; dashed: predictions."""
    ax = axes_or_new(ax, 4.6, 3.1)
    for k, (name, values) in enumerate(curves.items()):
        ax.loglog(horizons, values, "o-", ms=3, color=PALETTE[k], label=name)
    for k, (name, values) in enumerate(predictions.items()):
        color = (INK, SOFT)[k % 2]
        ax.loglog(horizons, values, color=color, ls=(0, (4, 2.5)), lw=1, label=name)
    ax.set_xlabel("horizon T")
    ax.set_ylabel(ylabel)
    ax.legend()
    return ax


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
