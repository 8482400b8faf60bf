"""One look for every figure: ink on white, thin axes, colors that print and that
color-blind readers tell apart. Nothing here touches global settings."""

import functools
import io
import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from pushforward.errors import InputError

INK = "#1f2530"
SOFT = "#6b7686"  # secondary text, ticks
HAIR = "#c3cbd6"  # grid, graticule, rims
PAPER = "#ffffff"
# Ten hues chosen after Okabe-Ito and Tol: distinct in lightness as well as in hue.
PALETTE = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc4f94",
    "#e69f00",
    "#56b4e9",
    "#5b3a94",
    "#8a6d1f",
    "#7fb800",
    "#7a1f3d",
)
OTHER = "#8b94a3"  # clusters beyond the palette

# From paper to ink through blue: lightness falls steadily, so it survives a printer.
DEPTHS = LinearSegmentedColormap.from_list(
    "depths", ["#fbfcfe", "#cfe0ee", "#7fb2d6", "#2f78b0", "#123f6d", "#0a1f3a"]
)

RC: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # ships with matplotlib: same bits everywhere
    "mathtext.fontset": "dejavusans",
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titleweight": "regular",
    "axes.titlepad": 6.0,
    "axes.labelsize": 9.0,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.edgecolor": SOFT,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=PALETTE),
    "axes.unicode_minus": True,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "grid.color": HAIR,
    "grid.linewidth": 0.4,
    "lines.linewidth": 1.4,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "pushforward",
}

P = ParamSpec("P")
R = TypeVar("R")


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Run a drawing function under the house settings, then restore the user's."""

    @functools.wraps(draw)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        with matplotlib.rc_context(RC):
            return draw(*args, **kwargs)

    return inside


class Picture(Figure):
    """A figure that shows itself in a notebook, whatever was asked of matplotlib."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with matplotlib.rc_context(RC):
            self.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
        return buffer.getvalue()

    def show(self, warn: bool = True) -> None:
        """Show it in a notebook; there is no window, so elsewhere it is saved."""
        display = getattr(sys.modules.get("IPython.display"), "display", None)
        if display is None:
            raise InputError(
                "a picture has no window of its own. In a notebook name it on the last "
                'line of a cell; in a script call pf.plot.save(figure, "picture.png").'
            )
        display(self)


def new_figure(width: float, height: float, layout: str | None = "constrained"):
    """A figure of width x height inches on its own canvas, without pyplot."""
    figure = Picture(figsize=(width, height), layout=layout)  # type: ignore[arg-type]
    FigureCanvasAgg(figure)
    return figure


def axes_or_new(ax: Axes | None, width: float = 4.2, height: float = 3.0) -> Axes:
    """The axes given, or those of a new figure."""
    return new_figure(width, height).add_subplot() if ax is None else ax


def mixed(color: np.ndarray, other: np.ndarray, share: np.ndarray) -> np.ndarray:
    """share * color + (1 - share) * other, row by row: fading without transparency.

    Opaque colors overlap cleanly, where translucent segments would darken at joints.
    """
    share = np.asarray(share)[..., None]
    return share * color + (1 - share) * other
