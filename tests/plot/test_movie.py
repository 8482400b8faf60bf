import subprocess

import imageio_ffmpeg
import numpy as np
import pytest
from conftest import converging, trajectory_through
from PIL import Image

import pushforward as pf
from pushforward.errors import InputError, StoreError

SMALL = {"frames": 7, "size": (160, 120)}


def decoded(path):
    """The frames of an mp4, as ffmpeg reads them back."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path)]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    width, height = SMALL["size"]
    frames = np.frombuffer(done.stdout, np.uint8).reshape(-1, height, width, 3)
    return done.stderr.decode(), frames


@pytest.mark.parametrize("run", ["on_sphere", "on_circle", "in_many", "in_plane"])
def test_mp4_has_the_frames_asked(tmp_path, run, request):
    seen = []
    path = pf.plot.movie(
        request.getfixturevalue(run),
        tmp_path / "film.mp4",
        fps=10,
        progress=lambda k, total: seen.append((k, total)),
        **SMALL,
    )
    described, frames = decoded(path)
    assert len(frames) == 7
    assert "160x120" in described and "yuv420p" in described and "10 fps" in described
    assert imageio_ffmpeg.count_frames_and_secs(str(path)) == (7, pytest.approx(0.7))
    assert seen == [(k, 7) for k in range(1, 8)]
    assert min(frame.std() for frame in frames) > 5  # none is blank
    moved = np.abs(frames[0].astype(float) - frames[-1]).mean()
    assert moved > 0.5
    assert [p.name for p in tmp_path.iterdir()] == ["film.mp4"]


def test_gif_has_the_frames_asked(tmp_path, on_sphere):
    path = pf.plot.movie(on_sphere, tmp_path / "film.gif", fps=20, **SMALL)
    with Image.open(path) as image:
        assert image.n_frames == 7 and image.size == (160, 120)
        assert image.info["duration"] == 50 and image.info["loop"] == 0
        image.seek(6)
        last = np.asarray(image.convert("RGB"), dtype=int)
    assert (last[0, 0] == 255).all()
    near, far = np.array([0x00, 0x72, 0xB2]), last[..., 0] - last[..., 2]
    assert np.abs(last - near).sum(axis=2).min() < 80  # the blue cluster stays blue
    assert far.max() > 40  # the orange one, pale behind the globe, stays warm


def test_the_film_follows_the_saved_times(tmp_path, monkeypatch):
    """Halfway through a film of times 0, 1, 100 the clock shows 1, not 50."""
    from pushforward.plot.runs import _movie

    shown = []
    original = _movie._Film._set

    def spy(film, place, share, measured):
        shown.append(film.history.until(place).times[-1])
        return original(film, place, share, measured)

    monkeypatch.setattr(_movie._Film, "_set", spy)
    run = trajectory_through(pf.Sphere(3), converging(5, 3, 3), times=[0.0, 1.0, 100.0])
    pf.plot.movie(run, tmp_path / "film.mp4", frames=5, size=(64, 64))
    np.testing.assert_allclose(shown, [0, 0.5, 1, 50.5, 100])


def test_the_same_run_gives_the_same_film(tmp_path, on_sphere):
    one = pf.plot.movie(on_sphere, tmp_path / "a.mp4", **SMALL).read_bytes()
    two = pf.plot.movie(on_sphere, tmp_path / "b.mp4", **SMALL).read_bytes()
    assert one == two


def test_an_interrupted_film_leaves_nothing_and_spares_the_old_one(tmp_path, on_sphere):
    path = tmp_path / "film.mp4"
    path.write_bytes(b"old")

    def stop(k, total):
        if k == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pf.plot.movie(on_sphere, path, progress=stop, **SMALL)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["film.mp4"]


@pytest.mark.parametrize(
    "name, options, message",
    [
        ("a.avi", {}, r"\.mp4 or \.gif"),
        ("a.mp4", {"size": (161, 120)}, r"\(162, 120\)"),
        ("a.mp4", {"frames": 1}, "frames"),
        ("a.mp4", {"fps": 0.0}, "fps"),
        ("a.mp4", {"size": (2, 2)}, "size"),
        ("a.mp4", {"radius": -1.0}, "radius"),
    ],
)
def test_movie_refuses(tmp_path, on_sphere, name, options, message):
    with pytest.raises(InputError, match=message):
        pf.plot.movie(on_sphere, tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


def test_movie_says_when_the_folder_is_missing(tmp_path, on_sphere):
    with pytest.raises(StoreError, match=r"ffmpeg|folder"):
        pf.plot.movie(on_sphere, tmp_path / "missing" / "film.mp4", **SMALL)
