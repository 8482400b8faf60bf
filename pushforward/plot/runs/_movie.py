"""A film of a run: the sphere turning slowly while tokens move and merge.

Frames of pixels into a film: mp4 by ffmpeg, gif by Pillow.
"""

import os
import pathlib
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator

import imageio_ffmpeg
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from pushforward._checks import positive, whole
from pushforward._files import replacing, told
from pushforward.errors import InputError, StoreError
from pushforward.flows import Trajectory
from pushforward.observables import CLUSTER_RADIUS
from pushforward.plot.runs._colors import Color, colors_of
from pushforward.plot.runs._globe import Camera, Globe, worth_drawing
from pushforward.plot.runs._history import (
    History,
    Numbers,
    as_trajectory,
    beta_of,
    numbers,
)
from pushforward.plot.runs._principal import Plane, principal
from pushforward.plot.runs._sphere import Ring
from pushforward.plot.style import SOFT, new_figure, styled


def encoder_for(path: pathlib.Path, size: tuple[int, int]):
    """The writer that the ending of `path` asks for, after a check of the size."""
    kind = path.suffix.lower()
    if kind not in (".mp4", ".gif"):
        raise InputError(f"`path` must end in .mp4 or .gif, got {path.name!r}.")
    if kind == ".mp4" and (size[0] % 2 or size[1] % 2):
        raise InputError(
            f"`size` must be even for mp4 (its colors are stored per 2 x 2 pixels), "
            f"got {size}. Use {(size[0] + size[0] % 2, size[1] + size[1] % 2)}."
        )
    return write_mp4 if kind == ".mp4" else write_gif


def write_mp4(
    images: Iterable[np.ndarray], path: pathlib.Path, size: tuple[int, int], fps: float
) -> None:
    """RGBA images (height, width, 4) as H.264, playable everywhere (yuv420p)."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error"]
    command += ["-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{size[0]}x{size[1]}"]
    command += ["-r", f"{fps:g}", "-i", "-", "-an", "-c:v", "libx264"]
    command += ["-preset", "veryfast", "-crf", "18", "-pix_fmt", "yuv420p"]
    # bitexact: no encoder version inside, so the same film gives the same bytes
    command += ["-fflags", "+bitexact", "-flags:v", "+bitexact"]
    command += ["-movflags", "+faststart", "-f", "mp4", str(path)]
    with tempfile.TemporaryFile() as complaints:
        ffmpeg = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
        )
        assert ffmpeg.stdin is not None
        try:
            for image in images:
                ffmpeg.stdin.write(image.data)
            ffmpeg.stdin.close()
            code = ffmpeg.wait()
        except BrokenPipeError:
            code = ffmpeg.wait() or 1  # ffmpeg gave up; its reason is in complaints
        finally:
            if ffmpeg.poll() is None:
                ffmpeg.kill()
                ffmpeg.wait()
            if not ffmpeg.stdin.closed:
                _close_quietly(ffmpeg.stdin)
        if code != 0:
            complaints.seek(0)
            reason = complaints.read().decode(errors="replace").strip()
            raise StoreError(f"ffmpeg could not write the film: {reason[-400:]}")


def _close_quietly(pipe) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        pass  # the reader is gone, which is why we are closing


def write_gif(
    images: Iterable[np.ndarray], path: pathlib.Path, size: tuple[int, int], fps: float
) -> None:
    """The same images as a looping gif: 256 colors, times in hundredths of a second."""
    pages = [_indexed(np.asarray(image)[..., :3]) for image in images]
    pages[0].save(
        path,
        format="GIF",
        save_all=True,
        append_images=pages[1:],
        duration=max(round(100 / fps), 2) * 10,
        loop=0,
    )


def _indexed(image: np.ndarray) -> Image.Image:
    """The image in 256 colors, half of them for the few vivid pixels, one for paper.

    Counted by area alone, the pale shading of a globe would take every color and thin
    trails would turn gray.
    """
    pixels = image.reshape(-1, 3)
    vivid = pixels[np.ptp(pixels, axis=1) > 28]  # the shading stays below 25
    calm = pixels[:: max(len(pixels) // 20_000, 1)]
    again = -(-len(calm) // max(len(vivid), 1))  # so that both weigh the same
    sample = np.concatenate([calm, np.tile(vivid, (again, 1))[: len(calm)]])
    cut = Image.Quantize.MEDIANCUT
    palette = Image.fromarray(sample[None]).quantize(255, method=cut)
    plain = Image.Dither.NONE  # dither would crawl from frame to frame
    index = np.array(Image.fromarray(image).quantize(palette=palette, dither=plain))
    index[(image == 255).all(axis=2)] = 255
    colors = (palette.getpalette() or [])[: 3 * 255]
    page = Image.fromarray(index)
    page.putpalette([*colors, *[0] * (3 * 255 - len(colors)), 255, 255, 255])
    return page


INCHES = 5.0  # height of the page, whatever its pixels: lines keep their weight
STRIDE = 0.04  # of trails: a chord this long bends by less than a pixel
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
    radius: float = CLUSTER_RADIUS,
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
    with told(target), replacing(target) as temporary:
        images = film.images(count, measured, progress)
        write(images, temporary, (width, height), rate)
    return target


class _Film:
    """A page whose still parts are drawn once and whose artists are drawn per frame."""

    def __init__(self, history: History, size, camera, turn: float, colors):
        self.history, self.turn = history, turn
        whole, note = _coordinates(history)
        self.shown, self.colors = whole.drawn(colors)
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
        places = np.linspace(0, len(self.history.times) - 1, count)
        for k, place in enumerate(places):
            self._set(float(place), k / (count - 1), measured)
            canvas.restore_region(still)  # type: ignore[attr-defined]
            for artist in self.artists:
                self.figure.draw_artist(artist)
            yield np.asarray(canvas.buffer_rgba())  # type: ignore[attr-defined]
            if progress is not None:
                progress(k + 1, count)

    def _set(self, place: float, share: float, measured) -> None:
        past = _recent(self.shown.until(place))
        camera = self.camera.turned((share - 0.5) * self.turn)
        self.scene.show(past, self.colors, camera)
        now = self.history.until(place)
        self.clock.set_text(f"t = {_time(now, self.history.times[-1])}")
        self.words.set_text(_caption(numbers(now, -1, *measured)))


def _recent(past: History) -> History:
    """The newest frames that trails need; with many tokens, tails of comets."""
    longest = max(PIECES // past.points.shape[1], 3)
    return past.chosen(worth_drawing(past.points, STRIDE)[-longest:])


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


def _time(past: History, last: float) -> str:
    """One width for the whole film, so that the digits stand still."""
    if past.log10_times is not None:
        logs = past.log10_times[-1]
        return f"10^{logs:.2f}" if np.isfinite(logs) else "0"
    t = past.times[-1]
    return f"{t:.2e}" if last >= 1e4 else f"{t:.2f}"


def _caption(now: Numbers) -> str:
    clusters = f"{now.clusters} cluster{'s' if now.clusters != 1 else ''}"
    if np.isnan(now.energy):
        return clusters
    return f"energy {now.energy:.3f}\n{clusters}"
