"""The phase diagram of a sweep, with the curves of the theory."""

import itertools

import numpy as np
from matplotlib.figure import Figure

from pushforward.errors import InputError
from pushforward.plot import phase_diagram
from pushforward.plot.style import new_figure, styled
from pushforward.sweeps._curves import Curve, sizes
from pushforward.sweeps._result import SweepResult

LABELS = {
    "ClosePairs": "share of close pairs",
    "ClusterCount": "clusters",
    "LargestMass": "largest mass",
    "InteractionEnergy": "energy",
    "mean_cosine": "mean cosine",
    "order_parameter": "order parameter",
    "effective_rank": "effective rank",
}
COLORS = ("#009e73", "#cc79a7", "#56b4e9")  # of further curves, told apart by all eyes
SYMBOLS = {"beta": "β", "noise": "σ", "sigma": "σ", "time": "t"}
EQUIANGULAR = Curve("equiangular.merging_time", label="γ(t) = 0.999")


@styled
def picture(result: SweepResult) -> Figure:
    """Heat maps over two dimensions, one panel per value of the others.

    The design says which; left out, time along x if there are frames, and the longest
    axes. Over time and temperature, for pairs closer than 0.999 under SA, the
    equiangular curve gamma_beta(t) = 0.999 of [geshkovski2023perspective] is on top.
    """
    names = dict(zip(result.dimensions, result.mean.shape, strict=True))
    if result.design.random or len(names) < 2:
        raise InputError("a picture needs a grid with at least one axis and times.")
    x, y = _plane(result, names)
    values, when = _at_time(result, x, y)
    others = [name for name in names if name not in (x, y, "time")]
    dimensions = [name for name in result.dimensions if name != "time" or x == "time"]
    order = [dimensions.index(name) for name in (*others, y, x)]
    values = values.transpose(order)
    panels = list(np.ndindex(values.shape[:-2]))
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = new_figure(3.5 * columns + 0.6, 2.6 * rows + 0.3)
    axes = np.ravel(figure.subplots(rows, columns, squeeze=False))
    low, high = np.nanmin(values), np.nanmax(values)
    limits = (low, high if high > low else low + 1)
    for ax, index in zip(axes, panels, strict=False):
        _panel(ax, result, x, y, values[index], limits)
        here = zip(others, index, strict=True)
        title = [
            f"{_symbol(result, name)} = {result.axes[name][i]}" for name, i in here
        ]
        ax.set_title(", ".join([*title, *when]), loc="left")
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    return figure


def _panel(ax, result: SweepResult, x: str, y: str, values, limits) -> None:
    first, *more = _curves(result, x, y) or [(None, None)]
    phase_diagram(
        _ticks(result, x),
        _ticks(result, y),
        values,
        curve=first[0],
        curve_label=first[1],
        ax=ax,
        xlabel=_symbol(result, x),
        ylabel=_symbol(result, y),
        label=_label(result),
        limits=limits,
    )
    for ((cx, cy), label), color in zip(more, itertools.cycle(COLORS)):
        ax.plot(cx, cy, "-", color="white", linewidth=3.5)
        ax.plot(cx, cy, "--", color=color, linewidth=2.0, label=label)
    if more:
        ax.legend(loc="upper right", frameon=True, facecolor="white", framealpha=0.85)


def _plane(result: SweepResult, names: dict[str, int]) -> tuple[str, str]:
    """What the design says; else time along x, and the longest numeric axes."""
    asked = result.design.picture
    for name in (asked.x, asked.y):
        if name is not None and name not in names:
            known = ", ".join(names)
            raise InputError(f"the picture has no axis {name!r}; there are: {known}.")
    if asked.x and asked.y:
        return asked.x, asked.y
    numeric = [n for n in result.axes if result.axes[n].dtype.kind in "if"]
    longest = sorted(numeric, key=lambda name: -names[name])
    if names["time"] > 2 and longest and asked.time is None:
        return "time", longest[0]
    if len(longest) > 1:
        return longest[1], longest[0]
    raise InputError("a picture needs two numeric dimensions: more frames or an axis.")


def _at_time(result: SweepResult, x: str, y: str) -> tuple[np.ndarray, list[str]]:
    """The values to draw, and what the title says of their time."""
    if "time" in (x, y):
        return result.mean, []
    t = result.design.picture.time
    k = -1 if t is None else int(np.argmin(np.abs(result.times - t)))
    return result.mean[..., k], [f"t = {result.times[k]:g}"]


def _ticks(result: SweepResult, name: str) -> np.ndarray:
    return result.times if name == "time" else np.asarray(result.axes[name], float)


def _symbol(result: SweepResult, name: str) -> str:
    """The last word of a dotted name, or all of it where two axes end alike."""
    last = lambda name: name.split(",")[0].split(".")[-1].strip()  # noqa: E731
    if sum(last(other) == last(name) for other in result.dimensions) > 1:
        return name
    return SYMBOLS.get(last(name), last(name))


def _label(result: SweepResult) -> str:
    statistic = result.design.statistic
    word = statistic.get("kind", statistic.get("observe", "measured"))
    return LABELS.get(str(word), str(word).replace("_", " "))


def _curves(result: SweepResult, x: str, y: str) -> list:
    """((x, y), label) of every curve."""
    design = result.design
    values = np.asarray(_ticks(result, y), float)
    curves = design.picture.curves
    if not curves and x == "time" and _equiangular(result, y):
        curves, values = (EQUIANGULAR,), values[values >= 0]
    return [(c.points(y, values, design.run), c.label) for c in curves]


def _equiangular(result: SweepResult, y: str) -> bool:
    """Whether the curve of the perspective belongs on a diagram over time."""
    statistic, run = result.design.statistic, result.design.run
    close = statistic == {"kind": "ClosePairs", "threshold": 0.999}
    options = isinstance(run, dict) and run.get("model", "sa") == "sa"
    return close and options and y == "beta" and "n" in sizes(run)
