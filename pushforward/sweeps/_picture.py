"""The phase diagram of a sweep, with the curve of the theory where there is one."""

import numpy as np
from matplotlib.figure import Figure

from pushforward import theory
from pushforward.errors import InputError
from pushforward.plot import phase_diagram
from pushforward.plot._style import new_figure, styled
from pushforward.sweeps._result import SweepResult
from pushforward.sweeps._statistics import checked_statistic

LABELS = {
    "close": "share of close pairs",
    "clusters": "clusters",
    "largest_mass": "largest mass",
    "energy": "energy",
    "mean_cosine": "mean cosine",
    "order_parameter": "order parameter",
    "effective_rank": "effective rank",
}
SYMBOLS = {"beta": "β", "noise": "σ", "time": "t"}


@styled
def picture(result: SweepResult) -> Figure:
    """Heat maps over the two longest dimensions, one panel per value of the others.

    Over time and temperature, for pairs closer than 0.999, the equiangular curve
    gamma_beta(t) = 0.999 of [geshkovski2023perspective] is drawn on top.
    """
    names = dict(zip(result.dimensions, result.mean.shape, strict=True))
    if result.design.random or len(names) < 2:
        raise InputError("a picture needs a grid with at least one axis and times.")
    x, y = _plane(result, names)
    others = [name for name in names if name not in (x, y)]
    order = [result.dimensions.index(name) for name in (*others, y, x)]
    values = result.mean.transpose(order)
    panels = list(np.ndindex(values.shape[:-2]))
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = new_figure(3.5 * columns + 0.6, 2.6 * rows + 0.3)
    axes = np.ravel(figure.subplots(rows, columns, squeeze=False))
    low, high = np.nanmin(values), np.nanmax(values)
    for ax, index in zip(axes, panels, strict=False):
        phase_diagram(
            _ticks(result, x),
            _ticks(result, y),
            values[index],
            curve=_curve(result, x, y),
            curve_label="γ(t) = 0.999",
            ax=ax,
            xlabel=SYMBOLS.get(x, x),
            ylabel=SYMBOLS.get(y, y),
            label=_label(result),
            limits=(low, high if high > low else low + 1),
        )
        here = zip(others, index, strict=True)
        title = ", ".join(f"{name} = {result.axes[name][i]}" for name, i in here)
        ax.set_title(title, loc="left")
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    return figure


def _plane(result: SweepResult, names: dict[str, int]) -> tuple[str, str]:
    """Time along x if it has frames; the longest numeric axes otherwise."""
    numeric = [n for n in result.axes if result.axes[n].dtype.kind in "if"]
    longest = sorted(numeric, key=lambda name: -names[name])
    if names["time"] > 2 and longest:
        return "time", longest[0]
    if len(longest) > 1:
        return longest[1], longest[0]
    raise InputError("a picture needs two numeric dimensions: more frames or an axis.")


def _ticks(result: SweepResult, name: str) -> np.ndarray:
    return result.times if name == "time" else np.asarray(result.axes[name], float)


def _label(result: SweepResult) -> str:
    statistic = checked_statistic(result.design.statistic)
    return LABELS.get(str(statistic.get("name")), "measured")


def _curve(result: SweepResult, x: str, y: str):
    statistic = checked_statistic(result.design.statistic)
    fits = (x, y) == ("time", "beta") and statistic.get("threshold") == 0.999
    if not fits or result.design.run.get("model", "sa") != "sa":
        return None
    betas, n = result.axes["beta"], int(result.design.run.get("n", 32))
    good = betas >= 0
    return np.asarray(theory.equiangular.merging_time(betas[good], n)), betas[good]
