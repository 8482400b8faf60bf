"""Every figure of the study; those of limit shapes are here."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.observables import ParallelSubspaces
from pushforward.plot.style import INK, new_figure, styled
from pushforward.studies.clusters import _figure_attention, _hyperplanes
from pushforward.studies.clusters._drawing import (
    frame,
    group_colors,
    hull,
    parallel_lines,
    paths,
    seen,
    triad,
)
from pushforward.studies.clusters._polytope import CASES, cloud, limit_sets, runs
from pushforward.studies.clusters._systems import cube, rescaled
from pushforward.studies.clusters.claims import FORMS, T1, rescaled_after
from pushforward.studies.clusters.study import Parameters

S_STYLE: dict = {
    "marker": "D",
    "facecolors": "none",
    "edgecolors": INK,
    "lw": 0.9,
    "zorder": 5,
}


def _times(p: Parameters, t1: float) -> np.ndarray:
    """Denser early, when tokens move fast."""
    return t1 * np.linspace(0.0, 1.0, p.frames) ** 2


def compute_polytope(p: Parameters) -> dict[str, np.ndarray]:
    """Paths of one start of each case, and the finite set S of its polytope."""
    data: dict[str, np.ndarray] = {}
    for name, case in CASES.items():
        start = runs(p, name)[0].points[0]
        run = rescaled(np.eye(case.d), start, _times(p, 10.0), case.A, case.A)
        corners, S = limit_sets(p, name)[0]
        data |= {name: run.points, f"{name} corners": corners, f"{name} S": S}
    return data


@styled
def draw_polytope(data: dict[str, np.ndarray]) -> Figure:
    """Hulls at the start (dashed) and at the end, tokens, and S as diamonds."""
    figure = new_figure(10.2, 3.7)
    for ax, (name, case) in zip(figure.subplots(1, 3), CASES.items(), strict=True):
        points, S = data[name], data[f"{name} S"]
        if case.d == 2:  # in space it would only clutter
            hull(ax, points[0], late=False)
        hull(ax, data[f"{name} corners"], late=True)
        paths(ax, points, group_colors(cloud(points[-1]).labels(0.05)))
        ax.scatter(*seen(S).T, s=30 if case.d == 2 else 9, **S_STYLE)
        frame(ax, points)
        if case.d == 3:
            triad(ax)
        ax.set_title(case.words[0].upper() + case.words[1:])
    return figure


def compute_hyperplanes(p: Parameters) -> dict[str, np.ndarray]:
    """Paths for the stored matrices of the plane and of space."""
    data = {}
    for name in ("plane", "space", "second"):
        V = _hyperplanes.CASES[name].V
        start = cube(p, f"hyperplanes {name}", len(V))[0]
        data[name] = rescaled(V, start, _times(p, 10.0)).points
    return data


@styled
def draw_hyperplanes(data: dict[str, np.ndarray]) -> Figure:
    """Tokens colored by hyperplane; planes of space are seen from their edge."""
    figure = new_figure(10.2, 3.7)
    for ax, (name, points) in zip(figure.subplots(1, 3), data.items(), strict=True):
        case = _hyperplanes.CASES[name]
        form = case.forms[0]
        flat = points if points.shape[-1] == 2 else points @ _edge_on(form).T
        labels = ParallelSubspaces(case.forms, 0.1).labels(cloud(points[-1]))
        frame(ax, flat)
        edge = form if points.shape[-1] == 2 else np.array([np.linalg.norm(form), 0.0])
        values = [(points[-1] @ form)[labels == c].mean() for c in np.unique(labels)]
        parallel_lines(ax, edge, np.array(values))
        paths(ax, flat, group_colors(labels))
        ax.set_title(case.words[0].upper() + case.words[1:])
        if points.shape[-1] == 3:
            ax.set(xlabel="along the frozen form", ylabel="across it")
    return figure


def _edge_on(form: np.ndarray) -> np.ndarray:
    """(2, 3): the unit normal of the planes, and a direction inside them."""
    normal = form / np.linalg.norm(form)
    inside = np.linalg.svd(normal[None])[2][1]
    return np.stack([normal, inside])


def compute_subspaces(p: Parameters) -> dict[str, np.ndarray]:
    """Paths of the symmetric matrix of codimension 2, and of the product shape."""
    case = _hyperplanes.SUBSPACES["line"]
    start = cube(p, "hyperplanes line", 3)[0]
    product = cube(p, "product", 3)[0]
    return {
        "codimension": rescaled(case.V, start, _times(p, 30.0)).points,
        "product": rescaled(_hyperplanes.PRODUCT, product, _times(p, 6.0)).points,
    }


@styled
def draw_subspaces(data: dict[str, np.ndarray]) -> Figure:
    """Left: two forms freeze. Right: a polygon times a line."""
    figure = new_figure(10.6, 3.6)
    axes = figure.subplots(1, 4)
    case = _hyperplanes.SUBSPACES["line"]
    points = data["codimension"]
    labels = ParallelSubspaces(case.forms, 0.2).labels(cloud(points[-1]))
    flat = points @ case.forms.T
    free = points @ np.cross(*case.forms)  # the coordinate that does not freeze
    _pair(axes[:2], _squeezed(flat, free), flat, labels)
    axes[0].set_title("Codimension 2: two lines")
    axes[1].set(title="… the two growing forms", xlabel="first form")
    axes[1].set_ylabel("second form")
    points = data["product"]
    labels = cloud(points[-1][:, :2]).labels(0.2)
    flat = points[..., :2]
    _pair(axes[2:], _squeezed(flat, points[..., 2]), flat, labels)
    hull(axes[3], points[-1][:, :2], late=True)
    axes[2].set_title("V = diag(1, 1, −½): polygon × line")
    axes[3].set(title="… seen along the line", xlabel="x", ylabel="y")
    return figure


def _squeezed(flat: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Space with the unbounded coordinate as its arcsinh, pointing up."""
    return np.concatenate([flat, 1.5 * np.arcsinh(free)[..., None]], axis=-1)


