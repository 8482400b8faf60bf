"""Pairs of tokens: who attends to whom, and how alike they are, layer by layer."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pushforward.errors import InputError
from pushforward.flows import Trajectory
from pushforward.measures import Particles
from pushforward.plot.runs._history import History, as_history
from pushforward.plot.style import (
    DEPTHS,
    PALETTE,
    SOFT,
    axes_or_new,
    new_figure,
    styled,
)


@styled
def attention_matrix(
    A: np.ndarray,
    *,
    ax: Axes | None = None,
    tokens: Sequence[str] | None = None,
    title: str = "",
) -> Axes:
    """The matrix A_ij, how much token i attends to token j, as an image.

    The scale goes from 0 to the largest entry. `tokens` names rows and columns.
    """
    A = np.asarray(A, dtype=float)
    if A.ndim != 2 or A.size == 0 or not np.isfinite(A).all():
        raise InputError(f"`A` must be a finite matrix, got shape {A.shape}.")
    if A.min() < 0:
        raise InputError(f"`A` must not be negative, got {A.min():g}: pass weights.")
    n, m = A.shape
    if tokens is not None and (n != m or len(tokens) != n):
        raise InputError(f"`tokens` must name all {n} rows of a square matrix.")
    ax = axes_or_new(ax, 3.9, 3.4)
    high = float(A.max()) or 1.0
    image = ax.imshow(A, cmap=DEPTHS, vmin=0.0, vmax=high, interpolation="nearest")
    ax.spines[["top", "right"]].set_visible(True)
    ax.set(xlabel="attended to, j", ylabel="token i", title=title)
    if tokens is not None:
        size = float(np.clip(220 / n, 4, 8))
        ax.set_xticks(range(n), tokens, rotation=90, size=size)
        ax.set_yticks(range(n), tokens, size=size)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(7, integer=True))
        ax.yaxis.set_major_locator(MaxNLocator(7, integer=True))
    bar = ax.get_figure(root=False).colorbar(image, ax=ax, pad=0.03, aspect=28)  # type: ignore[union-attr]
    bar.outline.set_visible(False)
    return ax


FEWEST, MOST = 24, 80  # bins
TOKENS = 1500  # beyond this, an even subset: a million pairs show the same shape


@styled
def cosine_histograms(
    trajectory: Trajectory | Particles | np.ndarray,
    times: Sequence[float] | None = None,
    *,
    layers: Sequence[int] | None = None,
) -> Figure:
    """Histograms of <x_i, x_j> / (|x_i| |x_j|), i < j, one panel per frame.

    Frames are chosen by `times` or, for recorded layers, by `layers` (negative counts
    from the end); otherwise up to six, evenly. The width of bins is that of Freedman
    and Diaconis, 2 IQR m^{-1/3} for m pairs, kept between 24 and 80 bins on [-1, 1].
    [geshkovski2023perspective]
    """
    history = as_history(trajectory)
    chosen = _chosen(history, times, layers)
    columns = min(len(chosen), 6)
    rows = -(-len(chosen) // columns)
    figure = new_figure(1.65 * columns + 0.4, 1.6 * rows + 0.3)
    grid = figure.subplots(rows, columns, sharex=True, squeeze=False)
    for ax, (title, points, weights) in zip(grid.ravel(), chosen, strict=False):
        _histogram(ax, points, weights)
        ax.set_title(title)
    for ax in grid.ravel()[len(chosen) :]:
        ax.set_axis_off()
    figure.supxlabel("cosine of two tokens", size=9)
    return figure


def _histogram(ax: Axes, points: np.ndarray, weights: np.ndarray) -> None:
    cosines, mass = pairs(points, weights)
    bins = np.linspace(-1, 1, bin_count(cosines) + 1).tolist()
    ax.hist(cosines, bins, weights=mass / mass.sum(), color=PALETTE[0], lw=0)
    ax.axvline(cosines @ mass / mass.sum(), color=PALETTE[1], lw=1.0)
    ax.set_xlim(-1, 1)
    ax.set_xticks([-1, 0, 1], ["−1", "0", "1"])
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.tick_params(colors=SOFT)


def pairs(points: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cosines of all pairs i < j and the mass w_i w_j of each."""
    n = len(points)
    if n < 2:
        raise InputError("cosines are of pairs: at least two tokens are needed, got 1.")
    kept = np.unique(np.linspace(0, n - 1, min(n, TOKENS)).astype(int))
    x, w = points[kept], weights[kept]
    norm = np.linalg.norm(x, axis=1)
    if not norm.all():
        row = int(kept[np.argmin(norm)])
        raise InputError(f"token {row} is the zero vector: it has no cosine. Drop it.")
    x = x / norm[:, None]
    i, j = np.triu_indices(len(x), 1)
    return np.clip(x @ x.T, -1, 1)[i, j], w[i] * w[j]


def bin_count(cosines: np.ndarray) -> int:
    """Bins of width 2 IQR m^{-1/3} on [-1, 1], kept between FEWEST and MOST."""
    low, high = np.percentile(cosines, [25, 75])
    width = 2 * (high - low) * len(cosines) ** (-1 / 3)
    return int(np.clip(np.ceil(2 / max(width, 1e-12)), FEWEST, MOST))


def _chosen(history: History, times, layers) -> list:
    """(title, points, weights) of each panel."""
    if times is not None and layers is not None:
        raise InputError("pass `times` or `layers`, not both.")
    if times is not None:
        past = [history.until(history.place(float(t))) for t in times]
        found = [(f"t = {p.times[-1]:g}", p.points[-1], p.weights[-1]) for p in past]
    else:
        count = len(history.times)
        if layers is None:
            layers = np.unique(np.linspace(0, count - 1, min(count, 6)).astype(int))
        bad = [k for k in layers if not -count <= k < count]
        if bad:
            raise InputError(f"`layers` has {bad[0]}, but frames are 0 to {count - 1}.")
        name = lambda k: f"layer {k % count}"  # noqa: E731
        found = [(name(k), history.points[k], history.weights[k]) for k in layers]
    if not found:
        raise InputError("name at least one time or layer to draw.")
    return found
