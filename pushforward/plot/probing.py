"""Pictures of a trained model: its tokens by layer, its heads, and the theory's fit."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from pushforward.plot.style import DEPTHS, HAIR, INK, PALETTE, SOFT, new_figure, styled
from pushforward.probe import (
    REGIMES,
    SHARES,
    Examination,
    HeadSpectra,
    LayerTable,
    Recording,
    Sensitivity,
)
from pushforward.theory.ordered.kinetic import retrieval as theory_of_retrieval

NAMES = {"own": "the model's own attention", **SHARES}
STYLE = {
    "own": (PALETTE[2], "o-"),
    "linear": (INK, "s-"),
    "both": (PALETTE[3], "D--"),
    "attention": (PALETTE[0], "o-"),
    "shuffled": (PALETTE[4], "v-"),
    "plain": (PALETTE[1], "^-"),
}


@styled
def layer_curves(table: LayerTable, centered: LayerTable) -> Figure:
    """Six observables by layer, as recorded and with the mean token removed."""
    figure = new_figure(9.6, 5.0)
    axes = figure.subplots(2, 3, sharex=True).ravel()
    layers = np.arange(len(table.mean_cosine))
    low, _, high = table.quantiles.T
    axes[0].fill_between(layers, low, high, color=PALETTE[0], alpha=0.15, lw=0)
    pairs = (
        ("mean_cosine", "mean cosine of two tokens"),
        ("effective_rank", "effective rank"),
        ("anisotropy", "share of the first direction"),
        ("margin", "hemisphere margin"),
        ("energy", f"energy at β = {table.beta:.3g}"),
    )
    # centered tokens sum to zero, so that their mean cosine says nothing
    beyond = centered.quantiles[:, 2]
    axes[0].plot(layers, beyond, "s--", ms=2.5, lw=1.0, color=PALETTE[1])
    for ax, (name, title) in zip(axes, pairs, strict=False):
        ax.plot(layers, getattr(table, name), "o-", ms=3, label=table.normalization)
        ax.set_title(title)
        if name != "mean_cosine":
            ax.plot(layers, getattr(centered, name), "s-", ms=2.5, lw=1.0)
    axes[5].plot(layers, table.norm, "o-", ms=3, color=SOFT)
    _by_powers(axes[5], table.norm)
    axes[5].set_title("mean length |x| before normalizing")
    axes[0].axhline(0, color=HAIR, lw=0.6)
    axes[0].plot([], [], "s--", ms=2.5, color=PALETTE[1], label="centered, 95 % point")
    axes[1].plot([], [], "s-", ms=2.5, color=PALETTE[1], label="centered")
    axes[0].legend(loc="best")
    axes[1].legend(loc="best")
    for ax in axes[3:]:
        ax.set_xlabel("layer")
    return figure


def _by_powers(ax: Axes, values: np.ndarray) -> None:
    """An axis with plain numbers: by powers where values span more than one of ten."""
    if values.max() <= 10 * values.min():
        ax.set_ylim(0)
        return
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


@styled
def token_maps(recording: Recording, layers: Sequence[int], names: int = 10) -> Figure:
    """The tokens of some layers in the two directions in which they spread most.

    The mean token of a layer is removed; every panel is turned to agree best with the
    one before it. `names` tokens, evenly spread in the text, are named in all panels.
    """
    columns = min(len(layers), 3)
    rows = -(-len(layers) // columns)
    figure = new_figure(3.1 * columns, 2.7 * rows)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    n = recording.hidden.shape[1]
    named = np.unique(np.linspace(0, n - 1, min(names, n)).round().astype(int))
    before, shades = None, np.linspace(0.3, 1.0, n)
    for ax, k in zip(grid, layers, strict=False):
        before = plane = _plane(recording.hidden[k].astype(float), before)
        ax.scatter(
            *plane.T, c=shades, cmap=DEPTHS, vmin=0, vmax=1, s=10, lw=0, alpha=0.8
        )
        for i in named:
            word = recording.tokens.strings[i].strip() or "␣"
            ax.annotate(
                word[:14],
                plane[i],
                size=6.5,
                color=INK,
                xytext=(2, 2),
                textcoords="offset points",
            )
        ax.set_title(f"layer {k}")
        ax.set_xticks([])
        ax.set_yticks([])
        ax.margins(0.12)
    for ax in grid[len(layers) :]:
        ax.set_axis_off()
    return figure


def _plane(x: np.ndarray, before: np.ndarray | None) -> np.ndarray:
    """Unit tokens around their mean in two principal directions, turned to `before`."""
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    x = x - x.mean(axis=0, keepdims=True)
    U, s, _ = np.linalg.svd(x, full_matrices=False)
    plane = U[:, :2] * s[:2]
    if before is None:
        return plane
    left, _, right = np.linalg.svd(plane.T @ before)
    return plane @ left @ right


@styled
def cluster_counts(table: LayerTable) -> Figure:
    """The number of clusters at several radii, by layer."""
    figure = new_figure(5.4, 3.2)
    ax = figure.add_subplot()
    layers = np.arange(len(table.clusters))
    colors = DEPTHS(np.linspace(0.3, 0.95, len(table.radii)))
    curves = zip(table.radii, table.clusters.T, colors, strict=True)
    for radius, counts, color in curves:
        ax.plot(layers, counts, "o-", ms=3, color=color, label=f"{radius:g}")
    _by_powers(ax, table.clusters)
    ax.set_xlabel("layer")
    ax.set_ylabel("clusters")
    ax.legend(title="radius (rad)", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


@styled
def head_maps(found: Examination) -> Figure:
    """Each head of each layer: entropy, first token, inverse temperatures, regime.

    What only weights tell is left out where they are not known.
    """
    assert found.heads is not None and found.seen_beta is not None
    depth, count = found.heads.entropy.shape
    known = bool(found.spectra)
    figure = new_figure(10.4 if known else 6.4, 1.4 + 0.15 * max(depth, 9))
    axes = figure.subplots(1, 5 if known else 3, sharey=True)
    _map(axes[0], found.heads.entropy, "entropy (1 = uniform)", (0, 1), DEPTHS)
    _map(axes[1], found.heads.first, "attention to the first", (0, 1), DEPTHS)
    seen = found.seen_beta
    most = float(np.percentile(np.abs(seen), 98)) or 1.0
    _map(axes[2], seen, "β seen (dot: above critical)", (-most, most), "RdBu")
    rows, columns = np.nonzero(seen > found.critical_beta[:, None])
    axes[2].plot(columns, rows, "o", ms=3, color="white", mec=INK, mew=0.6)
    if known:
        effective = found.effective_beta
        limit = (0, float(np.percentile(effective, 98)))
        _map(axes[3], effective, "effective β", limit, DEPTHS)
        _regimes(axes[4], found)
    for ax in axes:
        ax.set_xlabel("head")
        ax.set_xticks([0, count - 1], ["1", str(count)])
    axes[0].set_ylabel("layer")
    rows = np.unique(np.linspace(0, depth - 1, min(depth, 7)).astype(int))
    axes[0].set_yticks(rows, [str(k + 1) for k in rows])
    return figure


def _regimes(ax: Axes, found: Examination) -> None:
    names = [[REGIMES.index(h.regime) for h in layer] for layer in found.spectra or ()]
    colors = ["#7a1f3d", PALETTE[0], "#b9d3e6", PALETTE[4], "#d9d9d9"]
    image = ax.imshow(
        np.array(names), cmap=ListedColormap(colors), vmin=-0.5, vmax=4.5, aspect="auto"
    )
    bar = ax.figure.colorbar(image, ax=ax, location="bottom", ticks=range(5))
    bar.ax.set_xticklabels(REGIMES, rotation=35, ha="right", size=7)
    ax.set_title("regime of (Q, K, V)")


def _map(ax: Axes, values, title: str, limits, cmap) -> None:
    image = ax.imshow(values, cmap=cmap, vmin=limits[0], vmax=limits[1], aspect="auto")
    ax.figure.colorbar(
        image, ax=ax, location="bottom", shrink=0.85, ticks=MaxNLocator(3)
    )
    ax.set_title(title)


@styled
def spectra(layers: Sequence[Sequence[HeadSpectra]], chosen: Sequence[int]) -> Figure:
    """Eigenvalues of V in the plane (above) and of symmetrized Q^T K (below)."""
    figure = new_figure(2.2 * len(chosen) + 0.6, 4.3)
    grid = figure.subplots(2, len(chosen), squeeze=False, sharey="row")
    for (top, bottom), k in zip(grid.T, chosen, strict=True):
        for h, head in enumerate(layers[k]):
            color = DEPTHS(0.35 + 0.6 * h / max(len(layers[k]) - 1, 1))
            top.plot(head.V.real, head.V.imag, ".", ms=2.2, color=color)
            place = np.linspace(0, 1, len(head.B))
            bottom.plot(place, head.B, lw=0.8, color=color)
        for ax in (top, bottom):
            ax.axhline(0, color=HAIR, lw=0.6, zorder=0)
        top.axvline(0, color=HAIR, lw=0.6, zorder=0)
        top.set_title(f"layer {k + 1}")
        top.set_xlabel("Re")
        bottom.set_yscale("symlog", linthresh=10)
        bottom.set_xticks([])
        bottom.set_xlabel("eigenvalues in order")
    grid[0, 0].set_ylabel("Im of eigenvalues of V")
    grid[1, 0].set_ylabel("eigenvalues of $Q^T K$")
    return figure


@styled
def motion_shares(found: Examination) -> Figure:
    """How much of each layer's motion is explained, and by what."""
    figure = new_figure(7.2, 3.4)
    ax = figure.add_subplot()
    x = np.array(found.fitted) + 1
    if found.own is not None:
        color, style = STYLE["own"]
        every = np.arange(1, len(found.own) + 1)
        ax.plot(every, found.own, style, color=color, ms=3, label=NAMES["own"])
    for name in ("linear", "both", "attention", "shuffled", "plain"):
        color, style = STYLE[name]
        values = found.shares(name)
        ax.plot(x, values, style, color=color, ms=3.5, lw=1.1, label=NAMES[name])
    ax.axhline(0, color=HAIR, lw=0.8)
    ax.set_ylim(min(-0.1, ax.get_ylim()[0]), 1.02)
    ax.set_xlabel("layer")
    ax.set_ylabel("share of the motion explained")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def kinetic_curve(position: np.ndarray) -> np.ndarray:
    """S_t of the kinetic theory with beta = lambda = 1 at t = 1.2, where it is a U."""
    inside = np.clip(position, 0.01, 0.99)
    return np.asarray(theory_of_retrieval(inside, 1.2, 1.0, 1.0))


