"""Every figure of the study: energies along both flows, and the heat limit."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot.style import PALETTE, SOFT, new_figure, styled
from pushforward.studies.sinkhorn_attention.claims import energies, heat
from pushforward.studies.sinkhorn_attention.study import Parameters

WORDS = {True: "Sinkhorn", False: "softmax"}


def compute_energies(p: Parameters) -> dict[str, np.ndarray]:
    """Energies along both flows; the ratio to the heat flow against beta."""
    data = {"betas": np.array(p.betas)}
    for doubly, word in WORDS.items():
        data[f"energy {word}"] = np.stack(energies(doubly))
        data[f"heat {word}"] = np.array([heat(doubly, b, p.nodes) for b in p.betas])
    return data


@styled
def draw_energies(data: dict[str, np.ndarray]) -> Figure:
    """Left: the energy. Right: velocity over that of the heat flow, backward."""
    figure = new_figure(7.2, 3.0)
    left, right = figure.subplots(1, 2)
    for word, color in zip(WORDS.values(), PALETTE, strict=False):
        left.plot(*data[f"energy {word}"], color=color, label=word)
        style = {"ms": 5, "lw": 0.9, "color": color, "label": word}
        right.semilogx(data["betas"], data[f"heat {word}"], "o-", **style)
    left.set_xlabel("time")
    left.set_ylabel("Sinkhorn energy")
    left.set_title("8 tokens on S², β = 4")
    left.legend()
    for level in (0.5, 1.0):
        right.axhline(level, color=SOFT, lw=0.8, ls=(0, (3, 2)))
    right.set_ylim(0, 1.1)
    right.set_xticks(data["betas"], [f"{b:g}" for b in data["betas"]], minor=False)
    right.minorticks_off()
    right.set_xlabel("β")
    right.set_title("β v / (log ρ)′ on the circle")
    right.legend()
    return figure


FIGURES = {"energies": (compute_energies, draw_energies)}
