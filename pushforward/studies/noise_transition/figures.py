"""Every figure of the study, and the loop as a film."""

import os
import pathlib

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pushforward import plot
from pushforward.plot.style import HAIR, INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.noise_transition import runs
from pushforward.studies.noise_transition.study import BETA, D, Parameters
from pushforward.theory import stability, transition

ORDERED = 0.4  # below the order parameter of every fold here, above that of noise
FEW = (0.65, 0.85, 1.1)  # values of kappa / kappa_# at which tokens run
SPREAD = "#dfe6ee"


def compute_phases(p: Parameters) -> dict[str, np.ndarray]:
    """Three lines, and what densities and tokens do from both starts."""
    fine = np.linspace(0.5, 5.0, 40)
    lines = [(transition.kappa_fold(b, D), transition.kappa_c(b, D)) for b in fine]
    unit = np.array([stability.noise_threshold(b, D) for b in fine])
    data = {"fine": fine, "lines": np.array(lines).T / unit}
    cells = [(b, r) for b in p.betas for r in p.ratios]
    few = [(b, r) for b in p.betas for r in FEW]
    for kind, there in (("density", cells), ("tokens", few)):
        ends = [[_end(kind, b, r, p, o) for o in (0, 1)] for b, r in there]
        data[kind] = np.concatenate([np.array(there), np.array(ends)], axis=1)
    return data


def _end(kind: str, beta: float, ratio: float, p: Parameters, ordered: int) -> float:
    kappa = float(ratio * stability.noise_threshold(beta, D))
    if kind == "density":
        return runs.order_at_rest(runs.density(beta, kappa, bool(ordered)))
    return runs.late_order(runs.tokens(beta, kappa, p, bool(ordered)))


@styled
def draw_phases(data: dict[str, np.ndarray]) -> Figure:
    """Left half of a mark: from a spread start; right half: from an ordered one."""
    figure = new_figure(6.6, 4.8)
    ax = figure.subplots()
    fine, (fold, jump) = data["fine"], data["lines"]
    ax.fill_between(fine, fold, 1, color=PALETTE[4], alpha=0.16, lw=0)
    ax.axhline(1, color=INK, lw=1.3, label="uniform unstable above: linear threshold")
    ax.plot(fine, jump, color=PALETTE[1], label="free energies equal: the jump")
    ax.plot(fine, fold, color=PALETTE[2], label="ordered states exist above: the fold")
    star = transition.beta_star(D)
    ax.plot(star, 1, "o", color=INK, ms=4)
    ax.annotate("β*", (star, 1), (-3, 6), textcoords="offset points", ha="right")
    for kind, mark, shift in (("density", "o", -0.09), ("tokens", "s", 0.09)):
        for beta, ratio, spread, ordered in data[kind]:
            _half(ax, mark, beta + shift, ratio, spread, ordered)
    for mark, word in (("o", "density"), ("s", "tokens")):
        ax.plot([], [], mark, mfc="white", mec=INK, mew=0.7, ms=7, ls="", label=word)
    ax.set_xlim(0.5, 5.0)
    ax.set_ylim(0.55, 1.18)
    ax.set_xlabel("β")
    ax.set_ylabel("κ / threshold  (less noise above)")
    ax.set_title(
        "Noisy attention on S²: marks are runs, left half from a spread start, "
        "right half\nfrom an ordered one; filled where the end is ordered"
    )
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _half(ax: Axes, mark: str, x: float, y: float, spread: float, ordered: float):
    fill = lambda r: PALETTE[0] if r > ORDERED else "white"  # noqa: E731
    ax.plot(
        x,
        y,
        mark,
        fillstyle="left",
        ms=8,
        mew=0.6,
        mec=INK,
        mfc=fill(spread),
        mfcalt=fill(ordered),
        zorder=4,
    )


def compute_loop(p: Parameters) -> dict[str, np.ndarray]:
    """The walk of the tokens, and both branches."""
    loop, r = runs.loop(p), np.linspace(0.01, 0.975, 120)
    unit = stability.noise_threshold(BETA, D)
    branch = [transition.branch(BETA, D, float(x)).kappa / unit for x in r]
    jump = transition.transition(BETA, D)
    return {
        "ratios": loop.ratios,
        "order": loop.order,
        "points": loop.points,
        "r": r,
        "branch": np.array(branch),
        "jump": np.array([jump.kappa / unit, jump.r]),
        "dwell": np.array(p.dwell),
    }


