"""Refined schedules beside plain training."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot._style import PALETTE, new_figure, styled
from pushforward.studies.interpolation._runs import learned, refined
from pushforward.studies.interpolation.study import Parameters


def compute_training(p: Parameters) -> dict[str, np.ndarray]:
    """Losses step by step, and the errors at the end."""
    runs = {
        "refined, 2 pieces": refined(p.seed, p.steps),
        "learned, 4 pieces": learned(p.seed, p.steps),
    }
    names = np.array(list(runs))
    histories = np.stack([run.history for run in runs.values()])
    errors = np.array([max(run.errors) for run in runs.values()])
    return {"names": names, "histories": histories, "errors": errors}


@styled
def draw_training(data: dict[str, np.ndarray]) -> Figure:
    """Mean Sinkhorn divergence against the steps of Adam."""
    figure = new_figure(6.2, 3.4)
    ax = figure.subplots()
    rows = zip(data["names"], data["histories"], data["errors"], strict=True)
    for k, (name, history, error) in enumerate(rows):
        label = f"{name}: $W_2$ = {error:.1e}"
        ax.semilogy(history, color=PALETTE[k], label=label)
    ax.set_xlabel("steps of Adam")
    ax.set_ylabel("Sinkhorn divergence")
    ax.legend()
    return figure


FIGURES = {"training": (compute_training, draw_training)}
