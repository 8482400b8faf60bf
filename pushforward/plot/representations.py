"""Pictures of distances between representations: maps over lambda, dendrograms."""

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.cluster.hierarchy import dendrogram as tree
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from pushforward.errors import InputError
from pushforward.statistics.representations import GulpMatrix
from pushforward.statistics.scaling import classical_scaling


def plot_embedding(
    matrix: GulpMatrix, *, groups: Sequence[str] | None = None
) -> Figure:
    """Maps of the representations, one panel per lambda, colored by group.

    Each panel is the classical scaling of one distance matrix; its title says which
    share of the geometry the plane holds.
    """
    labels, palette = _palette(matrix, groups)
    count = len(matrix.lambdas)
    columns = min(count, 4)
    rows = -(-count // columns)
    figure = Figure(figsize=(3.1 * columns, 3.2 * rows + 0.4), layout="constrained")
    axes = np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel()
    for ax in axes[count:]:
        ax.set_axis_off()
    for ax, lam, distance in zip(axes, matrix.lambdas, matrix.distance, strict=False):
        found = classical_scaling(distance)
        colors = [palette[g] for g in labels]
        ax.scatter(*found.points.T, c=colors, s=34, edgecolor="white", linewidth=0.6)
        if groups is None and len(labels) <= 12:
            for name, point in zip(matrix.names, found.points, strict=True):
                ax.annotate(name, point, (4, 4), textcoords="offset points", size=7)
        ax.set_title(f"$\\lambda$ = {lam:g}   ({found.explained:.0%} shown)", size=9)
        ax.set_aspect("equal", "datalim")
        ax.margins(0.15)
        ax.tick_params(labelsize=7)
        ax.locator_params(nbins=4)
    if groups is not None:
        handles = [
            Line2D([], [], marker="o", ls="", color=color, label=name)
            for name, color in palette.items()
        ]
        columns = min(len(handles), 6)
        figure.legend(
            handles=handles, loc="outside lower center", ncols=columns, frameon=False
        )
    return figure


def plot_dendrogram(
    matrix: GulpMatrix, lam: float, *, groups: Sequence[str] | None = None
) -> Figure:
    """The tree of representations at one lambda, by average linkage of distances."""
    labels, palette = _palette(matrix, groups)
    links = linkage(squareform(matrix.at(lam), checks=False), method="average")
    height = max(2.5, 0.22 * len(matrix.names) + 1.0)
    figure = Figure(figsize=(6.5, height), layout="constrained")
    ax = figure.subplots()
    found = tree(
        links,
        orientation="left",
        labels=list(matrix.names),
        ax=ax,
        link_color_func=lambda _: "0.45",
    )
    if groups is not None:
        for text, leaf in zip(ax.get_yticklabels(), found["leaves"] or [], strict=True):
            text.set_color(palette[labels[leaf]])
    ax.set_xlabel(f"GULP distance, $\\lambda$ = {lam:g}")
    ax.tick_params(axis="y", labelsize=8)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return figure


def _palette(
    matrix: GulpMatrix, groups: Sequence[str] | None
) -> tuple[list[str], dict[str, str]]:
    labels = list(groups) if groups is not None else list(matrix.names)
    if len(labels) != len(matrix.names):
        raise InputError(
            f"`groups` has {len(labels)} entries for {len(matrix.names)} "
            "representations. Give one group each."
        )
    names = list(dict.fromkeys(labels))
    colors = colormaps["viridis"](np.linspace(0.05, 0.75, len(names)))
    return labels, {n: to_hex(c) for n, c in zip(names, colors, strict=True)}
