"""Pictures of exact sparsity: norms by layer, entries, classes on the move."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pushforward.control.neural.targets import circles, lifted
from pushforward.plot.networks import class_trajectories, norms_by_layer
from pushforward.plot.style import INK, PALETTE, new_figure, styled
from pushforward.studies.sparsity.study import (
    BOUND,
    LAM,
    Parameters,
    circles_runs,
    scalar_run,
)
from pushforward.theory import depth as theory


def compute_scalar(p: Parameters) -> dict[str, Any]:
    """Both entries of the scalar control, and the exact switch and stop."""
    run = scalar_run(10.0, p.dt)
    exact = theory.sparse_scalar(10.0, LAM, BOUND)
    count = round(1.2 / p.dt)
    return {
        "times": run.trained.times[: count + 1],
        "controls": run.controls[:count],
        "exact": exact,
    }


@styled
def draw_scalar(data: dict[str, Any]) -> Figure:
    """Stairs: bias, then weight, then nothing."""
    figure = new_figure(4.8, 2.6)
    ax = figure.add_subplot()
    for k, name in enumerate(("weight w", "bias b")):
        ax.stairs(
            data["controls"][:, k], data["times"], color=PALETTE[k], lw=1.6, label=name
        )
    for name in ("switch_time", "active_time"):
        ax.axvline(data["exact"][name], color=INK, lw=0.9, ls=(0, (4, 2.5)))
    ax.set_xlabel("depth t")
    ax.set_ylabel("control")
    ax.legend(loc="upper right")
    return figure


def compute_norms(p: Parameters) -> dict[str, Any]:
    """Norms by layer of the circles for every horizon, and where they end."""
    rows = []
    for run in circles_runs(p):
        count = _shown(run)
        rows.append(
            {
                "horizon": float(run.trained.problem.horizon),
                "times": run.trained.times[: count + 1],
                "norms": run.layer_norms[:count],
                "active_time": run.active_time,
            }
        )
    return {"rows": rows}


def _shown(run: Any) -> int:
    """Layers in a picture: those that act, and half as many that do not."""
    return min(3 * run.active_layers // 2, len(run.controls))


@styled
def draw_norms(data: dict[str, Any]) -> Figure:
    """One bar chart per horizon; T* is the depth if every layer had the norm M."""
    rows = data["rows"]
    figure = new_figure(5.0, 1.0 + 1.5 * len(rows))
    for k, row in enumerate(rows):
        ax = figure.add_subplot(len(rows), 1, k + 1)
        norms_by_layer(
            row["times"], row["norms"], active_time=row["active_time"], bound=8.0, ax=ax
        )
        ax.set_title(f"T = {row['horizon']:g}", loc="left")
        if k + 1 < len(rows):
            ax.set_xlabel("")
    return figure


def compute_entries(p: Parameters) -> dict[str, Any]:
    """Which entries of (w, b) are not zero, layer by layer."""
    run = circles_runs(p)[0]
    count = _shown(run)
    return {"times": run.trained.times[: count + 1], "alive": run.controls[:count] != 0}


@styled
def draw_entries(data: dict[str, Any]) -> Figure:
    """Black where a weight acts: fewer and fewer, in the end none."""
    figure = new_figure(5.0, 2.4)
    ax = figure.add_subplot()
    alive = data["alive"].T
    edges = np.arange(alive.shape[0] + 1) - 0.5
    ax.pcolormesh(data["times"], edges, alive, cmap="Greys", vmin=0, vmax=1)
    ax.set_xlabel("depth t")
    ax.set_ylabel("entry of (w, b)")
    ax.invert_yaxis()
    return figure


def compute_paths(p: Parameters) -> dict[str, Any]:
    """Trajectories of the circles through the pruned network."""
    points, labels = circles(0, p.samples)
    states = circles_runs(p)[0].pruned().trajectory(lifted(points))
    return {"states": states[:, :, [0, 2]], "labels": labels}


@styled
def draw_paths(data: dict[str, Any]) -> Figure:
    """First coordinate against the added one, which the readout sees."""
    ax = class_trajectories(data["states"], data["labels"])
    ax.set_ylabel(r"$x_3$ (output)")
    ax.set_aspect("auto")
    ax.axhline(0, color=INK, lw=0.5)
    return ax.figure  # type: ignore[return-value]


FIGURES = {
    "scalar_control": (compute_scalar, draw_scalar),
    "norms_by_layer": (compute_norms, draw_norms),
    "nonzero_entries": (compute_entries, draw_entries),
    "circles": (compute_paths, draw_paths),
}
