"""Layers against layers: three similarities as heat maps."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from pushforward.errors import InputError
from pushforward.plot.style import DEPTHS, new_figure, styled
from pushforward.statistics.representations import gulp
from pushforward.statistics.similarities import cka, procrustes

RIDGE = 1e-2


def layer_similarity(
    rows: Sequence[np.ndarray], columns: Sequence[np.ndarray]
) -> dict[str, Float[np.ndarray, "r c"]]:
    """CKA, Procrustes and GULP between two lists of representations of one sample.

    Each entry is (n, d_k). CKA is a similarity, one for equal; the squared Procrustes
    distance and GULP (ridge 0.01) are distances, zero for equal.
    [kornblith2019cka, schonemann1966, boixadsera2022gulp]
    """
    sizes = {len(a) for a in (*rows, *columns)}
    if len(sizes) != 1:
        raise InputError(
            f"representations must share their samples, got {sorted(sizes)} rows. "
            "Models that cut a text differently share words: use Recording.words()."
        )
    found = {name: np.zeros((len(rows), len(columns))) for name in _MEASURES}
    same = rows is columns
    for i, a in enumerate(rows):
        for j, b in enumerate(columns):
            for name, measure in _MEASURES.items():
                known = same and j < i
                value = found[name][j, i] if known else measure(a, b)
                found[name][i, j] = value
    return found


_MEASURES = {
    "CKA (1 = alike)": lambda a, b: cka(a, b).value,
    "Procrustes (0 = alike)": procrustes,
    "GULP (0 = alike)": lambda a, b: float(gulp(a, b, RIDGE).distance[0]),
}


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
