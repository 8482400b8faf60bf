"""Who attends to whom."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from pushforward.errors import InputError
from pushforward.plot.style import DEPTHS, axes_or_new, styled


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
