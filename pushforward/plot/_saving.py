"""Figures on disk: complete, or not there."""

import os
import pathlib

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pushforward._atomic_files import replacing, told
from pushforward.errors import InputError
from pushforward.plot.style import styled

# No dates and no versions inside: the same figure gives the same bytes.
_UNDATED = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Producer": None},
    ".svg": {"Date": None},
}


@styled
def save(
    figure: Figure | Axes, path: str | os.PathLike, *, dpi: float = 200.0
) -> pathlib.Path:
    """Write a figure as .png, .pdf or .svg, whole or not at all; returns the path.

    The file is written under a temporary name and renamed when it is complete.
    """
    if isinstance(figure, Axes):
        whole = figure.get_figure(root=True)
        if whole is None:
            raise InputError("`figure` is an axes that was removed from its figure.")
        figure = whole
    if not isinstance(figure, Figure):
        raise InputError(
            f"`figure` must be a Figure or Axes, got {type(figure).__name__}."
        )
    target = pathlib.Path(path)
    kind = target.suffix.lower()
    if kind not in _UNDATED:
        raise InputError(f"`path` must end in .png, .pdf or .svg, got {target.name!r}.")
    with told(target), replacing(target) as temporary:
        metadata = _UNDATED[kind]
        figure.savefig(temporary, dpi=dpi, format=kind[1:], metadata=metadata)
    return target
