"""A quantity over two parameters, with the curve that theory draws through it."""

from collections.abc import Callable

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.colors import Colormap

from pushforward.errors import InputError
from pushforward.plot.style import DEPTHS, PALETTE, PAPER, axes_or_new, styled


@styled
def phase_diagram(
    x: np.ndarray,
    y: np.ndarray,
    values: np.ndarray,
    *,
    curve: tuple[np.ndarray, np.ndarray] | Callable | None = None,
    ax: Axes | None = None,
    xlabel: str = "",
    ylabel: str = "",
    label: str = "",
    curve_label: str = "theory",
    limits: tuple[float, float] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    colormap: Colormap = DEPTHS,
) -> Axes:
    """A heat map of `values` (len(y), len(x)), centered at x and y.

    `curve` is a pair (x, y) of arrays or a function of x; it is drawn dashed over the
    map and only where it is finite. Cells that are NaN stay gray: not computed yet.
    """
    x, y = (np.asarray(a, dtype=float) for a in (x, y))
    values = np.asarray(values, dtype=float)
    _check(x, y, values, log_x, log_y)
    ax = axes_or_new(ax, 4.4, 3.3)
    ax.set_facecolor("#b9b4ac")
    low, high = (None, None) if limits is None else limits
    mesh = ax.pcolormesh(
        _edges(x, log_x),
        _edges(y, log_y),
        np.ma.masked_invalid(values),
        cmap=colormap,
        vmin=low,
        vmax=high,
        rasterized=True,  # thousands of cells are an image, also in a PDF
    )
    ax.set_xscale("log" if log_x else "linear")
    ax.set_yscale("log" if log_y else "linear")
    window = ax.get_xlim(), ax.get_ylim()
    if curve is not None:
        _overlay(ax, x, curve, log_x, curve_label)
    ax.set(xlim=window[0], ylim=window[1], xlabel=xlabel, ylabel=ylabel)
    bar = ax.get_figure(root=False).colorbar(mesh, ax=ax, pad=0.02, aspect=28)  # type: ignore[union-attr]
    bar.set_label(label)
    bar.outline.set_visible(False)
    return ax


def _overlay(ax: Axes, x: np.ndarray, curve, log_x: bool, label: str) -> None:
    if callable(curve):
        spaced = np.geomspace if log_x else np.linspace
        u = spaced(x[0], x[-1], 400)
        v = np.asarray(curve(u), dtype=float)
    else:
        u, v = (np.asarray(a, dtype=float) for a in curve)
    if u.shape != v.shape or u.ndim != 1:
        raise InputError(
            f"`curve` must be two arrays of one length or a function of x, got shapes "
            f"{u.shape} and {v.shape}."
        )
    halo = [patheffects.withStroke(linewidth=3.2, foreground=PAPER)]
    style: dict = {"color": PALETTE[1], "lw": 1.6, "ls": (0, (4, 2)), "zorder": 3}
    ax.plot(u, v, label=label, path_effects=halo, **style)
    if label:
        above: dict = {
            "loc": "lower right",
            "bbox_to_anchor": (1.0, 1.0),
            "borderpad": 0.2,
        }
        ax.legend(handlelength=2.4, **above)


def _edges(centers: np.ndarray, log: bool) -> np.ndarray:
    """Cell borders halfway between centers (in the logarithm on a log axis)."""
    c = np.log(centers) if log else centers
    if len(c) == 1:
        edges = np.array([c[0] - 0.5, c[0] + 0.5])
    else:
        middle = (c[1:] + c[:-1]) / 2
        edges = np.concatenate(
            [[2 * c[0] - middle[0]], middle, [2 * c[-1] - middle[-1]]]
        )
    return np.exp(edges) if log else edges


def _check(x, y, values, log_x: bool, log_y: bool) -> None:
    for name, a, log in (("x", x, log_x), ("y", y, log_y)):
        if a.ndim != 1 or len(a) == 0 or not (np.diff(a) > 0).all():
            raise InputError(f"`{name}` must be increasing numbers, got {a!r:.60}.")
        if log and a[0] <= 0:
            raise InputError(f"`log_{name}` needs `{name}` > 0, got {a[0]:g}.")
    if values.shape != (len(y), len(x)):
        hint = " Pass values.T." if values.shape == (len(x), len(y)) else ""
        raise InputError(
            f"`values` must have shape (len(y), len(x)) = {(len(y), len(x))}, got "
            f"{values.shape}.{hint}"
        )
