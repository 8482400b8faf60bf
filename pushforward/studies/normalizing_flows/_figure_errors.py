"""Errors against the number of pieces, with the predicted rates beside them."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pushforward.plot.style import INK, PALETTE, new_figure, styled
from pushforward.studies.normalizing_flows._runs import (
    DIMENSIONS,
    NEURONS,
    PUBLISHED,
    SWITCHES,
    bulge,
    bulge_errors,
    density_errors,
    maurey_errors,
    swirl_errors,
    swirled,
    turn_error,
)
from pushforward.studies.normalizing_flows.study import Parameters

ROUNDS = (2, 4, 8, 16, 32)
GROWING = ((4, 3), (6, 4), (8, 6))
DASHED = (0, (3, 3))


def compute_errors(p: Parameters) -> dict[str, Any]:
    """L^2 errors and total variations with the pieces that they cost."""
    return {
        "swirl": (
            [swirled(m).pieces for m in p.grids],
            [e.l2 for e in swirl_errors(p)],
        ),
        "bulge": (
            [bulge(*case).pieces for case in p.cases],
            [e.l2 for e in bulge_errors(p)],
        ),
        "independent": tuple(zip(*(PUBLISHED[case] for case in p.cases), strict=True)),
        "variation": (
            [bulge(*case).pieces for case in GROWING],
            [e.total_variation for e in density_errors(p)],
        ),
    }


@styled
def draw_errors(data: dict[str, Any]) -> Figure:
    """Two maps in L^2, their predicted rate, and the image law."""
    figure = new_figure(8.0, 3.1)
    left, right = figure.subplots(1, 2, width_ratios=[1.4, 1])
    left.loglog(*data["swirl"], "o-", ms=4.5, color=PALETTE[0], label="swirl")
    left.loglog(*data["bulge"], "s-", ms=4.5, color=PALETTE[1], label="swirl ∘ bulge")
    left.loglog(
        *data["independent"],
        "s",
        ms=9,
        mfc="none",
        color=INK,
        lw=0.6,
        label="earlier prototype",
    )
    for k, name in enumerate(("swirl", "bulge")):
        label = r"pieces$^{-1/2}$" if k == 0 else None
        pieces, errors = data[name]
        _rate(left, pieces, errors, -0.5, label)
    left.set_xlabel("pieces")
    left.set_ylabel(r"$L^2$ error of the map")
    left.legend()
    right.loglog(*data["variation"], "o-", ms=4.5, color=PALETTE[2])
    pieces, errors = data["variation"]
    for x, y, case in zip(pieces, errors, GROWING, strict=True):
        label = f"m = {case[0]}, refined {case[1]}×"
        right.annotate(label, (x, y), (6, 4), textcoords="offset points", fontsize=8)
    right.set_xlim(right.get_xlim()[0], 3.2 * right.get_xlim()[1])
    right.set_ylim(0.06, 0.2)
    right.set_yticks([0.06, 0.1, 0.2], ["0.06", "0.1", "0.2"])
    right.set_yticks([], minor=True)
    right.set_xlabel("pieces")
    right.set_ylabel("total variation of the image law")
    return figure


def compute_maurey(p: Parameters) -> dict[str, Any]:
    """Random neurons against neurons in turn, by dimension."""
    return {
        "random": {d: maurey_errors(d, p.repetitions) for d in DIMENSIONS},
        "in turn": {d: [turn_error(d, r) for r in ROUNDS] for d in DIMENSIONS},
    }


@styled
def draw_maurey(data: dict[str, Any]) -> Figure:
    """Slope -1/2 in every dimension; in turn and back, slope -2."""
    figure = new_figure(6.4, 3.4)
    ax = figure.add_subplot()
    turns = np.array(ROUNDS) * NEURONS
    for k, d in enumerate(data["random"]):
        color = PALETTE[k]
        ax.loglog(SWITCHES, data["random"][d], "o-", ms=4.5, color=color)
        ax.loglog(turns, data["in turn"][d], "s-", ms=4, mfc="white", color=color)
        ax.plot([], [], color=color, label=f"d = {d}")
    ax.plot([], [], "o", color=INK, ms=4.5, label="random neurons")
    ax.plot([], [], "s", color=INK, mfc="white", ms=4, label="in turn, forth and back")
    first = data["random"][DIMENSIONS[0]]
    _rate(ax, SWITCHES, 1.5 * np.asarray(first), -0.5, r"slopes $-1/2$, $-2$")
    _rate(ax, turns, 1.9 * np.asarray(data["in turn"][DIMENSIONS[0]]), -2.0, None)
    ax.set_xlabel("pieces")
    ax.set_ylabel(r"$L^2$ error at time 1")
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def _rate(ax: Axes, x, y, slope: float, label: str | None) -> None:
    """A dashed line of a given slope through the last point."""
    x = np.asarray(x, dtype=float)
    line = y[-1] * (x / x[-1]) ** slope
    ax.plot(x, line, color=INK, lw=0.9, ls=DASHED, label=label, zorder=0)


FIGURES = {
    "errors": (compute_errors, draw_errors),
    "random-neurons": (compute_maurey, draw_maurey),
}
