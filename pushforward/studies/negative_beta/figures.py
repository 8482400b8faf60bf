"""Every figure of the study: thresholds, and the two ends of five tokens."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot.style import HAIR, INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.negative_beta import runs
from pushforward.studies.negative_beta.claims import orders
from pushforward.studies.negative_beta.study import Parameters
from pushforward.theory import negative_beta as theory

CLUSTERS = ((2, 1), (1, 2), (2, 2), (3, 2), (2, 3), (3, 3), (4, 3), (3, 4))
TICKS = (-0.1, -0.16, -2 / 3, -1, -2, -5, -10)


def compute_thresholds(p: Parameters) -> dict[str, np.ndarray]:
    """Largest beta of each stable state, by number of tokens."""
    odd = [(n, theory.equispaced_threshold(n)) for n in (3, 5, 7, 9, 11)]
    three = [(a + 2 * b, theory.three_clusters_threshold(a, b)[0]) for a, b in CLUSTERS]
    return {"equispaced": np.array(odd), "clusters": np.array(three)}


@styled
def draw_thresholds(data: dict[str, np.ndarray]) -> Figure:
    """Below each mark its state is stable; colors say what is proved."""
    figure = new_figure(5.6, 3.7)
    ax = figure.subplots()
    for low, high, color, word in (
        (0.09, 0.16, PALETTE[2], "synchronizes"),
        (0.16, 2 / 3, PALETTE[4], "open"),
    ):
        ax.axhspan(low, high, color=color, alpha=0.15, lw=0)
        middle = np.sqrt(low * high)
        ax.text(11.3, middle, word, ha="right", va="center", color=SOFT, size=8)
    equispaced, clusters = data["equispaced"].T, data["clusters"].T
    for (n, beta), mark, color, word in (
        (equispaced, "o", PALETTE[0], "n equispaced tokens"),
        (clusters, "s", PALETTE[1], "three clusters p, q, q"),
    ):
        ax.plot(n, -beta, mark, color=color, label=word)
    ax.axhline(2 / 3, color=INK, lw=0.8, ls=(0, (4, 2.5)))
    ax.set_yscale("log")
    ax.set_ylim(16, 0.09)
    words = ["−2/3" if b == -2 / 3 else f"−{-b:g}" for b in TICKS]
    ax.set_yticks([-b for b in TICKS], words)
    ax.minorticks_off()
    ax.set_xlim(2.5, 11.5)
    ax.set_xticks(range(3, 12))
    ax.set_xlabel("tokens n")
    ax.set_ylabel("β below which the state is stable")
    ax.set_title("States that do not synchronize, SA and USA on the circle")
    ax.legend(loc="lower left")
    return figure


def compute_ends(p: Parameters) -> dict[str, np.ndarray]:
    """Order parameters of five tokens on both sides, and where they rest."""
    data = {}
    for beta in runs.SIDES[5][1]:
        times, order = orders(5, beta)
        data[f"{beta:g}"] = np.stack([times, order])
        data[f"tokens {beta:g}"] = np.asarray(runs.beside(5, beta).run().final.points)
    return data


@styled
def draw_ends(data: dict[str, np.ndarray]) -> Figure:
    """Order parameter over time; the last tokens on the circle."""
    figure = new_figure(7.0, 2.9)
    ax, *rings = figure.subplots(1, 3, width_ratios=[2, 1, 1])
    turn = np.linspace(0, 2 * np.pi, 120)
    for ring, beta, color in zip(rings, runs.SIDES[5][1], PALETTE, strict=False):
        times, order = data[f"{beta:g}"][:, 1:]
        ax.semilogx(times, order, color=color, label=f"β = −{-beta:g}")
        ring.plot(np.cos(turn), np.sin(turn), color=HAIR, lw=0.8)
        ring.plot(*data[f"tokens {beta:g}"].T, "o", ms=6, mfc="none", mec=color)
        ring.set_aspect("equal")
        ring.set_axis_off()
        ring.set_title(f"β = −{-beta:g}, at the end")
    ax.set_ylim(0, 1.05)
    ax.set_xlabel("time")
    ax.set_ylabel("order parameter")
    ax.legend()
    figure.suptitle("Five tokens near three clusters, on both sides of β = −1.4429")
    return figure


FIGURES = {
    "thresholds": (compute_thresholds, draw_thresholds),
    "two-ends": (compute_ends, draw_ends),
}
