"""Every figure of the study: cells, the counterexample, and lifetimes."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot.style import INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.frank_wolfe import runs
from pushforward.studies.frank_wolfe.claims import DESCENT, LINE
from pushforward.studies.frank_wolfe.study import Parameters
from pushforward.theory import frank_wolfe as theory


def compute_cells(p: Parameters) -> dict[str, np.ndarray]:
    """Paths of tokens, and the cells of B on a grid."""
    run = runs.layers(runs.inside(p), 0.2, 20).run()
    axis = np.linspace(-1.05, 1.05, 101)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    seen = grid @ runs.B @ runs.VERTICES.T  # the largest of a row decides
    others = [np.delete(seen, k, axis=1).max(axis=1) for k in range(5)]
    return {
        "points": np.asarray(run.points),
        "axis": axis,
        "ahead": (seen.T - others).reshape(5, len(axis), len(axis)),
    }


@styled
def draw_cells(data: dict[str, np.ndarray]) -> Figure:
    """Every token goes straight to the vertex of its cell."""
    figure = new_figure(4.4, 4.3)
    ax = figure.subplots()
    x = data["points"]
    ring = np.append(np.arange(5), 0)
    axis = data["axis"]
    for k in range(5):
        ahead, color = data["ahead"][k], [PALETTE[k]]
        ax.contourf(axis, axis, ahead, levels=[0, 9], colors=color, alpha=0.14)
    ax.plot(*runs.VERTICES[ring].T, color=INK, lw=0.9)
    owner = (x[0] @ runs.B @ runs.VERTICES.T).argmax(axis=1)
    for i in range(5, x.shape[1]):
        ax.plot(*x[:, i].T, color=PALETTE[owner[i]], lw=0.7)
        ax.plot(*x[0, i], "o", ms=2.5, color=PALETTE[owner[i]])
    ax.plot(*runs.VERTICES.T, "o", ms=6, color=INK)
    ax.set_aspect("equal")
    ax.set_title("Hardmax layers, B = diag(1, 2): cells and paths")
    return figure


def compute_lines(p: Parameters) -> dict[str, np.ndarray]:
    """J of the counterexample, and lifetimes of a pair."""
    t = np.unique(np.geomspace(1, 4000, 60).astype(int))
    ends = [np.array(LINE)]
    for k in range(t[-1]):
        ends.append(theory.hardmax_layers(ends[-1], [2 / (k + 2)], DESCENT))
    betas = np.linspace(1.5, 8.0, 14)
    return {
        "t": t,
        "J": np.array(ends)[t, :, 0] ** 2 / 2,
        "betas": betas,
        "layers": np.array([theory.pair_layers(float(b), 0.5) for b in betas]),
        "asymptote": np.array([theory.pair_lifetime(float(b), 0.5) for b in betas]),
    }


@styled
def draw_lines(data: dict[str, np.ndarray]) -> Figure:
    """Left: the printed bound fails. Right: temperature merges a pair, late."""
    figure = new_figure(7.4, 3.0)
    left, right = figure.subplots(1, 2)
    for k, word in enumerate(("starts at 3", "starts at −1")):
        left.loglog(data["t"], data["J"][:, k], color=PALETTE[k], label=word)
    dashed = {"color": SOFT, "ls": (0, (3, 2)), "lw": 1.2}
    left.plot(data["t"], 32 / (data["t"] + 1), **dashed, label="printed bound")
    left.set_xlabel("layer")
    left.set_ylabel("J")
    left.set_title("B < 0: the origin leaves the hull")
    left.legend()
    right.semilogy(
        data["betas"], data["layers"], "o", color=PALETTE[0], ms=4, label="layers"
    )
    right.plot(data["betas"], data["asymptote"], **dashed, label="exp(2β) / (8βγ)")
    right.set_xlabel("β")
    right.set_title("Two tokens ±1 at finite β, γ = 1/2: until 0.1")
    right.legend()
    return figure


FIGURES = {"cells": (compute_cells, draw_cells), "rates": (compute_lines, draw_lines)}
