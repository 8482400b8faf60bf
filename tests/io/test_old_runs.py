"""Runs of format 1, as the first version wrote them: read and taken up again."""

import pathlib
import zipfile

import numpy as np
import pytest

import pushforward as pf
from pushforward.io import resumption

OLD = pathlib.Path(__file__).with_name("format_1.zip")


@pytest.fixture
def runs(tmp_path):
    """`done`, and `part` with two of its three frames; the points of both."""
    with zipfile.ZipFile(OLD) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def test_an_old_run_is_read_as_it_was(runs):
    run = pf.load(runs / "done")
    np.testing.assert_array_equal(run.points, np.load(runs / "points.npy"))
    np.testing.assert_array_equal(run.weights[0], [0.5, 0.25, 0.25])
    assert run.outcome.kind == "reached t1" and int(run.steps) == 9
    assert repr(run.field) == "Attention(beta=2.0)"
    # A name that is now a clock of the frames was an observable then.
    assert set(run.observed) == {"E", "arc"} and run.arc is None


def test_an_old_run_is_taken_up_again(runs):
    """Frames that are there are kept bit by bit; the last is computed here."""
    assert len(pf.load(runs / "part")) == 2
    rest, old = resumption(runs / "part").flow(), np.load(runs / "points.npy")
    np.testing.assert_array_equal(rest.points[:2], old[:2])
    np.testing.assert_allclose(rest.points[2], old[2], atol=1e-13)
    done = pf.load(runs / "done")
    np.testing.assert_allclose(rest.observed["E"], done.observed["E"], atol=1e-13)
    # a speed was the largest coordinate of a velocity then, and is its length now
    assert rest.outcome.kind == done.outcome.kind
    old, new = (r.outcome.message.split("speed ") for r in (done, rest))
    assert old[0] == new[0]
    v = rest.field(rest.times[-1], rest.final).v
    assert float(new[1][:-1]) == pytest.approx(
        np.linalg.norm(v, axis=1).max(), rel=3e-3
    )
    assert float(old[1][:-1]) == pytest.approx(np.abs(v).max(), rel=3e-3)
