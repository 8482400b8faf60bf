"""Every figure of the study: how long two tokens take, in time and in layers."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot.style import INK, PALETTE, new_figure, styled
from pushforward.studies.momentum import runs
from pushforward.studies.momentum.study import Parameters
from pushforward.theory import momentum as theory

TIMES = {
    "first order": theory.first_order_time,
    "friction 2": lambda beta: theory.damped_time(beta, 2.0),
    "Nesterov, 3/t": theory.nesterov_time,
    "no friction": theory.undamped_time,
}


def compute_waits(p: Parameters) -> dict[str, np.ndarray]:
    """Times of the equations, and numbers of layers, against beta."""
    betas, few = np.linspace(0.5, 12, 20), np.arange(1.0, 9.0)
    data = {"betas": betas, "few": few}
    for name, time in TIMES.items():
        data[name] = np.array([time(float(b)) for b in betas])
    for kind in runs.KINDS:
        count = [runs.layers_needed(kind, float(b)) for b in few]
        data[f"layers {kind}"] = np.array(count)
    return data


@styled
def draw_waits(data: dict[str, np.ndarray]) -> Figure:
    """Left: time. Right: layers of step 0.1."""
    figure = new_figure(7.4, 3.2)
    left, right = figure.subplots(1, 2)
    for name, color in zip(TIMES, PALETTE, strict=False):
        left.semilogy(data["betas"], data[name], color=color, label=name)
    left.set_xlabel("β")
    left.set_ylabel("time until cosine 0.999")
    left.set_title("Two orthogonal tokens: exp(β) becomes exp(β/2)")
    left.legend()
    colors = {"gradient": PALETTE[0], "heavy ball": INK, "Nesterov": PALETTE[2]}
    for kind in runs.KINDS:
        count = data[f"layers {kind}"]
        style = {"ms": 4, "lw": 0.9, "color": colors[kind], "label": kind}
        right.semilogy(data["few"], count, "o-", **style)
    right.set_xlabel("β")
    right.set_ylabel("layers")
    right.set_title("Layers of step 0.1; momentum 0.9")
    right.legend()
    return figure


FIGURES = {"waits": (compute_waits, draw_waits)}
