"""The pictures of the mixture study: the certificate, the paths, the stall."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pushforward.measures import Particles
from pushforward.plot.style import new_figure
from pushforward.spaces import Euclidean
from pushforward.statistics.mixtures import (
    WassersteinFisherRaoStep,
    descend,
    npmle,
    wfr,
)
from pushforward.studies.mixtures.study import (
    NAMES,
    Parameters,
    galaxies,
    galaxy_fit,
    methods,
    optimum,
    plane,
    subset_fit,
)

INK = "#1b1b1f"
FAINT = "#b9bbc6"
RED = "#d55e00"
COLORS = dict(zip(NAMES, ("#0072b2", "#e69f00", "#cc79a7", "#009e73"), strict=True))
Data = dict[str, Any]


def compute_certificate(parameters: Parameters) -> Data:
    """D and the fitted density along the velocity axis, for three descents."""
    axis = np.linspace(6, 37, 1200)
    fit = optimum("galaxies")
    out: Data = {
        "axis": axis,
        "data": galaxies()[:, 0],
        "density": fit.density(axis),
        "optimal": fit.optimality(axis),
        "atoms": fit.atoms[:, 0],
        "weights": fit.weights,
    }
    for name in ("FR only", "W only"):
        run = galaxy_fit(name, parameters.galaxy_iterations)
        out[name] = run.optimality(axis)
    return out


def draw_certificate(data: Data) -> Figure:
    """Density above, D below: at most one, and one exactly at the atoms."""
    figure = new_figure(7.2, 5.4)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.3])
    top.fill_between(data["axis"], data["density"], color="#dce9f3", lw=0)
    top.plot(data["axis"], data["density"], color=COLORS["WFR"], lw=1.8)
    stems = data["weights"] / data["weights"].max() * data["density"].max()
    top.vlines(data["atoms"], 0, stems, color=INK, lw=1.4)
    top.plot(data["atoms"], stems, "o", color=INK, ms=4)
    top.plot(data["data"], np.full(82, -0.006), "|", color=INK, ms=6, mew=0.6)
    top.set(ylabel="density", ylim=(-0.013, None))
    top.set_title("82 galaxy velocities: fitted mixture and its six atoms", loc="left")
    bottom.axhline(1, color=FAINT, lw=1)
    for name in ("FR only", "W only"):
        bottom.plot(data["axis"], data[name], color=COLORS[name], lw=1.3, label=name)
    bottom.plot(data["axis"], data["optimal"], color=COLORS["WFR"], lw=2, label="NPMLE")
    bottom.plot(data["atoms"], np.ones(len(data["atoms"])), "o", color=INK, ms=4)
    bottom.set(xlabel="velocity (1000 km/s)", ylabel="D", ylim=(0, 1.14))
    bottom.set_title("optimality: D may not exceed one", loc="left")
    bottom.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 0.98), ncols=3)
    return _plain(figure)


def compute_paths(parameters: Parameters) -> Data:
    """WFR particle paths in the plane from all data, and their final masses."""
    x = plane()
    state = (jnp.asarray(x), jnp.full(len(x), 1 / len(x)))
    step, p, frames = WassersteinFisherRaoStep(jnp.asarray(1.0)), state[1], [x]
    per = max(1, parameters.plane_iterations // 20)
    for _ in range(20):
        state, _ = descend(step, jnp.asarray(x), p, state, iterations=per)
        frames.append(np.asarray(state[0]))
    points, weights = _gathered(np.asarray(state[0]), np.asarray(state[1]))
    return {
        "paths": np.stack(frames),
        "points": points,
        "weights": weights,
        "atoms": optimum("plane").atoms,
        "atom_weights": optimum("plane").weights,
        "iterations": 20 * per,
    }


def draw_paths(data: Data) -> Figure:
    """Where the mass goes: thin paths, dots of area proportional to mass."""
    figure = new_figure(6.2, 6.2)
    axes = figure.subplots()
    paths = data["paths"]
    axes.plot(paths[:, :, 0], paths[:, :, 1], color=FAINT, lw=0.35, alpha=0.6)
    axes.scatter(paths[0][:, 0], paths[0][:, 1], s=2, color=FAINT, lw=0)
    name = f"WFR after {data['iterations']} steps"
    _dots(axes, data["points"], 2500 * data["weights"], name)
    _rings(axes, data["atoms"], 2500 * data["atom_weights"] + 12, "NPMLE, certified")
    axes.set(aspect="equal", xlim=(-6.4, 6.4), ylim=(-6.4, 6.4))
    axes.set_title("1500 particles flow to a few atoms", loc="left")
    legend = axes.legend(frameon=False, loc="upper left")
    for handle in legend.legend_handles:
        handle.set_sizes([45])  # type: ignore[union-attr]
    return _plain(figure)


def compute_excess(parameters: Parameters) -> Data:
    """Loss minus its minimum along four descents from all data in the plane."""
    best = optimum("plane").loss
    out: Data = {}
    for name, method in methods(parameters.plane_iterations).items():
        out[name] = np.array(npmle(plane(), method=method).history) - best
    slow = npmle(plane(), method=wfr(parameters.plane_iterations, 0.1))
    out["WFR, step .1"] = np.array(slow.history) - best
    return out


def draw_excess(data: Data) -> Figure:
    """Excess against iteration, both logarithmic."""
    figure = new_figure(6.4, 4.4)
    axes = figure.subplots()
    styles = {**{n: (c, "-") for n, c in COLORS.items()}}
    styles["EM"] = (COLORS["EM"], "--")
    styles["WFR, step .1"] = (COLORS["WFR"], ":")
    for name, (color, dash) in styles.items():
        excess = data[name]
        steps = np.arange(1, len(excess))
        axes.loglog(steps, excess[1:], dash, color=color, lw=1.8, label=name)
    axes.set(xlabel="iteration", ylabel="loss above the certified minimum")
    axes.set_title("seven clusters in the plane, one particle per datum", loc="left")
    axes.legend(frameon=False)
    return _plain(figure)


def compute_stall(parameters: Parameters) -> Data:
    """D at the data after WFR from a subset, without and with births."""
    x = plane()
    out: Data = {"data": x}
    for key, births in (("stalled", False), ("cured", True)):
        fit = subset_fit(parameters, births)
        out[key] = fit.optimality(x)
        gathered = _gathered(fit.atoms, fit.weights)
        out[f"{key}_atoms"], out[f"{key}_weights"] = gathered
        out[f"{key}_excess"] = fit.loss - optimum("plane").loss
        out[f"{key}_worst"] = fit.certificate - 1
    return out


def draw_stall(data: Data) -> Figure:
    """Left: data where D > 1 circled. Right: the same run with births."""
    figure = new_figure(9.2, 4.9)
    titles = {"stalled": "random subset: stalled", "cured": "with births: cured"}
    for axes, (key, title) in zip(figure.subplots(1, 2), titles.items(), strict=True):
        x, d = data["data"], data[key]
        axes.scatter(x[:, 0], x[:, 1], s=3, color=FAINT, lw=0)
        _dots(axes, data[f"{key}_atoms"], 1500 * data[f"{key}_weights"])
        high = d > 1.01
        _rings(axes, x[high], np.full(high.sum(), 70.0))
        axes.set(aspect="equal", xlim=(-6.4, 6.4), ylim=(-6.4, 6.4))
        axes.set_title(title, loc="left")
        text = (
            f"excess {data[f'{key}_excess']:.1e}\n"
            f"max D - 1 = {data[f'{key}_worst']:.1e}\n"
            f"{int(high.sum())} data with D > 1.01"
        )
        axes.text(0.03, 0.03, text, transform=axes.transAxes, fontsize=9)
    return _plain(figure)


def _gathered(points: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
    """Particles closer than a tenth of the noise as one dot, so that area is mass."""
    merged = Particles(Euclidean(2), points, weights / weights.sum()).merge(0.1)
    return np.asarray(merged.points), np.asarray(merged.weights)


def _dots(axes: Axes, x: np.ndarray, areas: np.ndarray, label: str = "") -> None:
    blue = COLORS["WFR"]
    axes.scatter(
        x[:, 0], x[:, 1], s=areas, color=blue, alpha=0.55, lw=0, label=label or None
    )


def _rings(axes: Axes, x: np.ndarray, areas: np.ndarray, label: str = "") -> None:
    axes.scatter(
        x[:, 0], x[:, 1], s=areas, facecolors="none", edgecolors=RED, lw=1.3,
        label=label or None,
    )  # fmt: skip


def _plain(figure: Figure) -> Figure:
    for axes in figure.axes:
        _open_frame(axes)
    return figure


def _open_frame(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.title.set_color(INK)


FIGURES: dict[str, tuple[Callable[[Parameters], Data], Callable[[Data], Figure]]] = {
    "certificate": (compute_certificate, draw_certificate),
    "paths": (compute_paths, draw_paths),
    "excess": (compute_excess, draw_excess),
    "stall": (compute_stall, draw_stall),
}
