"""How tokens collapse: against width and temperature, path by path, under one noise."""

import numpy as np
from matplotlib.figure import Figure

import pushforward as pf
from pushforward.plot._style import DEPTHS, INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.homogenized._chains import (
    collapse,
    exact_pair,
    pair_run,
    pairs,
    simplex,
    soft_chain,
    warm_mean,
)
from pushforward.studies.homogenized.study import Parameters
from pushforward.theory import homogenized

WIDTHS, HEAT_WIDTHS = (16, 64, 256), (8, 16, 32, 64)
BETAS = (0.0, 4.0, 16.0, 64.0, 256.0)


def compute_collapse(p: Parameters) -> dict[str, np.ndarray]:
    """m(s) at beta = 0 for three widths, and E m at s = 3.06 over (d, beta)."""
    runs = [warm_mean(d, p.wide, p.seed) for d in WIDTHS]
    heat = [[collapse(d, b, p.wide, p.seed).mean() for b in BETAS] for d in HEAT_WIDTHS]
    return {
        "mean": np.array([r.mean(0) for r in runs]),
        "error": np.array([r.std(0) / np.sqrt(len(r)) for r in runs]),
        "heat": np.array(heat),
    }


@styled
def draw_collapse(data: dict[str, np.ndarray]) -> Figure:
    """Left, the logistic law; right, the table as a map."""
    figure = new_figure(8.4, 3.2)
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.1])
    s = np.linspace(0, 1, data["mean"].shape[1])
    fine = np.linspace(0, 1, 100)
    u = homogenized.logistic(fine, (1 + 7 * 0.3) / 8)
    left.plot(fine, u, color=INK, lw=1.1, ls=(0, (4, 2.5)), label="u' = u (1 − u)")
    for k, d in enumerate(WIDTHS):
        shift = 0.006 * (k - 1)  # error bars side by side
        left.errorbar(
            s + shift,
            data["mean"][k],
            2 * data["error"][k],
            fmt="o-",
            ms=3.5,
            lw=0.8,
            color=PALETTE[k],
            capsize=2,
            label=f"d = {d}",
        )
    left.set_xlabel(r"$s=\eta^2\ell/H$")
    left.set_ylabel("mean overlap m")
    left.set_title("β = 0, n = 8, overlaps 0.3 at the start")
    left.legend()
    heat = data["heat"]
    image = right.imshow(heat, origin="lower", cmap=DEPTHS, aspect="auto", vmin=0.3)
    for i in range(heat.shape[0]):
        for j in range(heat.shape[1]):
            tone = "white" if heat[i, j] > 0.56 else INK
            right.text(j, i, f"{heat[i, j]:.2f}", ha="center", va="center", color=tone)
    right.set_xticks(range(len(BETAS)), [f"{b:g}" for b in BETAS])
    right.set_yticks(range(len(HEAT_WIDTHS)), [str(d) for d in HEAT_WIDTHS])
    right.set_xlabel(r"β  ($\sigma_A^2=1/d$)")
    right.set_ylabel("d")
    right.set_title("E m at s = 3.06, six orthonormal tokens")
    figure.colorbar(image, ax=right, label="E m")
    return figure


def compute_gram(p: Parameters) -> dict[str, np.ndarray]:
    """One path of all overlaps, the mean over replicas, and both simplex equations."""
    noise, mu = pf.RandomWeights(4.0, 8**-0.5), simplex(4, 8, 0.2)
    path = pf.ensemble(
        noise,
        mu,
        256,
        h=0.125,
        observe=pairs,
        replicas=1,
        key=pf.key_for(p.seed, "path"),
    )
    s = np.linspace(0.05, 4, 40)
    runs = soft_chain(0.25, p.replicas, p.seed)
    args = (s, 0.2, 4, 8, 0.5)
    return {
        "path": path[0],
        "mean": runs.mean((0, 2)),
        "spread": np.quantile(runs, [0.1, 0.9], axis=(0, 2)),
        "s": s,
        "exact": homogenized.simplex_path(*args, draws=1000),
        "limit": homogenized.simplex_path_limit(*args, draws=1000),
    }


@styled
def draw_gram(data: dict[str, np.ndarray]) -> Figure:
    """The path of a Gram matrix, and where the mean goes."""
    figure = new_figure(8.4, 3.2)
    left, right = figure.subplots(1, 2, sharey=True)
    clock = np.linspace(0, 4, len(data["path"]))
    for k in range(data["path"].shape[1]):
        left.plot(clock, data["path"][:, k], lw=0.9, color=PALETTE[k])
    left.set_title("one path: six overlaps of four tokens")
    left.set_xlabel(r"$s=\eta^2\ell/H$")
    left.set_ylabel("overlap")
    frames = np.arange(5.0)
    low, high = data["spread"]
    right.fill_between(frames, low, high, color=PALETTE[0], alpha=0.15, lw=0)
    right.plot(
        frames, data["mean"], "o", color=PALETTE[0], label="layers, mean (10–90 %)"
    )
    right.plot(data["s"], data["exact"], color=INK, lw=1.1, label="simplex, exact in d")
    right.plot(
        data["s"],
        data["limit"],
        color=PALETTE[1],
        lw=1.1,
        ls=(0, (4, 2.5)),
        label="simplex, published (d = ∞)",
    )
    right.set_title("d = 8, n = 4, β = 4")
    right.set_xlabel(r"$s$")
    right.set_ylim(-0.45, 1.05)
    right.legend(loc="lower right")
    return figure


def compute_common(p: Parameters) -> dict[str, np.ndarray]:
    """Two tokens under one noise, and the same two under noises of their own."""
    runs = pair_run(8, p.replicas, p.seed, 0.2, 2.0)
    mu = pf.Particles.orthonormal(pf.Sphere(8), 1)
    other = pf.Particles(pf.Sphere(8), np.eye(8)[1:2])
    alone = [
        pf.ensemble(
            pf.GramNoise(0.0, 1.0, draws=1),
            start,
            50,
            h=0.04,
            every=5,
            observe=lambda mu: mu.points[0],
            replicas=p.wide,
            key=pf.key_for(p.seed, name),
        )
        for start, name in ((mu, "first"), (other, "second"))
    ]
    own = (alone[0] * alone[1]).sum(-1)
    return {
        "common": runs[:24],
        "own": own[:24],
        "common mean": runs.mean(0),
        "own mean": own.mean(0),
        "exact": exact_pair(8, np.linspace(0, 2, 11)),
    }


@styled
def draw_common(data: dict[str, np.ndarray]) -> Figure:
    """Shared weights bring tokens together; weights of their own do not."""
    figure = new_figure(8.4, 3.0)
    s = np.linspace(0, 2, 11)
    axes = figure.subplots(1, 2, sharey=True)
    for ax, name in zip(axes, ("common", "own"), strict=True):
        ax.plot(s, data[name].T, color=SOFT, lw=0.5, alpha=0.7)
        ax.plot(
            s, data[f"{name} mean"], "o", color=PALETTE[0], label="mean of all runs"
        )
        ax.set_xlabel(r"$s$")
    axes[0].plot(s, data["exact"], color=INK, lw=1.1, label="generator")
    axes[0].set_title("two tokens, one noise")
    axes[1].set_title("two tokens, each with its own noise")
    axes[0].set_ylabel("overlap")
    axes[0].legend(loc="lower right")
    return figure


FIGURES = {
    "collapse": (compute_collapse, draw_collapse),
    "gram-path": (compute_gram, draw_gram),
    "common-noise": (compute_common, draw_common),
}
