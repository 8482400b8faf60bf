"""Figures of GromovMatcher: drift, matching, precision-recall, all settings."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot.matching import (
    draw_drift,
    draw_pairs,
    draw_precision_recall,
    picture_of,
)
from pushforward.plot.style import new_figure
from pushforward.studies.metabolomics.study import (
    SETTINGS,
    Parameters,
    accuracies,
    example,
)

Arrays = dict[str, np.ndarray]
CASES = ("GromovMatcher", "thresholded", "mass and time only")
COLORS = ("#1b7f4b", "#7fc3a0", "#e08a1e")


def compute_example(parameters: Parameters) -> Arrays:
    """One matching, judged by its truth, as plain arrays."""
    return picture_of(*example(parameters))


def compute_settings(parameters: Parameters) -> Arrays:
    """Precision and recall of the three pipelines in every setting."""
    table = np.array([accuracies(parameters, s) for s in SETTINGS])
    return {"names": np.array([s.name for s in SETTINGS]), "accuracy": table}


def draw_settings(data: Arrays) -> Figure:
    """Precision and recall by overlap and noise, with the ablation beside."""
    figure = new_figure(8.6, 3.6)
    axes = figure.subplots(1, 2, sharey=True)
    place = np.arange(len(data["names"]))
    for k, (ax, title) in enumerate(zip(axes, ("precision", "recall"), strict=True)):
        for c, (case, color) in enumerate(zip(CASES, COLORS, strict=True)):
            values = data["accuracy"][:, c, k]
            label = case if k == 0 else None
            ax.bar(place + 0.27 * (c - 1), values, 0.25, color=color, label=label)
        ax.set_xticks(place, data["names"], rotation=25, ha="right", size=8)
        ax.set_title(title, size=10)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylim(min(0.8, data["accuracy"].min() - 0.02), 1.0)
    axes[0].set_ylabel("mean over pairs")
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return figure


FIGURES = {
    "drift": (compute_example, draw_drift),
    "matching": (compute_example, draw_pairs),
    "precision_recall": (compute_example, draw_precision_recall),
    "settings": (compute_settings, draw_settings),
}
