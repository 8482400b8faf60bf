"""Figures: errors against pieces, and patients."""

from typing import Any

import jax
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import norm

from pushforward.plot.style import DEPTHS, INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.normalizing_flows import _figure_swirl
from pushforward.studies.normalizing_flows._runs import (
    DIMENSIONS,
    NEURONS,
    PUBLISHED,
    SWITCHES,
    bulge,
    bulge_errors,
    conditional_flow,
    density_errors,
    maurey_errors,
    patients,
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


LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def compute_patients(p: Parameters) -> dict[str, np.ndarray]:
    """Conditional quantiles along body mass, densities, and held-out ranks."""
    learn, test = patients()
    flow = conditional_flow(p.seed)
    # quantiles are images of Gaussian quantiles: the map is increasing
    ends = np.quantile(learn[:, 0], [0.02, 0.98])
    mass = np.linspace(ends[0], ends[1], 120)
    middle = np.median(learn[:, 1])
    start = np.array([[m, middle, norm.ppf(q)] for q in LEVELS for m in mass])
    quantiles = np.asarray(flow.forward(start))[:, 2].reshape(len(LEVELS), -1)
    grid = np.linspace(0, 380, 400)
    cases = np.quantile(learn[:, :2], [0.1, 0.5, 0.9], axis=0)
    rows = np.array([[*case, y] for case in cases for y in grid])
    densities = np.exp(np.asarray(flow.log_density(rows))).reshape(3, -1)
    drawn = np.asarray(flow.sample(jax.random.key(p.seed), len(test), test[:, :2]))
    ranks = norm.cdf(np.asarray(flow.inverse(test))[:, 2])
    return {
        "learn": learn,
        "test": test,
        "drawn": drawn,
        "mass": mass,
        "quantiles": quantiles,
        "grid": grid,
        "cases": cases,
        "densities": densities,
        "ranks": np.sort(ranks),
    }


@styled
def draw_patients(data: dict[str, np.ndarray]) -> Figure:
    """Bands, densities of three patients, and calibration on held-out patients."""
    figure = new_figure(10.2, 3.2)
    bands, lines, ranks = figure.subplots(1, 3, width_ratios=[1.35, 1, 0.9])
    low, inner_low, middle, inner_high, high = data["quantiles"]
    mass = data["mass"]
    bands.fill_between(mass, low, high, color=DEPTHS(0.18), lw=0, label="90 %")
    bands.fill_between(
        mass, inner_low, inner_high, color=DEPTHS(0.42), lw=0, label="50 %"
    )
    bands.plot(mass, middle, color=PALETTE[0], label="median")
    bands.plot(
        *data["test"][:, [0, 2]].T, ".", ms=4, color=INK, label="held-out patients"
    )
    bands.set_xlabel("body mass index")
    bands.set_ylabel("progression after one year")
    bands.set_title("given median triglycerides")
    bands.legend(loc="upper left", ncols=2)
    bands.set_ylim(0, 440)
    for k, (case, density) in enumerate(
        zip(data["cases"], data["densities"], strict=True)
    ):
        label = f"bmi {case[0]:.1f}, s5 {case[1]:.2f}"
        lines.plot(data["grid"], density, color=PALETTE[k], lw=1.1, label=label)
    lines.set_xlabel("progression")
    lines.set_ylabel("conditional density")
    lines.set_ylim(0, None)
    lines.legend()
    n = len(data["ranks"])
    share = (np.arange(n) + 0.5) / n
    ranks.plot([0, 1], [0, 1], color=SOFT, lw=0.8, ls=(0, (3, 3)))
    ranks.plot(data["ranks"], share, color=PALETTE[0], drawstyle="steps-mid")
    ranks.set_aspect("equal")
    ranks.set_xlabel("rank under the flow")
    ranks.set_ylabel("share of held-out patients")
    ranks.set_title("calibration")
    return figure


FIGURES = {
    **_figure_swirl.FIGURES,
    "errors": (compute_errors, draw_errors),
    "random-neurons": (compute_maurey, draw_maurey),
    "patients": (compute_patients, draw_patients),
}
