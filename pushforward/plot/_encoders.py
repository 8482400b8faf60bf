"""Frames of pixels into a film: mp4 by ffmpeg, gif by Pillow."""

import pathlib
import subprocess
import tempfile
from collections.abc import Iterable

import imageio_ffmpeg
import numpy as np
from PIL import Image

from pushforward.errors import InputError, StoreError


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
    pages: list[Image.Image] = []
    for image in images:
        page = Image.fromarray(np.asarray(image)[..., :3])
        like = pages[0] if pages else None  # one palette: colors do not flicker
        dither = Image.Dither.NONE
        pages.append(
            page.quantize(256, method=Image.Quantize.MEDIANCUT, dither=dither)
            if like is None
            else page.quantize(palette=like, dither=dither)
        )
    pages[0].save(
        path,
        format="GIF",
        save_all=True,
        append_images=pages[1:],
        duration=max(round(100 / fps), 2) * 10,
        loop=0,
    )
