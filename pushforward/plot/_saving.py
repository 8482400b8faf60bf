"""Pictures and films as files."""

import os
import pathlib
from collections.abc import Iterable, Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pushforward._checks import positive
from pushforward._files import replacing, told
from pushforward.errors import InputError
from pushforward.plot.runs._movie import encoder_for
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


def film(
    figures: Iterable[Figure], path: str | os.PathLike, *, fps: float = 20.0
) -> pathlib.Path:
    """Write figures of one size, in their order, as .mp4 or .gif; returns the path.

    Figures may come from a generator, so that one at a time is held. The file appears
    when it is complete. For films of tokens there is `movie`.
    """
    rate = float(positive("fps", fps, "It is in frames per second."))
    images = _pixels(figures)
    first = next(images, None)
    if first is None:
        raise InputError("`figures` must hold at least one figure, got none.")
    target, (height, width) = pathlib.Path(path), first.shape[:2]
    write = encoder_for(target, (width, height))
    with told(target), replacing(target) as temporary:
        write(_of_one_size(first, images), temporary, (width, height), rate)
    return target


def _pixels(figures: Iterable[Figure]) -> Iterator[np.ndarray]:
    for figure in figures:
        canvas = FigureCanvasAgg(figure)  # whatever canvas the figure came with
        canvas.draw()
        yield np.array(canvas.buffer_rgba())


def _of_one_size(first: np.ndarray, others: Iterator[np.ndarray]):
    yield first
    for k, image in enumerate(others, 1):
        if image.shape != first.shape:
            size, wanted = image.shape[1::-1], first.shape[1::-1]
            raise InputError(
                f"`figures` must be of one size, got {size} pixels at {k} "
                f"after {wanted}. Give all the same figsize and dpi."
            )
        yield image
