import numpy as np
import pytest
from PIL import Image

import pushforward as pf
from pushforward.errors import InputError, StoreError


@pytest.mark.parametrize(
    "name, magic", [("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.svg", b"<?xml")]
)
def test_saved_by_extension_and_bit_for_bit(tmp_path, on_circle, name, magic):
    ax = pf.plot.circle(on_circle)
    first = pf.plot.save(ax, tmp_path / name).read_bytes()
    assert first.startswith(magic)
    again = pf.plot.save(pf.plot.circle(on_circle), tmp_path / name).read_bytes()
    assert first == again
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_saved_picture_has_the_size_asked_and_is_not_blank(tmp_path, on_sphere):
    path = pf.plot.save(pf.plot.sphere(on_sphere), tmp_path / "s.png", dpi=50)
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGB"), dtype=float)
    assert pixels.shape == (200, 200, 3)
    assert pixels.std() > 10


def test_a_failed_save_leaves_the_old_file(tmp_path, on_circle, monkeypatch):
    path = tmp_path / "a.png"
    path.write_bytes(b"old")
    ax = pf.plot.circle(on_circle)

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ax.figure, "savefig", full)
    with pytest.raises(StoreError, match="No space left"):
        pf.plot.save(ax, path)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]


def test_save_refuses(tmp_path, on_circle):
    ax = pf.plot.circle(on_circle)
    with pytest.raises(InputError, match=r"\.png, \.pdf or \.svg"):
        pf.plot.save(ax, tmp_path / "a.bmp")
    with pytest.raises(InputError, match="Figure or Axes"):
        pf.plot.save("figure", tmp_path / "a.png")
    with pytest.raises(StoreError, match="folder exists"):
        pf.plot.save(ax, tmp_path / "missing" / "a.png")