@styled
def draw_loop(data: dict[str, np.ndarray], upto: int | None = None) -> Figure:
    """Order parameter against kappa on the way up and down; tokens at `upto`."""
    figure = new_figure(8.0, 4.2)
    ax, globe = figure.subplots(1, 2, width_ratios=[1.5, 1])
    ratios, order = data["ratios"], data["order"]
    middle = len(ratios) // 2
    last = len(ratios) if upto is None else upto // 3 + 1
    fold = int(data["branch"].argmin())
    r, branch = data["r"], data["branch"]
    ax.plot(branch[fold:], r[fold:], color=INK, lw=1.2, label="stable state")
    ax.plot([0.6, 1.0], [0, 0], color=INK, lw=1.2)
    dashed = {"color": SOFT, "ls": (0, (3, 2)), "lw": 1.0}
    ax.plot(branch[:fold], r[:fold], **dashed, label="unstable")
    ax.plot([1.0, 1.15], [0, 0], **dashed)
    ax.axvline(data["jump"][0], color=PALETTE[2], lw=0.8, label="equal free energy")
    ways = (slice(0, middle + 1), "noise falls"), (slice(middle, None), "noise rises")
    for (way, word), color in zip(ways, (PALETTE[0], PALETTE[1]), strict=True):
        x, y = ratios[way], order[way]
        seen = min(max(last - way.start, 0), len(x))
        style = {"ms": 4, "lw": 0.8, "color": color, "label": f"tokens, {word}"}
        ax.plot(x[:seen], y[:seen], "o-", **style)
    ax.set_xlim(0.66, 1.14)
    ax.set_ylim(-0.03, 1)
    ax.set_xlabel("κ / threshold  (less noise to the right)")
    ax.set_ylabel("order parameter")
    figure.legend(loc="outside lower center", ncols=5)
    _tokens(globe, data["points"][3 * last - 1 if upto is None else upto])
    ratio = ratios[min(last, len(ratios)) - 1]
    globe.set_title(f"κ = {ratio:.2f} of the threshold")
    tokens, dwell = data["points"].shape[1], float(data["dwell"])
    figure.suptitle(
        f"S², β = {BETA:g}: {tokens} tokens remember, and lag: "
        f"each κ is held for a time of {dwell:g} / κ"
    )
    return figure


def film_loop(path: str | os.PathLike, p: Parameters) -> pathlib.Path:
    """The loop as a film, three frames at every value of the noise."""
    data = compute_loop(p)
    frames = range(len(data["points"]))
    return plot.film((draw_loop(data, k) for k in frames), path, fps=10)


def _tokens(ax: Axes, x: np.ndarray) -> None:
    """Tokens from above their mean, far ones pale."""
    mean = x.mean(axis=0) / np.linalg.norm(x.mean(axis=0))
    across = np.linalg.svd(mean[None])[2][1:]
    turn = np.linspace(0, 2 * np.pi, 120)
    ax.plot(np.cos(turn), np.sin(turn), color=HAIR, lw=0.8)
    near = x @ mean > 0
    for side, color in ((~near, HAIR), (near, PALETTE[0])):
        ax.plot(*(x[side] @ across.T).T, "o", ms=2.6, color=color, ls="")
    ax.set_aspect("equal")
    ax.set_axis_off()


def compute_models(p: Parameters) -> dict[str, np.ndarray]:
    """Critical noise of both models, and of USA in the units of `--model usa`."""
    betas = np.geomspace(0.1, 20, 60)
    data = {"betas": betas}
    usa = stability.critical_noise_unnormalized
    for d in (2, 3, 8):
        data[f"sa {d}"] = np.array([stability.critical_noise(b, d) for b in betas])
        data[f"usa {d}"] = np.array([usa(b, d, log_scale=0.0) for b in betas])
        data[f"slow {d}"] = np.array([usa(b, d) for b in betas])
    return data


@styled
def draw_models(data: dict[str, np.ndarray]) -> Figure:
    """One panel per model; compare a run with the line of its own."""
    figure = new_figure(7.6, 2.9)
    names = ("sa", "SA"), ("usa", "USA"), ("slow", "USA, scaled by exp(−β)")
    for ax, (name, title) in zip(figure.subplots(1, 3), names, strict=True):
        for i, d in enumerate((2, 3, 8)):
            ax.semilogx(data["betas"], data[f"{name} {d}"], color=PALETTE[i])
            ax.plot([], [], color=PALETTE[i], label=f"d = {d}")
        ax.set_title(title)
        ax.set_xlabel("β")
    figure.axes[0].set_ylim(0)
    figure.axes[2].set_ylim(0)
    figure.axes[1].set_yscale("log")
    figure.axes[0].set_ylabel("critical noise σ")
    figure.axes[0].legend()
    figure.suptitle("Above the line tokens stay spread (linear threshold)")
    return figure


def compute_table(p: Parameters) -> dict[str, np.ndarray]:
    """The least rise of the branch for every pair of the grid, and both models."""
    betas, dimensions = p.grid
    return {
        "betas": np.array(betas),
        "dimensions": np.array(dimensions),
        "usa": runs.rises(p.grid, False),
        "sa": runs.rises(p.grid, True),
    }


@styled
def draw_table(data: dict[str, np.ndarray]) -> Figure:
    """Numbers in cells; orange where the branch turns back and the transition jumps."""
    rows, columns = data["usa"].shape
    figure = new_figure(1.6 + 1.15 * columns, 0.6 + 0.28 * rows)
    for ax, name in zip(figure.subplots(1, 2), ("usa", "sa"), strict=True):
        ax.set_axis_off()
        values = data[name]
        paint = np.where(values < 0, "#f6c9a6", np.where(values > 0, SPREAD, "white"))
        table = ax.table(
            cellText=[[_told(x) for x in row] for row in values],
            cellColours=paint.tolist(),
            rowLabels=[f"β = {b:g} " for b in data["betas"]],
            colLabels=[f"d = {d}" for d in data["dimensions"]],
            bbox=(0, 0, 1, 1),
        )
        for cell in table.get_celld().values():
            cell.set(edgecolor="white", linewidth=1.0)
        ax.set_title(f"{name.upper()}: least d log κ / d r²")
    return figure


def _told(value: float) -> str:
    return f"{value:.2f}".replace("-", "−") if np.isfinite(value) else "sharp"


FIGURES = {
    "phase-diagram": (compute_phases, draw_phases),
    "hysteresis": (compute_loop, draw_loop),
    "thresholds": (compute_models, draw_models),
    "order-of-the-transition": (compute_table, draw_table),
}
FILMS = {"hysteresis": film_loop}
