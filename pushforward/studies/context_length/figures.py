"""Every figure of the study: equiangular tokens, depth, and random keys."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot.style import DEPTHS, INK, PALETTE, new_figure, styled
from pushforward.studies.context_length.claims import RHO, layer, weights
from pushforward.studies.context_length.study import Parameters
from pushforward.theory import long_context, random_keys

SIZES = (10**2, 10**4, 10**8, 10**12)
LAMBDAS = (0.1, 0.3, 1.0, 3.0)
DIMENSIONS = (2, 3, 5)


def compute_overlap(p: Parameters) -> dict[str, np.ndarray]:
    """Overlap of outputs against gamma and against s, and layers until collapse."""
    gamma, s = np.linspace(0.3, 3.0, 300), np.linspace(-4, 4, 200)
    data = {
        "gamma": gamma,
        "s": s,
        "limit": np.asarray(long_context.transition_overlap(s, RHO)),
    }
    for n in SIZES:
        data[f"n {n}"] = np.asarray(long_context.output_overlap(gamma, RHO, n))
        inside = (1 + s / np.log(n)) / (1 - RHO)
        data[f"inside {n}"] = np.asarray(long_context.output_overlap(inside, RHO, n))
    few = np.linspace(0.5, 2.9, 9)
    data["few"] = np.stack([few, [layer(100, float(g), RHO) for g in few]])
    ratios = np.linspace(0.6, 1.4, 60)
    data["ratios"] = ratios
    for n in SIZES[:3]:
        count = [long_context.layers_to_collapse(r / (1 - RHO), RHO, n) for r in ratios]
        data[f"layers {n}"] = np.array(count)
    return data


@styled
def draw_overlap(data: dict[str, np.ndarray]) -> Figure:
    """Three panels: the transition, its inside, and depth."""
    figure = new_figure(8.6, 3.1)
    left, middle, right = figure.subplots(1, 3)
    for k, n in enumerate(SIZES):
        color = DEPTHS(0.35 + 0.18 * k)
        word = f"n = 10$^{{{round(np.log10(n))}}}$"
        left.plot(data["gamma"], data[f"n {n}"], color=color, label=word)
        middle.plot(data["s"], data[f"inside {n}"], color=color, lw=1.0)
    left.plot(*data["few"], "o", ms=4, mfc="white", mec=INK, label="a layer, n = 100")
    left.axvline(1 / (1 - RHO), color=PALETTE[1], lw=0.9, ls=(0, (3, 2)))
    left.set_xlabel("γ = β / log n")
    left.set_ylabel("overlap of two outputs")
    left.set_title(f"One layer, ρ = {RHO}")
    left.legend()
    dashed = {"color": PALETTE[1], "ls": (0, (3, 2)), "lw": 1.3}
    middle.plot(data["s"], data["limit"], **dashed, label="limit")
    middle.set_xlabel("s = (γ(1 − ρ) − 1) log n")
    middle.set_title("Inside the transition")
    middle.legend()
    for k, n in enumerate(SIZES[:3]):
        color = DEPTHS(0.35 + 0.18 * k)
        right.semilogy(data["ratios"], data[f"layers {n}"], color=color)
    right.axvline(1, color=PALETTE[1], lw=0.9, ls=(0, (3, 2)))
    right.set_xlabel("γ / critical γ")
    right.set_ylabel("layers until ρ = 0.99")
    right.set_title("Depth collapses in the end")
    return figure


def compute_keys(p: Parameters) -> dict[str, np.ndarray]:
    """The mean largest weight against lambda, in the limit and for random keys."""
    fine = np.geomspace(0.08, 5, 40)
    data = {"fine": fine, "lambdas": np.array(LAMBDAS)}
    for d in DIMENSIONS:
        mean = [random_keys.largest_weight(float(x), d) for x in fine]
        data[f"limit {d}"] = np.stack([fine, mean])
        drawn = [weights(x, d, p.keys, 200, p.seed)[:, 0] for x in LAMBDAS]
        data[f"drawn {d}"] = np.array(drawn).T
    return data


@styled
def draw_keys(data: dict[str, np.ndarray]) -> Figure:
    """Lines are the limit, points are keys that were drawn."""
    figure = new_figure(5.0, 3.3)
    ax = figure.subplots()
    for k, d in enumerate(DIMENSIONS):
        ax.semilogx(*data[f"limit {d}"], color=PALETTE[k], label=f"d = {d}")
        mean, error = data[f"drawn {d}"]
        style = {"fmt": "o", "ms": 4, "mfc": "white", "color": PALETTE[k]}
        ax.errorbar(data["lambdas"], mean, 2 * error, **style)
    ax.set_ylim(0, 1)
    ax.set_xlabel("λ = β / n$^{2/(d-1)}$")
    ax.set_ylabel("mean largest weight")
    ax.set_title("One query among random keys: limit (lines), draws (points)")
    ax.legend()
    return figure


FIGURES = {
    "overlap": (compute_overlap, draw_overlap),
    "random-keys": (compute_keys, draw_keys),
}
