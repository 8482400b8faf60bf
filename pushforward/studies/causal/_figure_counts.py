"""Figure 3 (absorption curves) and the square-root law of cluster counts."""

import numpy as np
from matplotlib.figure import Figure

from pushforward import theory
from pushforward.observables import Centers
from pushforward.plot.style import INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.causal._ensemble import (
    TIMES,
    absorption,
    cluster_counts,
    growth_exponent,
    sequence,
)
from pushforward.studies.causal.study import Parameters

SERIES = (
    ("causal", "causal, t = 20", "o", PALETTE[0], 0.97),
    ("full", "full attention, t = 20", "s", PALETTE[1], 1.03),
    ("centers", "Rényi centers at the start", "^", INK, 1.0),
)


def compute_absorption(p: Parameters) -> dict[str, np.ndarray]:
    """Shares absorbed at beta = 64: (runs, times) for both kinds of centers."""
    renyi, strong = absorption(p, p.curve_runs)
    return {"times": TIMES, "Rényi centers": renyi, "strong centers": strong}


@styled
def draw_absorption(data: dict[str, np.ndarray]) -> Figure:
    """Mean with the band from the 10th to the 90th percentile."""
    figure = new_figure(5.6, 3.3)
    ax = figure.subplots()
    for name, color in (("Rényi centers", INK), ("strong centers", PALETTE[1])):
        shares = 100 * data[name]
        low, high = np.percentile(shares, [10, 90], axis=0)
        ax.fill_between(data["times"], low, high, color=color, alpha=0.14, lw=0)
        ax.plot(data["times"], shares.mean(axis=0), color=color)
        end = shares.mean(axis=0)[-1]
        ax.annotate(
            name,
            (50, end),
            (4, 0),
            textcoords="offset points",
            color=color,
            va="center",
            fontsize=8,
            annotation_clip=False,
        )
    ax.set_xlim(0, 50)
    ax.set_ylim(0, 100)
    ax.set_xlabel("time")
    ax.set_ylabel("tokens within 0.05 of a center, %")
    runs = len(data["strong centers"])
    ax.set_title(f"n = 200, d = 2, β = 64, δ = 0.5; {runs} runs, band 10–90 %")
    return figure


def compute_law(p: Parameters) -> dict[str, np.ndarray]:
    """Cluster counts at t = 20 and centers at the start, per temperature."""
    betas = np.array(p.betas)
    data = {"betas": betas}
    for name in ("causal", "full"):
        data[name] = np.array([cluster_counts(p, name, b, 20.0) for b in p.betas])
    data["centers"] = np.array(
        [
            [
                Centers(float(theory.parking.center_scale(b)))(
                    sequence(p.seed, p.n, run)
                ).count
                for run in range(p.runs)
            ]
            for b in p.betas
        ]
    )
    return data


@styled
def draw_law(data: dict[str, np.ndarray]) -> Figure:
    """Counts against beta in logarithms, with the parking law on top."""
    figure = new_figure(5.2, 3.5)
    ax = figure.subplots()
    betas = data["betas"]
    fine = np.geomspace(betas[0] / 1.4, betas[-1] * 1.4, 100)
    law = theory.parking.expected_centers_asymptotic(theory.parking.center_scale(fine))
    ax.plot(
        fine,
        law,
        color=SOFT,
        lw=1.1,
        ls=(0, (4, 2.5)),
        label=r"parking law $c_R\, 2\pi/\delta$, $\delta = 4\beta^{-1/2}$",
    )
    for name, label, marker, color, shift in SERIES:
        mean = data[name].mean(axis=1)
        error = data[name].std(axis=1) / np.sqrt(data[name].shape[1])
        slope = growth_exponent(betas, data[name])
        ax.errorbar(
            betas * shift,
            mean,
            error,
            fmt=marker,
            ms=5,
            color=color,
            lw=1,
            capsize=2,
            label=f"{label} (exponent {slope:.2f})",
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(betas, [f"{b:g}" for b in betas])
    ax.set_yticks([4, 6, 10, 20], ["4", "6", "10", "20"])
    ax.minorticks_off()
    ax.set_xlabel("β")
    ax.set_ylabel("number of clusters")
    ax.legend(loc="upper left")
    return figure


FIGURES = {
    "figure-3-absorption": (compute_absorption, draw_absorption),
    "square-root-law": (compute_law, draw_law),
}
