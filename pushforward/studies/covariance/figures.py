"""Figures of covariance alignment: recovery against n, the loss near identity."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot.style import new_figure
from pushforward.studies.covariance.recovery import (
    factor_covariance,
    predicted_signal,
    recovery_curve,
)
from pushforward.studies.covariance.study import (
    Parameters,
    near_identity_losses,
    searches,
)

Arrays = dict[str, np.ndarray]
COLORS = ("#b9bec6", "#e08a1e", "#7aa6d6", "#2563a8", "#1b7f4b")


def compute_recovery(parameters: Parameters) -> Arrays:
    """Fraction of features recovered by each search against the sample size."""
    curve = recovery_curve(
        parameters.d,
        parameters.sizes,
        searches(parameters),
        trials=parameters.trials,
        seed=parameters.seed,
    )
    sigma = factor_covariance(parameters.d, np.random.default_rng(parameters.seed))
    scale = np.sqrt(np.diag(sigma))
    correlation = sigma / np.outer(scale, scale)
    signal = np.square(correlation - np.eye(parameters.d)).sum()
    return {
        "sizes": curve.sizes,
        "names": np.array(curve.names),
        "fractions": curve.fractions,
        "threshold": np.array(predicted_signal(parameters.d, 1) / signal),
    }


def draw_recovery(data: Arrays) -> Figure:
    """Recovery curves with the predicted statistical threshold marked."""
    figure = new_figure(6.4, 4.2)
    ax = figure.subplots()
    for name, row, color in zip(data["names"], data["fractions"], COLORS, strict=True):
        ax.plot(data["sizes"], row, "o-", color=color, label=name, lw=1.8, ms=5)
    threshold = float(data["threshold"])
    ax.axvline(threshold, color="0.4", ls="--", lw=1)
    ax.text(threshold * 1.05, 1.03, f"n* = {threshold:.0f}", color="0.3", size=8)
    ax.set_xscale("log")
    ax.set_xticks(data["sizes"], [f"{n:,}" for n in data["sizes"]])
    ax.minorticks_off()
    ax.set_ylim(-0.02, 1.1)
    ax.set_xlabel("samples per study")
    ax.set_ylabel("features recovered")
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    return figure


def compute_threshold(parameters: Parameters) -> Arrays:
    """Exact recovery and loss near the identity, for small d and each signal."""
    table = np.array(
        [
            [
                near_identity_losses(d, s, draws, parameters.seed)
                for s in parameters.signals
            ]
            for d, draws in zip(
                parameters.small_dimensions, parameters.draws, strict=False
            )
        ]
    )
    return {
        "dimensions": np.array(parameters.small_dimensions),
        "signals": np.array(parameters.signals),
        "exact": table[:, :, 0],
        "loss": table[:, :, 1],
    }


def draw_threshold(data: Arrays) -> Figure:
    """Left: exact recovery rises at the threshold; right: the loss peaks near one."""
    figure = new_figure(7.4, 3.4)
    left, right = figure.subplots(1, 2, sharex=True)
    colors = ("#440154", "#21918c", "#5ec962")
    for d, exact, loss, color in zip(
        data["dimensions"], data["exact"], data["loss"], colors, strict=False
    ):
        left.semilogx(data["signals"], exact, "o-", color=color, label=f"d = {d}")
        right.semilogx(data["signals"], loss, "o-", color=color)
    right.axhline(1.0, color="0.5", ls="--", lw=1)
    left.set_ylabel("exact recovery")
    right.set_ylabel("loss over predicted unit")
    right.set_ylim(0, None)
    left.legend(frameon=False)
    for ax in (left, right):
        ax.set_xticks(data["signals"], [f"{s:g}" for s in data["signals"]])
        ax.minorticks_off()
        ax.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("signal over its predicted threshold", size=10)
    return figure


FIGURES = {
    "recovery": (compute_recovery, draw_recovery),
    "threshold": (compute_threshold, draw_threshold),
}