@styled
def sensitivity_curve(
    found: Sensitivity, theory: Callable[[np.ndarray], np.ndarray] | None = None
) -> Figure:
    """The last token's sensitivity to each position, over its mean.

    `theory`, a function of the position in (0, 1), is drawn beside it, over its mean.
    `kinetic_curve` is one: for shape, not for size, as nothing in it is fitted.
    """
    figure = new_figure(6.4, 3.0)
    ax = figure.add_subplot()
    ax.plot(found.positions, found.share, ".", ms=3, color=SOFT, alpha=0.6)
    bins = np.array_split(np.arange(len(found.share)), min(16, len(found.share)))
    centers = [found.positions[b].mean() for b in bins]
    medians = [np.median(found.share[b]) for b in bins]
    ax.plot(centers, medians, "o-", color=PALETTE[0], ms=4, label="median of neighbors")
    if theory is not None:
        values = np.asarray(theory(found.positions), float)
        label = "kinetic theory, scaled" if theory is kinetic_curve else "theory"
        ax.plot(found.positions, values / values.mean(), color=PALETTE[1], label=label)
    _by_powers(ax, found.share)
    ax.axhline(1, color=HAIR, lw=0.8)
    ax.set_xlabel("position in the text (0 first, 1 last)")
    ax.set_ylabel("sensitivity of the last token")
    ax.legend(loc="upper center")
    return figure
