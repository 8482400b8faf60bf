"""Noise: the bifurcation from the uniform density, and the law given common noise."""

import numpy as np
from matplotlib.figure import Figure

from pushforward import theory
from pushforward.plot._style import DEPTHS, INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.mean_field import _runs
from pushforward.studies.mean_field.study import Parameters

BETAS = (0.0, 1.0, 2.0)
RATIOS = (0.85, 1.7)  # range of kappa over its threshold
SIGMA, STEP, END = 0.5, 0.01, 4.0


def compute_bifurcation(p: Parameters) -> dict[str, np.ndarray]:
    """Order parameters at rest against kappa, by flow and by fixed point."""
    low, high = RATIOS
    ratios = np.concatenate([[0.9], 1 + np.geomspace(0.1, high - 1, p.kappas)])
    fine = np.concatenate([[low, 1.0], 1 + np.geomspace(2e-3, high - 1, 40)])
    data = {"ratios": ratios, "fine": fine}
    for beta in BETAS:
        threshold = theory.stability.noise_threshold(beta, 2)
        found = [_runs.stationary_order(beta, float(r * threshold)) for r in ratios]
        data[f"flow {beta:g}"] = np.array(found)
        data[f"theory {beta:g}"] = theory.noisy.bifurcation(fine * threshold, beta)
    return data


@styled
def draw_bifurcation(data: dict[str, np.ndarray]) -> Figure:
    """Lines are fixed points, circles are densities that have come to rest."""
    figure = new_figure(5.2, 3.3)
    ax = figure.subplots()
    for i, beta in enumerate(BETAS):
        line, dots = data[f"theory {beta:g}"], data[f"flow {beta:g}"]
        ax.plot(data["fine"], line, color=PALETTE[i], label=f"β = {beta:g}")
        ax.plot(data["ratios"], dots, "o", mfc="white", mec=PALETTE[i], ms=5, zorder=3)
    ax.plot([], [], "o", mfc="white", mec=INK, ms=5, label="density at rest")
    ax.axvline(1, color=SOFT, lw=0.6, ls=(0, (2, 2)))
    ax.set_xlim(*RATIOS)
    ax.set_ylim(-0.03, 1)
    ax.set_xlabel("κ / threshold  (less noise to the right)")
    ax.set_ylabel("order parameter")
    ax.set_title("Noisy attention on the circle leaves the uniform state")
    ax.legend(loc="lower right")
    return figure


def compute_common(p: Parameters) -> dict[str, np.ndarray]:
    """One path of common noise: the law, its mean angle, and the exact path."""
    run, z = _runs.given_the_noise(SIGMA, STEP, END, p.seed)
    return {
        "times": np.asarray(run.times),
        "density": run.observe(lambda mu: mu.values),
        "mode": run.observe(lambda mu: mu.mode(1)),
        "exact": z[: len(run.times)],
        "end": np.array(END),
    }


@styled
def draw_common(data: dict[str, np.ndarray]) -> Figure:
    """The law given the noise as color; order parameter below."""
    figure = new_figure(7.2, 4.6)
    top, low = figure.subplots(2, 1, sharex=True, height_ratios=[1.7, 1])
    times, density = data["times"], data["density"]
    theta = np.linspace(0, 2 * np.pi, density.shape[1] + 1)
    closed = np.concatenate([density, density[:, :1]], axis=1)
    shade = np.log10(np.clip(closed, 0.03, 30.0))
    mesh = top.pcolormesh(times, theta, shade.T, cmap=DEPTHS, shading="gouraud")
    bar = figure.colorbar(mesh, ax=top, pad=0.01, ticks=[-1, 0, 1])
    bar.ax.set_yticklabels(["0.1", "1", "10"])
    bar.set_label("density")
    angle = np.angle(data["exact"]) % (2 * np.pi)
    jumps = np.append(np.abs(np.diff(angle)) > np.pi, False)
    line = np.where(jumps, np.nan, angle)
    top.plot(times, line, color=PALETTE[1], lw=1.0, label="mean direction, exact")
    top.set_yticks([0, np.pi, 2 * np.pi], ["0", "π", "2π"])
    top.set_ylabel("angle")
    frame = {"frameon": True, "facecolor": "white", "edgecolor": "none"}
    top.legend(loc="center right", labelcolor=INK, framealpha=0.9, **frame)
    top.set_title("One path of common noise: the law of a token given the noise")
    low.plot(times, np.abs(data["mode"]), color=PALETTE[0], label="density")
    exact = np.abs(data["exact"])
    low.plot(times, exact, color=INK, ls=(0, (4, 2.5)), lw=1.1, label="Poisson kernel")
    alone = theory.kuramoto.order_parameter(times, _runs.R_0)
    low.plot(times, alone, color=SOFT, lw=0.8, label="without noise")
    low.set_ylim(0, 1)
    low.set_xlim(0, float(data["end"]))
    low.set_xlabel("time")
    low.set_ylabel("order parameter")
    low.legend(loc="lower right")
    return figure


FIGURES = {
    "noise-bifurcation": (compute_bifurcation, draw_bifurcation),
    "law-given-the-noise": (compute_common, draw_common),
}
