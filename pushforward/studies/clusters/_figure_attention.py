"""Attention itself: Boolean limits, leaders, lost rank, collapse, hardmax cells."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.figure import Figure

from pushforward import theory
from pushforward.plot.style import (
    DEPTHS,
    INK,
    PALETTE,
    PAPER,
    SOFT,
    mixed,
    new_figure,
    styled,
)
from pushforward.studies.clusters import _line, claims
from pushforward.studies.clusters._drawing import frame, paths
from pushforward.studies.clusters._hardmax import PENTAGON, relaxed
from pushforward.studies.clusters._hyperplanes import (
    LINK,
    clearest,
    gram,
    with_leaders,
)
from pushforward.studies.clusters._systems import attention, leaders_of, rank_of
from pushforward.studies.clusters.claims import covariance, repelled, repelled_pair
from pushforward.studies.clusters.study import Parameters


def compute_boolean(p: Parameters) -> dict[str, np.ndarray]:
    """Tokens of the line over time, and attention at four times, in sorted order."""
    run = _line.escape(p)
    order = np.argsort(run.points[0, :, 0])
    z = run.points[:, order]
    chosen = np.searchsorted(run.times, [0.0, 1.5, 2.5, 8.0])
    matrices = [attention(_line.ONE, run.times[k], z[k]) for k in chosen]
    return {
        "times": run.times,
        "z": z[..., 0],
        "shown": run.times[chosen],
        "matrices": np.array(matrices),
    }


@styled
def draw_boolean(data: dict[str, np.ndarray]) -> Figure:
    """Left: rescaled tokens. Then attention matrices with their rank."""
    figure = new_figure(11.2, 2.7)
    axes = figure.subplots(1, 5, width_ratios=(1.4, 1, 1, 1, 1))
    ends = data["z"][-1]
    for path, end in zip(data["z"].T, ends, strict=True):
        color = PALETTE[0] if end < 0 else PALETTE[1]
        axes[0].plot(data["times"], path, color=color, lw=0.7)
    axes[0].set(xlabel="t", ylabel="$e^{-t}x$", title="Tokens of the line")
    axes[0].set_xlim(0.0, 5.0)
    for ax, t, P in zip(axes[1:], data["shown"], data["matrices"], strict=True):
        _matrix(ax, P, f"t = {t:.3g}, rank {rank_of(P)}")
    axes[1].set_ylabel("token, sorted")
    return figure


def _matrix(ax: Axes, P: np.ndarray, title: str) -> None:
    ax.imshow(P, cmap=DEPTHS, vmin=0.0, vmax=P.max(), interpolation="nearest")
    ax.spines[["top", "right"]].set_visible(True)
    ax.set(title=title, xticks=[], yticks=[])


def compute_leaders(p: Parameters) -> dict[str, np.ndarray]:
    """Tokens of the plane and their attention at four times."""
    draw = clearest(p)
    (V, A), run = gram(p, draw), with_leaders(p, draw)
    chosen = np.searchsorted(run.times, [0.0, 1.0, 3.0, 10.0])
    pairs = [(run.times[k], run.points[k]) for k in chosen]
    return {
        "times": run.times[chosen],
        "points": run.points[chosen],
        "matrices": np.array([attention(V, t, z, A, A) for t, z in pairs]),
    }


@styled
def draw_leaders(data: dict[str, np.ndarray]) -> Figure:
    """Links where attention exceeds 1e-4; leaders are ringed."""
    figure = new_figure(10.8, 3.0)
    axes = figure.subplots(1, 4)
    for ax, t, z, P in zip(
        axes, data["times"], data["points"], data["matrices"], strict=True
    ):
        pairs = np.argwhere((P > LINK) & ~np.eye(len(P), dtype=bool))
        strength = P[tuple(pairs.T)]
        blue = np.tile(to_rgb(PALETTE[0]), (len(pairs), 1))
        colors = mixed(blue, np.array(to_rgb(PAPER)), 0.12 + 0.75 * strength)
        lines = LineCollection(
            list(z[pairs]), colors=colors.tolist(), linewidths=0.9, zorder=1
        )
        ax.add_collection(lines)
        ax.scatter(z[:, 0], z[:, 1], s=18, c=INK, lw=0.4, edgecolors=PAPER, zorder=3)
        heads = leaders_of(P)
        ring: dict = {"s": 80, "facecolors": "none", "edgecolors": PALETTE[1]}
        ax.scatter(z[heads, 0], z[heads, 1], lw=1.4, zorder=4, **ring)
        count = int((P.max(axis=0) > LINK).sum())
        ax.set_title(f"t = {t:.3g}: {count} attended to")
        frame(ax, data["points"])
    return figure


def compute_rank(p: Parameters) -> dict[str, np.ndarray]:
    """Attention matrices of 40 tokens in high dimension."""
    run = claims.fading(p)
    return {"times": run.times, "matrices": run.matrices}


@styled
def draw_rank(data: dict[str, np.ndarray]) -> Figure:
    """Columns fade until a few are left."""
    matrices, times = data["matrices"], data["times"]
    figure = new_figure(10.8, 2.6)
    axes = figure.subplots(1, len(times))
    for ax, t, P in zip(axes, times, matrices, strict=True):
        _matrix(ax, P, f"t = {t:.2g}, rank {rank_of(P)}")
    return figure


def compute_collapse(p: Parameters) -> dict[str, np.ndarray]:
    """2 t Cov over time, and 2 t u^2 of a pair."""
    run, pair = repelled(p), repelled_pair()
    t = np.geomspace(0.1, 1e4, 200)
    return {
        "times": run.times[1:],
        "values": np.array([2 * t * covariance(x) for t, x in zip(*run, strict=True)])[
            1:
        ],
        "pair times": pair.times[1:],
        "pair": 2 * pair.times[1:] * pair.points[1:, 1, 0] ** 2,
        "law times": t,
        "law": 2 * t * np.asarray(theory.leaders.collapsing_pair_square(t, 0.25)),
    }


@styled
def draw_collapse(data: dict[str, np.ndarray]) -> Figure:
    """Everything tends to one."""
    figure = new_figure(5.6, 3.2)
    ax = figure.subplots()
    for k, values in enumerate(data["values"].T):
        label = "eigenvalues of 2t Cov, space" if k == 0 else None
        ax.plot(
            data["times"], values, "o-", ms=3, color=PALETTE[0], lw=0.8, label=label
        )
    ax.plot(data["law times"], data["law"], color=PALETTE[1], label="2t u², law")
    pair = data["pair times"], data["pair"]
    ax.plot(*pair, "s", ms=5, color=PALETTE[1], label="2t u², two tokens")
    ax.axhline(1.0, color=SOFT, ls=":", lw=0.8)
    ax.set(xscale="log", yscale="log", xlabel="t", xlim=(0.1, 1.3e4))
    ax.set(title="V = −I: algebraic collapse")
    ax.legend(loc="lower right")
    return figure


def compute_cells(p: Parameters) -> dict[str, np.ndarray]:
    """Cells of a pentagon and of a random polygon, and hardmax tokens."""
    side = np.linspace(-1.15, 1.15, p.grid)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    rng = np.random.default_rng(p.seed)
    angles = np.sort(rng.uniform(0, 2 * np.pi, 9))
    radii = rng.uniform(0.4, 1.0, 9)
    polygon = radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    polygon = polygon[theory.polytope.hull_vertices(polygon)]
    cells = theory.polytope.hardmax_cells
    return {
        "side": side,
        "pentagon": cells(grid, PENTAGON).reshape(p.grid, p.grid),
        "polygon": cells(grid, polygon).reshape(p.grid, p.grid),
        "vertices": polygon,
        "points": relaxed(p).points,
    }


@styled
def draw_cells(data: dict[str, np.ndarray]) -> Figure:
    """Left: equal levels, Voronoi cells. Right: a random polygon, cells are cones."""
    figure = new_figure(7.6, 3.8)
    axes = figure.subplots(1, 2)
    shapes = (("pentagon", PENTAGON), ("polygon", data["vertices"]))
    for ax, (name, v) in zip(axes, shapes, strict=True):
        tint = np.array([to_rgb(c) for c in PALETTE])
        tint = mixed(tint, np.array(to_rgb(PAPER)), np.full(len(tint), 0.22))
        edge = float(data["side"][-1])
        extent = (-edge, edge, -edge, edge)
        shades: dict = {"vmin": -0.5, "vmax": len(PALETTE) - 0.5, "origin": "lower"}
        colors = ListedColormap(tint.tolist())
        ax.imshow(data[name], extent=extent, cmap=colors, **shades)
        order = np.argsort(np.arctan2(v[:, 1], v[:, 0]))
        ring = v[np.r_[order, order[:1]]]
        ax.plot(*ring.T, color=INK, lw=0.8, zorder=1.5)
        ax.scatter(v[:, 0], v[:, 1], s=40, c=INK, zorder=5)
        ax.set_axis_off()
    cells = theory.polytope.hardmax_cells(data["points"][0], PENTAGON)
    paths(axes[0], data["points"], np.array([to_rgb(PALETTE[k]) for k in cells]))
    axes[0].set_title("Tokens keep to the cell of their vertex")
    axes[1].set_title("Cells ⟨x, v⟩ = max of a random polygon")
    return figure


FIGURES = {
    "boolean-limit": (compute_boolean, draw_boolean),
    "leaders": (compute_leaders, draw_leaders),
    "low-rank": (compute_rank, draw_rank),
    "collapse": (compute_collapse, draw_collapse),
    "hardmax-cells": (compute_cells, draw_cells),
}
