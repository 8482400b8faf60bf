"""Pictures of long-horizon control: layers, spectra, states in space and time.

States on the unit square at a few times, side by side.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pushforward.errors import InputError
from pushforward.plot.style import (
    DEPTHS,
    INK,
    PALETTE,
    SOFT,
    axes_or_new,
    new_figure,
    styled,
)


@styled
def turnpike_layers(
    runs: Sequence[tuple[np.ndarray, np.ndarray]],
    rate: float,
    *,
    ax: Axes | None = None,
    ylabel: str = "distance to the static optimum",
) -> Axes:
    """Distances to the turnpike, one line per (times, distances), on a log scale.

    Dashed: the two layers e^{-mu t} and e^{-mu (T - t)} of the last run, scaled to
    touch its ends.
    """
    if not runs:
        raise InputError("`runs` is empty: pass at least one (times, distances).")
    ax = axes_or_new(ax, 5.0, 3.0)
    for k, (times, distance) in enumerate(runs):
        label = f"T = {times[-1]:g}"
        ax.semilogy(times, distance, color=PALETTE[k % len(PALETTE)], label=label)
    times, distance = runs[-1]
    inside = distance[distance > 0]
    early = distance[0] * np.exp(-rate * times)
    late = distance[-1] * np.exp(-rate * (times[-1] - times))
    style = {"color": INK, "ls": (0, (4, 2.5)), "lw": 0.9}
    ax.semilogy(times, early, **style, label=f"rate {rate:.4g}")
    ax.semilogy(times, late, **style)
    ax.set_ylim(0.3 * inside.min(), 3 * inside.max())
    ax.set_xlabel("time")
    ax.set_ylabel(ylabel)
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return ax


@styled
def spectra(
    spectrum: Mapping[str, np.ndarray], *, cloud: float | None = None
) -> Figure:
    """Hamiltonian eigenvalues in the plane, one panel per name.

    Red: the gap min |Re|. Dashed: the predicted abscissa of the bulk.
    """
    figure = new_figure(3.4 * len(spectrum), 3.1)
    shared = max(float(np.max(np.abs(s.imag))) for s in spectrum.values())
    for k, (name, values) in enumerate(spectrum.items()):
        ax = figure.add_subplot(1, len(spectrum), k + 1)
        ax.plot(values.real, values.imag, ".", ms=2.2, color=PALETTE[0])
        gap = float(np.min(np.abs(values.real)))
        width = max(float(np.max(np.abs(values.real))), 0.05)
        for sign in (-1, 1):
            ax.axvline(sign * gap, color=PALETTE[1], lw=1.0, zorder=0)
            if cloud is not None and gap > 1e-9:
                ax.axvline(sign * cloud, color=INK, ls=(0, (4, 2.5)), lw=0.8, zorder=0)
        ax.set_xlim(-1.25 * width, 1.25 * width)
        ax.set_ylim(-1.05 * shared, 1.05 * shared)
        ax.set_title(f"{name}\nmin |Re| = {gap:.3g}")
        ax.set_xlabel("Re")
        ax.set_ylabel("Im" if k == 0 else "")
    return figure


@styled
def space_time(
    times: np.ndarray,
    space: np.ndarray,
    values: np.ndarray,
    *,
    ax: Axes | None = None,
    label: str = "y(t, x)",
    space_label: str = "x",
) -> Axes:
    """A state as a heat map: time to the right, space upward."""
    values = np.asarray(values)
    if values.shape != (len(times), len(space)):
        raise InputError(
            f"`values` must be ({len(times)}, {len(space)}), got {values.shape}."
        )
    ax = axes_or_new(ax, 5.0, 2.8)
    low, high = float(values.min()), float(values.max())
    if low < -0.05 * high:  # both signs: white must mean zero
        reach = max(-low, high)
        look: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -reach, "vmax": reach}
    else:
        look = {"cmap": DEPTHS}
    mesh = ax.pcolormesh(
        times, space, values.T, shading="nearest", rasterized=True, **look
    )
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02)
    bar.set_label(label)
    bar.outline.set_linewidth(0.4)
    ax.set_xlabel("time")
    ax.set_ylabel(space_label)
    return ax


@styled
def two_minimizers(
    boundary: np.ndarray,
    cost: np.ndarray,
    minima: Sequence[tuple[float, float]],
    profiles: Sequence[tuple[np.ndarray, np.ndarray]],
) -> Figure:
    """The cost of a boundary value with its two minima, and the two states."""
    figure = new_figure(7.4, 2.9)
    left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    left.plot(boundary, cost, color=INK)
    for k, (v, value) in enumerate(minima):
        color = PALETTE[k]
        left.plot(v, value, "o", color=color, ms=5)
        x, y = profiles[k]
        right.plot(x, y, color=color, label=f"v = {v:.4f}")
    left.axhline(minima[0][1], color=SOFT, lw=0.6, ls=":")
    left.set_xlabel("boundary value v")
    left.set_ylabel("stationary cost minus its constant")
    right.axhline(0, color=SOFT, lw=0.5)
    right.set_xlabel("x")
    right.set_ylabel("stationary state y")
    right.legend()
    return figure


@styled
def value_collapse(
    states: np.ndarray,
    values: Mapping[float, np.ndarray],
    limit: np.ndarray,
    *,
    ax: Axes | None = None,
) -> Axes:
    """V(T, x) - T V_s for several T, falling on phi(x) + c (dashed)."""
    ax = axes_or_new(ax, 4.6, 3.0)
    shades = DEPTHS(np.linspace(0.35, 0.85, len(values)))
    for shade, (horizon, value) in zip(shades, values.items(), strict=True):
        ax.plot(states, value, color=shade, label=f"T = {horizon:g}")
    ax.plot(states, limit, color=PALETTE[1], ls=(0, (4, 2.5)), label=r"$\varphi + c$")
    ax.set_xlabel("x")
    ax.set_ylabel(r"$V(T, x) - T\,V_s$")
    ax.legend()
    return ax


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
