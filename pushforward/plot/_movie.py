"""A film of a run: the sphere turning slowly while tokens move and merge."""

import os
import pathlib
from collections.abc import Callable, Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pushforward._checks import positive, whole
from pushforward.flows import Trajectory
from pushforward.plot._camera import Camera
from pushforward.plot._colors import Color, colors_of
from pushforward.plot._encoders import encoder_for
from pushforward.plot._globe import Globe
from pushforward.plot._history import History, as_trajectory
from pushforward.plot._numbers import Numbers, beta_of, numbers
from pushforward.plot._plane import Plane
from pushforward.plot._principal import principal
from pushforward.plot._ring import Ring
from pushforward.plot._saving import replacing
from pushforward.plot._style import SOFT, new_figure, styled
from pushforward.plot._trails import worth_drawing

INCHES = 5.0  # height of the page, whatever its pixels: lines keep their weight
PIECES = 4000  # of trail in one frame: more would slow the film and hide the tokens


@styled
def movie(
    trajectory: Trajectory | np.ndarray,
    path: str | os.PathLike,
    *,
    frames: int = 151,
    fps: float = 30.0,
    size: tuple[int, int] = (1280, 720),
    camera: Camera | None = None,
    turn: float = 60.0,
    color: Color = None,
    beta: float | None = None,
    radius: float = 0.1,
    progress: Callable[[int, int], object] | None = None,
) -> pathlib.Path:
    """Write a film of `frames` frames as .mp4 or .gif; returns the path.

    Main arguments: the run, the file, and `frames`, `fps`, `size` in pixels.

    The film walks through the saved frames at an even pace, interpolating between
    them, so that a run saved at `LogTimes` plays in logarithmic time. S^2 turns by
    `turn` degrees in all; S^1 is a circle; more dimensions are shown by `projection`.
    Time, energy 2 beta e^{-beta} E and clusters at `radius` stand in the corner.

    `progress(k, frames)` is called after each frame. The file appears when complete.
    """
    history = as_trajectory(trajectory, "movie")
    count = whole("frames", frames, 2)
    rate = float(positive("fps", fps, "It is in frames per second."))
    width, height = (whole("size", s, 64, "In pixels.") for s in size)
    target = pathlib.Path(path)
    write = encoder_for(target, (width, height))
    film = _Film(history, (width, height), camera, turn, colors_of(history, color))
    measured = beta_of(trajectory, beta), float(positive("radius", radius))
    with replacing(target) as temporary:
        images = film.images(count, measured, progress)
        write(images, temporary, (width, height), rate)
    return target


class _Film:
    """A page whose still parts are drawn once and whose artists are drawn per frame."""

    def __init__(self, history: History, size, camera, turn: float, colors):
        self.history, self.colors, self.turn = history, colors, turn
        self.shown, note = _coordinates(history)
        width, height = size
        self.figure: Figure = new_figure(INCHES * width / height, INCHES, layout=None)
        self.figure.set_dpi(height / INCHES)
        ax = self.figure.add_axes(_square(width, height))
        self.scene = _scene(ax, history, self.shown)
        end = self.shown.points[-1], self.shown.weights[-1]
        flat = self.shown.d != 3
        self.camera = Camera() if flat else camera or Camera.facing(*end)
        place = self.figure.text
        self.clock = place(0.03, 0.955, "", size=15, va="top", family="monospace")
        self.words = place(0.03, 0.885, "", size=10, va="top", linespacing=1.6)
        place(0.03, 0.03, note, size=8, color=SOFT, va="bottom")
        self.artists = [*self.scene.artists, self.clock, self.words]
        for artist in self.artists:
            artist.set_animated(True)

    def images(self, count: int, measured, progress) -> Iterator[np.ndarray]:
        """RGBA pixels of each frame; the buffer is reused."""
        canvas = self.figure.canvas
        canvas.draw()
        still = canvas.copy_from_bbox(self.figure.bbox)  # type: ignore[attr-defined]
        times = self.history.times
        places = np.linspace(0, len(times) - 1, count)
        for k, t in enumerate(np.interp(places, np.arange(len(times)), times)):
            self._set(float(t), k / (count - 1), measured)
            canvas.restore_region(still)  # type: ignore[attr-defined]
            for artist in self.artists:
                self.figure.draw_artist(artist)
            yield np.asarray(canvas.buffer_rgba())  # type: ignore[attr-defined]
            if progress is not None:
                progress(k + 1, count)

    def _set(self, t: float, share: float, measured) -> None:
        past = _recent(self.shown.until(t))
        camera = self.camera.turned((share - 0.5) * self.turn)
        self.scene.show(past, self.colors, camera)
        now = numbers(self.history.at(t), 0, *measured)
        self.clock.set_text(f"t = {_time(t, self.history.times[-1])}")
        self.words.set_text(_caption(now))


def _recent(past: History) -> History:
    """The newest frames that trails need; with many tokens, tails of comets."""
    longest = max(PIECES // past.points.shape[1], 3)
    return past.chosen(worth_drawing(past.points)[-longest:])


def _coordinates(history: History) -> tuple[History, str]:
    """What is drawn: the points when they fit on paper, else a projection."""
    fits = history.d == 2 or (history.d == 3 and history.round)
    return (history, "") if fits else principal(history)


def _scene(ax: Axes, history: History, shown: History) -> Globe | Ring | Plane:
    if not history.round:
        return Plane(ax, shown)
    return Ring(ax) if history.d == 2 else Globe(ax, graticule=history.d == 3)


def _square(width: int, height: int) -> tuple[float, float, float, float]:
    """A centered square that leaves a small margin, in fractions of the page."""
    side = 0.94 * min(width, height)
    return (
        (1 - side / width) / 2,
        (1 - side / height) / 2,
        side / width,
        side / height,
    )


def _time(t: float, last: float) -> str:
    return f"{t:.2e}" if last >= 1e4 else f"{t:.2f}"


def _caption(now: Numbers) -> str:
    clusters = f"{now.clusters} cluster{'s' if now.clusters != 1 else ''}"
    if np.isnan(now.energy):
        return clusters
    return f"energy {now.energy:.3f}\n{clusters}"
