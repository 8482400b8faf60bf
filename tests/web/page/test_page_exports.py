"""What leaves the page: numbers, pictures, films, runs; and files that come in."""

import csv
import io
import struct
import zipfile

import numpy as np
import pytest

import pushforward as pf

# The run of the protocol's tests: a server that knows it does not compute again.
STATE = {"n": 12, "t1": 6.0, "frames": 13, "view": {"panel": "share"}}


@pytest.fixture(scope="module")
def shared(browser, server, built):
    """One page for all exports of one run."""
    import page_hand

    hand = page_hand.Hand(browser, server).open(STATE)
    yield hand
    hand.close()
    assert hand.complaints == []


def fetched(hand, name) -> bytes:
    """What a click on an export saves."""
    with hand.page.expect_download(timeout=300_000) as download:
        hand.page.click(f"#export-{name}")
    with open(download.value.path(), "rb") as file:
        return file.read()


def boxes(data: bytes):
    """(kind, payload) of the boxes of an MP4 file."""
    at = 0
    while at + 8 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        head = 8
        if size == 1:
            size, head = struct.unpack_from(">Q", data, at + 8)[0], 16
        size = size or len(data) - at
        yield kind.decode("latin1"), data[at + head : at + size]
        at += size


def film_frames(data: bytes) -> int:
    """Number of samples of the first track: moov/trak/mdia/minf/stbl/stsz."""
    for name in ("moov", "trak", "mdia", "minf", "stbl", "stsz"):
        data = next(payload for kind, payload in boxes(data) if kind == name)
    return struct.unpack_from(">I", data, 8)[0]


def test_csv_reads_again(shared):
    text = fetched(shared, "csv").decode()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    assert len(rows) == 13
    for k, row in enumerate(rows):
        shown = shared.numbers(k)
        for name in ("t", "energy", "clusters", "largest", "cosine"):
            assert float(row[name]) == shown[name]


def test_film_has_its_frames(shared):
    film = fetched(shared, "mp4")
    assert film[4:8] == b"ftyp"
    assert film_frames(film) >= 13


def test_pictures_are_pictures(shared):
    import matplotlib.image

    for name in ("png", "view"):
        data = fetched(shared, name)
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        assert matplotlib.image.imread(io.BytesIO(data))[..., :3].std() > 0.01


def test_the_run_itself_opens(shared, tmp_path):
    import pushforward as pf

    with zipfile.ZipFile(io.BytesIO(fetched(shared, "run"))) as archive:
        archive.extractall(tmp_path)
    shallow = min(tmp_path.rglob("zarr.json"), key=lambda path: len(path.parts))
    trajectory = pf.load(shallow.parent)
    assert len(trajectory.times) == 13
    assert trajectory.final.points.shape == (12, 3)


def test_code_is_copied(shared):
    shared.page.click("#copy-python")
    shared.page.wait_for_timeout(100)
    python = shared.call("() => navigator.clipboard.readText()")
    assert "import pushforward as pf" in python and "experiment.run()" in python
    shared.page.click("#copy-toml")
    shared.page.wait_for_timeout(100)
    toml = shared.call("() => navigator.clipboard.readText()")
    assert pf.Experiment.from_toml(toml).read("start.n") == 12
    shared.page.click("#copy-command")
    shared.page.wait_for_timeout(100)
    command = shared.call("() => navigator.clipboard.readText()")
    assert command.startswith("pushforward simulate --n 12")


def test_a_file_of_tokens_is_shown_and_a_bad_one_refused(shared):
    hand = shared
    points = np.random.default_rng(0).normal(size=(12, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    tokens = io.BytesIO()
    np.save(tokens, points)
    before = hand.run
    file = {"name": "t.npy", "mimeType": "application/octet-stream"}
    hand.page.set_input_files("#file", {**file, "buffer": tokens.getvalue()})
    hand.wait_run(before)
    assert hand.state()["init"] == "file" and hand.state()["n"] == 12
    bad = {"name": "t.pickle", "mimeType": "application/octet-stream", "buffer": b"x"}
    hand.page.set_input_files("#file", bad)
    assert "not one of" in hand.page.locator("#notices").text_content()
