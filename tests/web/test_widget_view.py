"""A trajectory as a widget in a notebook."""

import struct
import sys

import numpy as np
import pytest
from explorer_client import Frame

import pushforward as pf
from pushforward.errors import InputError

pytest.importorskip("anywidget")


@pytest.fixture
def run():
    mu = pf.Particles.uniform(pf.Sphere(3), 12, key=pf.key_for(0, "tokens"))
    return pf.flow(pf.Attention(9.0), mu, 6.0, save=13)


@pytest.fixture
def built(tmp_path, monkeypatch):
    (tmp_path / "widget.js").write_text("export default { render() {} }")
    (tmp_path / "widget.css").write_text(".pf {}")
    monkeypatch.setenv("PUSHFORWARD_STATIC", str(tmp_path))


def unpacked(data: bytes) -> list:
    frames, at = [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        frames.append(Frame.read(data[at + 4 : at + 4 + size]))
        at += 4 + size
    return frames


def test_a_view_holds_the_frames_of_the_run(run, built):
    widget = run.view(height=300)
    frames = unpacked(widget.frames)
    assert len(frames) == 13 == widget.meta["frames"] and widget.height == 300
    energy = run.observe(pf.InteractionEnergy(9.0))
    found = [frame.numbers["energy"] for frame in frames]
    assert np.allclose(found, energy, rtol=1e-12)
    assert np.abs(frames[-1].points - np.asarray(run.final.points)).max() < 1e-7
    assert widget.meta["done"]["outcome"]["kind"] == run.outcome.kind
    assert frames[-1].flags & 1


def test_two_views_do_not_share_anything(run, built):
    first, second = run.view(), run.view(beta=2.0)
    first.frame = 5
    assert second.frame == 0 and first.frames != second.frames
    first.close()
    second.close()


def test_without_the_built_page_it_says_what_to_do(run, tmp_path, monkeypatch):
    monkeypatch.setenv("PUSHFORWARD_STATIC", str(tmp_path / "nothing"))
    with pytest.raises(InputError, match="npm run build"):
        run.view()


def test_without_anywidget_it_says_what_to_install(run, monkeypatch):
    monkeypatch.delitem(sys.modules, "pushforward.web._widget", raising=False)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(InputError, match=r"pip install 'pushforward\[web\]'"):
        run.view()
