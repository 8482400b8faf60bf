"""Pictures of distances between representations: maps over lambda, dendrograms."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.cluster.hierarchy import dendrogram as tree
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from pushforward.errors import InputError
from pushforward.plot.page import (
    folded,
    gallery,
    image,
    listing,
    paragraph,
    section,
    table,
    write_page,
)
from pushforward.plot.style import DEPTHS, INK, new_figure, styled
from pushforward.statistics.representations.gulp import GulpMatrix
from pushforward.statistics.representations.similarities import classical_scaling

PICTURED = 4  # lambdas with pictures on the page
FEW, LISTED = 12, 5000  # distances in a table that is open, and in one at all


@styled
def plot_embedding(
    matrix: GulpMatrix, *, groups: Sequence[str] | None = None
) -> Figure:
    """Maps of the representations, one panel per lambda, colored by group.

    Each panel is the classical scaling of one distance matrix; its title says which
    share of the geometry the plane holds.
    """
    labels, palette = _palette(matrix, groups)
    count = len(matrix.lambdas)
    named = groups is None and len(labels) <= 12
    columns = min(count, 2 if named else 4)
    rows = -(-count // columns)
    figure = new_figure((4.4 if named else 3.1) * columns, 3.2 * rows + 0.4)
    axes = np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel()
    for ax in axes[count:]:
        ax.set_axis_off()
    for ax, lam, distance in zip(axes, matrix.lambdas, matrix.distance, strict=False):
        found = classical_scaling(distance)
        colors = [palette[g] for g in labels]
        ax.scatter(*found.points.T, c=colors, s=34, edgecolor="white", linewidth=0.6)
        if named:
            _label(ax, matrix.names, found.points)
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


def _label(ax: Axes, names: Sequence[str], points: np.ndarray) -> None:
    """Names in a column beside the panel, each with a line to its point."""
    order = np.argsort(points[:, 1], kind="stable")
    heights = np.linspace(0.03, 0.97, len(order)) if len(order) > 1 else [0.5]
    for k, height in zip(order, heights, strict=True):
        ax.annotate(
            names[k],
            points[k],
            (1.06, height),
            textcoords="axes fraction",
            size=7,
            va="center",
            arrowprops={
                "arrowstyle": "-",
                "color": "0.75",
                "lw": 0.6,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )


@styled
def plot_dendrogram(
    matrix: GulpMatrix, lam: float, *, groups: Sequence[str] | None = None
) -> Figure:
    """The tree of representations at one lambda, by average linkage of distances."""
    labels, palette = _palette(matrix, groups)
    links = _links(matrix, lam)
    height = max(2.5, 0.22 * len(matrix.names) + 1.0)
    figure = new_figure(5.0, height)
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


@styled
def plot_distances(matrix: GulpMatrix, lam: float) -> Figure:
    """The distances of one lambda as a map, neighbors in the tree beside each other."""
    order = leaves_list(_links(matrix, lam)) if len(matrix.names) > 2 else [0, 1]
    D = matrix.at(lam)[np.ix_(order, order)]
    m = len(D)
    side = float(np.clip(0.34 * m, 2.4, 6.0))
    figure = new_figure(side + 2.0, side + 0.5)
    ax = figure.subplots()
    apart = ~np.eye(m, dtype=bool)
    low, high = D[apart].min(), D[apart].max()
    drawn = ax.imshow(np.where(apart, D, np.nan), cmap=DEPTHS.reversed())
    drawn.set_clim(low, max(high, low + 1e-12))
    for i, j in np.argwhere(apart) if m <= 12 else ():
        color = "white" if D[i, j] < (low + high) / 2 else INK
        ax.text(j, i, f"{D[i, j]:.3g}", ha="center", va="center", size=6, c=color)
    ax.set_yticks(range(m), [f"{matrix.names[k]}  {k + 1}" for k in order], size=7)
    ax.set_xticks(range(m), [str(k + 1) for k in order], size=7)
    ax.set_title(f"$\\lambda$ = {lam:g}")
    ax.tick_params(length=0)
    figure.colorbar(drawn, ax=ax, shrink=0.7)
    return figure


def _links(matrix: GulpMatrix, lam: float) -> np.ndarray:
    return linkage(squareform(matrix.at(lam), checks=False), method="average")


def write_gulp_report(
    matrix: GulpMatrix, path: str | Path, *, errors: np.ndarray, read: Sequence[str]
) -> None:
    """One self-contained page: distances with their errors, the map and the tree."""
    parts = [
        paragraph(
            f"GULP distances between {len(matrix.names)} representations of the same "
            "samples: how differently ridge regression of strength lambda predicts "
            "from them. Zero means that one is the other, rotated and rescaled."
        )
    ]
    drawn = [float(lam) for lam in matrix.lambdas[:PICTURED]]
    maps = [image("Distances", plot_distances(matrix, lam)) for lam in drawn]
    parts.append(gallery(*maps))
    if len(matrix.names) > 2:
        planes = [
            image("Map", plot_embedding(_at(matrix, t))) for t in range(len(drawn))
        ]
        words = paragraph("Near means alike; the share of the geometry is in brackets.")
        parts.append(section("Map", words, gallery(*planes)))
        trees = [image("Tree", plot_dendrogram(matrix, lam)) for lam in drawn]
        parts.append(section("Tree", gallery(*trees)))
    rows = [
        [f"{lam:g}", matrix.names[i], matrix.names[j], f"{d[i, j]:.4g} ± {e[i, j]:.2g}"]
        for lam, d, e in zip(matrix.lambdas, matrix.distance, errors, strict=True)
        for i in range(len(matrix.names))
        for j in range(i + 1, len(matrix.names))
    ]
    head = ["lambda", "first", "second", "distance and standard error"]
    title = f"All {len(rows)} distances with their standard errors"
    whole = table(head, rows[:LISTED])
    parts.append(whole if len(rows) <= FEW else folded(title, whole))
    if read:
        parts.append(section("How the files were read", listing(read)))
    write_page(path, "Distances between representations", parts)


def _at(matrix: GulpMatrix, t: int) -> GulpMatrix:
    """The same for one lambda."""
    here = slice(t, t + 1)
    return GulpMatrix(matrix.names, matrix.lambdas[here], matrix.squared[here])


@styled
def similarity_maps(
    found: dict[str, Float[np.ndarray, "r c"]],
    rows: Sequence[int],
    columns: Sequence[int],
    *,
    names: tuple[str, str] = ("layer", "layer"),
) -> Figure:
    """One heat map per similarity; dark is alike in all of them."""
    figure = new_figure(9.4, 3.4)
    axes = figure.subplots(1, len(found), sharey=True)
    for ax, (title, values) in zip(axes, found.items(), strict=True):
        alike = title.startswith("CKA")
        image = ax.imshow(
            values,
            cmap=DEPTHS if alike else DEPTHS.reversed(),
            vmin=0.0,
            vmax=1.0 if alike else None,
            aspect="auto",
            origin="lower",
        )
        ax.figure.colorbar(image, ax=ax, location="bottom", shrink=0.85)
        ax.set_title(title)
        ax.set_xticks(range(len(columns)), [str(k) for k in columns], size=7)
        ax.set_xlabel(names[1])
    axes[0].set_yticks(range(len(rows)), [str(k) for k in rows], size=7)
    axes[0].set_ylabel(names[0])
    return figure
