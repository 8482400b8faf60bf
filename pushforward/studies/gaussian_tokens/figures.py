"""Every figure of the study: tokens with their ellipses, and variances over time."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot.style import HAIR, INK, PALETTE, new_figure, styled
from pushforward.studies.gaussian_tokens import runs
from pushforward.studies.gaussian_tokens.claims import moments
from pushforward.studies.gaussian_tokens.study import Parameters
from pushforward.theory import gaussian_tokens as theory

STARTS = (1.0, 0.2), (-1.0, 0.8)  # value on the line, and variance at the start


def compute_plane(p: Parameters) -> dict[str, np.ndarray]:
    """Tokens at three times, and the moments of the theory."""
    run = runs.drawn(p).run()
    points = np.asarray(run.points)
    times = np.asarray(run.times)
    laws = [
        theory.moments(float(t), runs.VALUES, runs.ATTENTION, runs.M_0, runs.S_0)
        for t in times
    ]
    return {
        "times": times,
        "points": points,
        "means": np.array([law.mean for law in laws]),
        "covariances": np.array([law.covariance for law in laws]),
    }


@styled
def draw_plane(data: dict[str, np.ndarray]) -> Figure:
    """One panel per time: tokens, and the ellipses of one and two deviations."""
    figure = new_figure(2.3 * len(data["times"]), 2.3)
    panels = figure.subplots(
        1, len(data["times"]), sharex=True, sharey=True, squeeze=False
    )
    turn = np.linspace(0, 2 * np.pi, 120)
    ring = np.stack([np.cos(turn), np.sin(turn)])
    for k, ax in enumerate(panels[0]):
        ax.plot(*data["points"][k].T, "o", ms=1.6, color=PALETTE[5], ls="")
        half = np.linalg.cholesky(data["covariances"][k])
        for radius in (1, 2):
            ax.plot(
                *(data["means"][k][:, None] + radius * half @ ring), color=INK, lw=1.0
            )
        ax.plot(*data["means"][k], "+", color=PALETTE[1], ms=7, mew=1.4)
        ax.set_title(f"t = {data['times'][k]:g}")
        ax.set_aspect("equal")
        ax.axhline(0, color=HAIR, lw=0.5, zorder=0)
        ax.axvline(0, color=HAIR, lw=0.5, zorder=0)
    figure.suptitle(
        "Tokens under attention, and the closed moment equations (ellipses)"
    )
    return figure


def compute_line(p: Parameters) -> dict[str, np.ndarray]:
    """Variance on the line: closed forms, weighted tokens, and Gaussians."""
    t = np.linspace(0, 1.0, 60)
    data = {"t": t}
    laws = {
        "softmax": lambda x, v, s: s / (1 - 2 * v * s * x),
        "L2": theory.squared_distance_attention,
        "Sinkhorn": theory.sinkhorn_attention,
    }
    for v, s in STARTS:
        for kind, law in laws.items():
            later = [law(float(x), v, s) for x in t[1:]]
            data[f"{kind} {v:g}"] = np.array([s, *later])
            run = runs.line(v, s, runs.KINDS[kind]).run()
            nodes = [moments(run[k])[1][0, 0] for k in range(len(run))]
            data[f"nodes {kind} {v:g}"] = np.stack([np.asarray(run.times), nodes])
            run = runs.gaussian_line(kind, v, s).run()
            spread = [run[k].covariance.item() for k in range(len(run))]
            data[f"gaussian {kind} {v:g}"] = np.stack([np.asarray(run.times), spread])
    return data


@styled
def draw_line(data: dict[str, np.ndarray]) -> Figure:
    """Left: V = 1, growth. Right: V = -1, decay."""
    figure = new_figure(7.2, 3.3)
    for ax, (v, s) in zip(figure.subplots(1, 2), STARTS, strict=True):
        for kind, color in zip(runs.KINDS, PALETTE, strict=False):
            ax.plot(data["t"], data[f"{kind} {v:g}"], color=color, label=kind)
            style = {"ms": 5.5, "mfc": "white", "mec": color, "ls": "", "zorder": 3}
            ax.plot(*data[f"nodes {kind} {v:g}"], "o", **style)
            style = {"ms": 4, "mew": 0.9, "mec": INK, "ls": "", "zorder": 4}
            ax.plot(*data[f"gaussian {kind} {v:g}"], "+", **style)
        sign = "" if v > 0 else "−"
        ax.set_title(f"V = {sign}{abs(v):g}, variance {s:g} at the start")
        ax.set_xlabel("time")
    marks = {"mfc": "white", "mec": INK, "ls": ""}
    ax.plot([], [], "o", ms=5.5, **marks, label="30 weighted tokens")
    ax.plot([], [], "+", ms=5, **marks, label="a Gaussian of the library")
    figure.axes[0].set_ylabel("variance")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


FIGURES = {
    "particles-and-moments": (compute_plane, draw_plane),
    "variance": (compute_line, draw_line),
}
