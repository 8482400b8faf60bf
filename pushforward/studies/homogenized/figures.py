"""Every figure of the study.

How tokens collapse: against width and temperature, path by path, under one noise.

Where the paper needs a correction: the slow clock and the modified equation.
"""

import numpy as np
from matplotlib.figure import Figure

import pushforward as pf
from pushforward.plot.style import DEPTHS, HAIR, INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.homogenized._chains import (
    ETAS,
    collapse,
    errors,
    exact_pair,
    pair_run,
    pairs,
    simplex,
    slow_pair,
    soft_chain,
    soft_diffusion,
    warm_mean,
)
from pushforward.studies.homogenized.study import Parameters
from pushforward.theory import homogenized, homogenized_pair

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


STEPS = (1.0, 0.5, 0.25)


def compute_slow(p: Parameters) -> dict[str, np.ndarray]:
    """artanh u of two tokens at slow time 1/4, and both laws."""
    y, brownian = homogenized_pair.slow_law(0.25, 0.0, 2.0)
    z, printed = homogenized_pair.slow_law(0.25, 0.0, 1.0)
    return {
        "samples": slow_pair(p.replicas, p.seed),
        "brownian": np.stack([y, brownian]),
        "published": np.stack([z, printed]),
    }


@styled
def draw_slow(data: dict[str, np.ndarray]) -> Figure:
    """The histogram follows Brownian motion."""
    figure = new_figure(5.6, 3.2)
    ax = figure.add_subplot()
    bins = np.linspace(-2.5, 2.5, 36)
    ax.hist(data["samples"], bins, density=True, color=HAIR, label="layers, d = 64")
    ax.plot(*data["brownian"], color=PALETTE[0], label="corrected: √2 Brownian")
    ax.plot(
        *data["published"],
        color=PALETTE[1],
        ls=(0, (4, 2.5)),
        label="published equation",
    )
    ax.set_xlim(-2.6, 2.6)
    ax.set_xlabel("artanh u")
    ax.set_ylabel("density")
    ax.set_title("two tokens at zero temperature, slow time s/d = 1/4")
    ax.legend(loc="upper left", fontsize=7.5)
    return figure


def compute_layers(p: Parameters) -> dict[str, np.ndarray]:
    """Errors of the three equations, and P(R > .9) against the step."""
    chance = [(soft_chain(e, p.replicas, p.seed)[:, 2] > 0.9).mean(1) for e in STEPS]
    limit = (soft_diffusion(p.replicas // 4, p.seed)[:, 2] > 0.9).mean(1)
    rows = [*chance, limit]
    return {
        **{k: np.abs(v) for k, v in errors().items() if k != "m"},
        "chance": np.array([r.mean() for r in rows]),
        "chance error": np.array([r.std() / np.sqrt(len(r)) for r in rows]),
    }


def _equal_layers(ax, data: dict[str, np.ndarray]) -> None:
    names = {
        "ODE": "layers − ODE",
        "published": "layers − published modified equation",
        "corrected": "layers − corrected, radial term",
        "tangential": "tangential layers − published",
    }
    for k, (name, label) in enumerate(names.items()):
        ax.loglog(ETAS, data[name], "o-", ms=4, color=PALETTE[k], label=label)
    for power, scale in ((1, 0.3), (2, 0.05)):
        guide = scale * np.array(ETAS) ** power
        ax.loglog(ETAS, guide, color=INK, lw=0.7, ls=(0, (2, 2)))
        where = (ETAS[-1], guide[-1])
        text = rf"$\eta^{power}$"
        ax.annotate(text, where, (-16, -3), textcoords="offset points")
    ax.set_xticks(ETAS, [f"{e:g}" for e in ETAS])
    ax.minorticks_off()
    ax.set_xlim(0.04, 0.22)
    ax.set_xlabel("η")
    ax.set_ylabel("|error of m(1)|")
    ax.set_title("equal layers, β = 2, n = 4, d = 3")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7.5)


def _random_layers(ax, data: dict[str, np.ndarray]) -> None:
    at, y = np.array([*STEPS, 0.0]) ** 2, data["chance"]
    error = 2 * data["chance error"]
    ax.errorbar(at, y, error, fmt="o", ms=4, color=PALETTE[0], capsize=2.5)
    ax.annotate("diffusion", (0.0, y[-1]), (10, 4), textcoords="offset points")
    ax.set_xlabel(r"$\eta^2$")
    ax.set_ylabel("P(R > 0.9) at s = 2")
    ax.set_ylim(0.0, None)
    ax.set_title("random layers, β = 4")


@styled
def draw_layers(data: dict[str, np.ndarray]) -> Figure:
    """Left, deterministic layers; right, random ones."""
    figure = new_figure(9.0, 3.3)
    left, right = figure.subplots(1, 2, width_ratios=[1.5, 1])
    _equal_layers(left, data)
    _random_layers(right, data)
    return figure


FIGURES = {
    "collapse": (compute_collapse, draw_collapse),
    "gram-path": (compute_gram, draw_gram),
    "common-noise": (compute_common, draw_common),
    "slow-clock": (compute_slow, draw_slow),
    "layers": (compute_layers, draw_layers),
}
