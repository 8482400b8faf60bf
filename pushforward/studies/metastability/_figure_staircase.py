"""The staircase in normalized-gradient time, and the view from saddle to saddle."""

import numpy as np
from matplotlib.figure import Figure

from pushforward import theory
from pushforward.plot._style import DEPTHS, INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.metastability._runs import ANGLES, STAIRCASE_BETAS, climb
from pushforward.studies.metastability.study import Parameters

PLATEAUS = (0.20, 0.28, 0.44, 0.52, 1.0)


def compute_staircase(p: Parameters) -> dict[str, np.ndarray]:
    """Energy on the clock of arc length over log(beta), one curve per beta."""
    data = {"betas": np.array(STAIRCASE_BETAS)}
    for beta in STAIRCASE_BETAS:
        run = climb(beta)
        data[f"clock {beta:g}"] = run.arc / np.log(beta)
        data[f"energy {beta:g}"] = run.energy
        data[f"log10 t {beta:g}"] = run.tree.log_times / np.log(10) + np.log10(5)
    data["jumps"] = theory.staircase.jump_times(ANGLES, data["betas"])
    return data


@styled
def draw_staircase(data: dict[str, np.ndarray]) -> Figure:
    """Curves from pale (small beta) to dark; dots are the closed-form jump times."""
    figure = new_figure(8.2, 4.4)
    ax = figure.subplots()
    betas = data["betas"]
    shades = DEPTHS(np.linspace(0.35, 1.0, len(betas)))
    for value in PLATEAUS:
        ax.axhline(value, color=SOFT, lw=0.5, ls=(0, (1, 3)), zorder=0)
    for beta, jumps, color in zip(betas, data["jumps"], shades, strict=True):
        clock, energy = data[f"clock {beta:g}"], data[f"energy {beta:g}"]
        end = np.array([clock[-1], 0.135])
        ax.plot(np.append(clock, end[1]), np.append(energy, 1.0), color=color, lw=1.6)
        ax.plot(
            jumps, PLATEAUS[1:], "o", ms=4.5, mfc="white", mec=color, mew=1.1, zorder=3
        )
    ax.plot([], [], "o", ms=4.5, mfc="white", mec=INK, label="jump, closed form")
    for beta, color in zip(betas, shades, strict=True):
        last = data[f"log10 t {beta:g}"][-1]
        label = rf"$\beta$ = {beta:g}, over at $t = 10^{{{last:.1f}}}$"
        ax.plot([], [], color=color, label=label)
    ax.set_xlim(0, 0.135)
    ax.set_ylim(0.15, 1.06)
    ax.set_yticks(PLATEAUS, [f"{v:.2f}" for v in PLATEAUS])
    sizes = ("1 1 1 1 1", "2 1 1 1", "3 1 1", "3 2", "5")
    for value, text in zip(PLATEAUS, sizes, strict=True):
        ax.annotate(
            text,
            (0.1352, value),
            va="center",
            fontsize=7.5,
            color=SOFT,
            annotation_clip=False,
        )
    ax.set_xlabel("arc length / log β")
    ax.set_ylabel(r"$2\beta e^{-\beta} E_\beta$")
    ax.legend(loc="upper left", bbox_to_anchor=(0.02, 0.97))
    return figure


def compute_saddles(p: Parameters) -> dict[str, np.ndarray]:
    """Distance of the tokens to each k-cluster state along the run at beta = 2000."""
    run = climb(2000.0)
    x = run.points
    theta = np.unwrap(np.arctan2(x[..., 1], x[..., 0]), axis=0)
    data = {"arc": run.arc, "theta": theta, "merged": run.tree.arc}
    data["log10 merged"] = run.tree.log_times / np.log(10)
    owner = np.arange(theta.shape[1])
    for k, (gone, into) in enumerate(
        zip(run.tree.absorbed, run.tree.into, strict=True)
    ):
        owner = np.where(owner == gone, into, owner)
        data[f"to {len(owner) - k - 1}"] = _spread(theta, owner)
    return data


def _spread(theta: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """Root mean square distance to the center of the own cluster."""
    off = theta.copy()
    for name in np.unique(owner):
        inside = owner == name
        off[:, inside] -= theta[:, inside].mean(axis=1, keepdims=True)
    return np.sqrt((off**2).mean(axis=1))


@styled
def draw_saddles(data: dict[str, np.ndarray]) -> Figure:
    """Tokens above; below, the flow comes close to one saddle after the other."""
    figure = new_figure(7.6, 5.0)
    top, low = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.3])
    for i in range(data["theta"].shape[1]):
        top.plot(data["arc"], data["theta"][:, i], color=PALETTE[i])
    top.set_ylabel("angle")
    for k in (4, 3, 2, 1):
        away = np.maximum(data[f"to {k}"], 1e-6)
        name = f"{k} clusters" if k > 1 else "one cluster"
        low.semilogy(data["arc"], away, color=PALETTE[5 - k], label=name)
    for arc in data["merged"]:
        top.axvline(arc, color=SOFT, lw=0.5, ls=":")
        low.axvline(arc, color=SOFT, lw=0.5, ls=":")
    low.set_ylim(8e-7, 1)
    low.set_xlim(0, data["arc"][-1])
    low.set_xlabel("arc length (β = 2000)")
    low.set_ylabel("distance to the state of")
    low.legend(loc="lower right", bbox_to_anchor=(0.99, 0.05))
    upper = top.secondary_xaxis("top")
    labels = [rf"$10^{{{value:.1f}}}$" for value in data["log10 merged"]]
    upper.set_xticks(data["merged"], labels)
    upper.set_xlabel("physical time of each merger")
    return figure


FIGURES = {
    "staircase": (compute_staircase, draw_staircase),
    "saddle-to-saddle": (compute_saddles, draw_saddles),
}
