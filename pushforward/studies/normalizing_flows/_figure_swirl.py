"""A picture swirled by shears, and the cells that carry it."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pushforward.plot import wheel
from pushforward.plot.style import HAIR, new_figure, styled
from pushforward.studies.normalizing_flows._runs import (
    Swirl,
    SwirledBulge,
    bulge,
    swirled,
)
from pushforward.studies.normalizing_flows.study import Parameters

PIXELS = 220


def target_picture(x: np.ndarray) -> np.ndarray:
    """The color of a point: hue turns with the angle, rings and a checker in light."""
    center = x - 0.5
    angle, radius = np.arctan2(center[:, 1], center[:, 0]), np.hypot(*center.T)
    rings = np.cos(2 * np.pi * radius * 6)
    checker = np.where((np.floor(x * 8).sum(axis=1) % 2) == 0, 0.06, -0.06)
    return wheel(angle, 0.66 + 0.10 * rings + checker)


def pixels() -> np.ndarray:
    """Pixel centers, a little off so that none lies on the face of a cell."""
    line = (np.arange(PIXELS) + 0.5 + 1e-3) / PIXELS
    return np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)


def compute_swirl(p: Parameters) -> dict[str, np.ndarray]:
    """What the picture looks like after the exact swirl and after three flows.

    The color at y is that of the point which is carried there.
    """
    y = pixels()
    frames = {"before": y, "swirl to time 0.8": Swirl(0.8).inverse(y)}
    for m in (8, 16, 32):
        flow = swirled(m)
        name = f"{m} × {m} cells, {flow.pieces:,} neurons"
        frames[name] = np.asarray(flow.inverse(y))
    shape = (PIXELS, PIXELS, 3)
    return {k: target_picture(x).reshape(shape) for k, x in frames.items()}


@styled
def draw_swirl(data: dict[str, np.ndarray]) -> Figure:
    """Five squares in a row."""
    figure = new_figure(2.25 * len(data), 2.6)
    for k, (name, picture) in enumerate(data.items()):
        ax = figure.add_subplot(1, len(data), k + 1)
        _show(ax, picture, name)
    return figure


def compute_three_factors(p: Parameters) -> dict[str, np.ndarray]:
    """Uniform points after each factor: sorted cells, stretched columns, cells again.

    Points keep the color of their determinant.
    """
    flow = bulge(8, 4)
    x = np.random.default_rng(p.seed).uniform(size=(9000, 2))
    stretch = np.flatnonzero((np.asarray(flow.w) * np.asarray(flow.a)).any(axis=1))
    ends = (stretch[0], stretch[-1] + 1, flow.pieces)
    stages = {"start": x}
    names = (
        "cells sorted by determinant",
        "columns stretched",
        f"cells permuted: {flow.pieces:,} neurons",
    )
    for name, end in zip(names, ends, strict=True):
        stages[name] = np.asarray(_first_pieces(flow, end).forward(x))
    phi = SwirledBulge()
    stages["wanted"] = phi(x)
    return stages | {"color": -phi.log_density(stages["wanted"])}


def _first_pieces(flow, count: int):
    weights = (v[:count] for v in (flow.w, flow.a, flow.b, flow.durations))
    return type(flow)(*weights, base=flow.base)


@styled
def draw_three_factors(data: dict[str, np.ndarray]) -> Figure:
    """The same points five times, colored by the logarithm of their determinant."""
    names = [name for name in data if name != "color"]
    figure = new_figure(2.25 * len(names) + 0.7, 2.6)
    axes = figure.subplots(1, len(names))
    for ax, name in zip(axes, names, strict=True):
        dots = ax.scatter(
            *data[name].T, c=data["color"], s=1.6, lw=0, cmap="viridis", rasterized=True
        )
        ax.set_title(name)
        _square(ax)
    bar = figure.colorbar(dots, ax=axes, pad=0.01)
    bar.set_label("log determinant")
    bar.outline.set_linewidth(0.4)
    return figure


def _show(ax: Axes, picture: np.ndarray, name: str) -> None:
    ax.imshow(
        np.clip(picture, 0, 1),
        origin="lower",
        extent=(0, 1, 0, 1),
        interpolation="none",
    )
    ax.set_title(name)
    _square(ax)


def _square(ax: Axes) -> None:
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(True)
        spine.set_color(HAIR)


FIGURES = {
    "swirl": (compute_swirl, draw_swirl),
    "three-factors": (compute_three_factors, draw_three_factors),
}