def _pair(axes, points: np.ndarray, flat: np.ndarray, labels: np.ndarray) -> None:
    colors = group_colors(labels)
    for ax, shown in zip(axes, (points, flat), strict=True):
        paths(ax, shown, colors, 12.0)
        frame(ax, shown)
    triad(axes[0])


PERCEPTRONS = {
    "relu": "ReLU, W = I",
    "tanh": "tanh, W = I",
    "random": "ReLU, random W",
}


def compute_perceptrons(p: Parameters) -> dict[str, np.ndarray]:
    """Rescaled tokens over time for three perceptrons."""
    return {name: rescaled_after(p, name).points for name in PERCEPTRONS}


@styled
def draw_perceptrons(data: dict[str, np.ndarray]) -> Figure:
    """Above: the plane. Below: the growing form of every token against time."""
    figure = new_figure(9.6, 5.6)
    axes = figure.subplots(2, 3, height_ratios=(1.5, 1.0), sharey="row")
    for (above, below), (name, words) in zip(axes.T, PERCEPTRONS.items(), strict=True):
        points = data[name]
        values = points @ FORMS[0]
        labels = ParallelSubspaces(FORMS, 0.2).labels(cloud(points[-1]))
        colors = group_colors(labels)
        paths(above, points, colors)
        frame(above, *data.values())
        above.set_title(words)
        times = np.linspace(0.0, T1, len(points))
        for value, color in zip(values.T, colors, strict=True):
            below.plot(times, value, color=color, lw=0.7)
        below.set(xlabel="t", xlim=(0.0, T1))
    axes[1, 0].set_ylabel("growing form of $e^{-tV}x$")
    return figure


FIGURES = {
    **_figure_attention.FIGURES,
    "polytope": (compute_polytope, draw_polytope),
    "hyperplanes": (compute_hyperplanes, draw_hyperplanes),
    "subspaces": (compute_subspaces, draw_subspaces),
    "perceptrons": (compute_perceptrons, draw_perceptrons),
}
