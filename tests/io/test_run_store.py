"""Runs on disk: bitwise, readable by others, resumed after kill -9, never half read."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import warnings

import jax
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import StoreError

ROOT = pathlib.Path(pf.__file__).parent.parent
E = pf.InteractionEnergy(2.0)


@pytest.fixture
def mu(sine):
    return pf.Particles(pf.Sphere(3), sine(8, 3))


def weighted(mu):
    w = np.linspace(1.0, 2.0, 8)
    return pf.Particles(mu.space, mu.points, w / w.sum())


def same_run(a, b):
    np.testing.assert_array_equal(a.times, b.times)
    np.testing.assert_array_equal(a.points, b.points)
    np.testing.assert_array_equal(a.weights, b.weights)
    assert set(a.observed) == set(b.observed)
    for name in a.observed:
        np.testing.assert_array_equal(a.observed[name], b.observed[name])
    assert int(a.steps) == int(b.steps)
    assert a.outcome == b.outcome


@pytest.mark.parametrize(
    "field", [pf.Attention(2.0), pf.GradientFlow(-1.0 * E, pf.WassersteinFisherRao())]
)
def test_load_gives_back_the_run_bitwise(mu, field, tmp_path):
    run = pf.flow(
        field, weighted(mu), 1.0, save=5, observe={"E": E}, store=tmp_path / "run"
    )
    again = pf.load(tmp_path / "run")
    same_run(run, again)
    assert again.points.dtype == run.points.dtype
    assert repr(again.field) == repr(run.field)
    assert repr(again.final.space) == repr(mu.space)
    np.testing.assert_array_equal(again.final.points, run.final.points)


def test_float32_stays_float32_on_disk(mu, tmp_path):
    run = pf.flow(
        pf.Attention(2.0), mu.astype("float32"), 1.0, save=3,
        solver=pf.Adaptive(1e-5, 1e-5), store=tmp_path / "run",
    )  # fmt: skip
    again = pf.load(tmp_path / "run")
    assert again.points.dtype == run.points.dtype == np.float32
    same_run(run, again)


def test_xarray_opens_a_run_without_help(mu, tmp_path):
    xarray = pytest.importorskip("xarray")
    run = pf.flow(
        pf.Attention(2.0), mu, 1.0, save=5, observe={"E": E}, store=tmp_path / "run"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with xarray.open_zarr(tmp_path / "run") as data:
            assert data["points"].dims == ("time", "token", "x")
            np.testing.assert_array_equal(data["points"].values, run.points)
            np.testing.assert_array_equal(data["time"].values, run.times)
            np.testing.assert_array_equal(data["E"].values, run.observed["E"])
            assert data.attrs["outcome"]["kind"] == "reached t1"
            assert "spec" in data.attrs


def test_save_and_load_a_trajectory(mu, tmp_path):
    run = pf.flow(pf.Attention(2.0), mu, 1.0, save=5, observe={"E": E})
    run.save(tmp_path / "run")
    same_run(run, pf.load(tmp_path / "run"))
    assert [p.name for p in tmp_path.iterdir()] == ["run"]  # nothing left behind


def test_saving_never_replaces_another_run(mu, tmp_path):
    first = pf.flow(pf.Attention(2.0), mu, 1.0, save=5)
    first.save(tmp_path / "run")
    other = pf.flow(pf.Attention(2.0), mu, 2.0, save=5)
    with pytest.raises(StoreError, match="another run"):
        other.save(tmp_path / "run")
    same_run(first, pf.load(tmp_path / "run"))


def test_a_run_that_stops_early_is_cut(mu, tmp_path):
    rule = lambda m: E(m) > 0.25  # noqa: E731
    run = pf.flow(
        pf.Attention(2.0), mu, 50.0, save=11, until=rule, store=tmp_path / "run"
    )
    assert run.outcome.kind == "until"
    same_run(run, pf.load(tmp_path / "run"))


@pytest.mark.parametrize("change", ["field", "t1", "weights", "solver", "observe"])
def test_another_specification_is_refused(mu, change, tmp_path):
    path = tmp_path / "run"
    arguments = dict(field=pf.Attention(2.0), mu=mu, t1=1.0, save=3, observe={"E": E})
    pf.flow(**arguments, store=path)
    before = pf.load(path)
    arguments |= {
        "field": dict(field=pf.Attention(3.0)),
        "t1": dict(t1=2.0),
        "weights": dict(mu=weighted(mu)),
        "solver": dict(solver=pf.Heun(0.1)),
        "observe": dict(observe={"F": E}),
    }[change]
    with pytest.raises(StoreError, match="another run"):
        pf.flow(**arguments, store=path)
    same_run(before, pf.load(path))


SCRIPT = """
import sys, time, jax, numpy as np, pushforward as pf
mu = pf.Particles.uniform(pf.Sphere(3), 8, key=jax.random.key(0))
E = pf.InteractionEnergy(2.0)
pause = float(sys.argv[2])
pf.flow(
    pf.Attention(2.0), mu, 5.0, save=41, observe={"E": E}, store=sys.argv[1],
    progress=lambda t, m, steps: time.sleep(pause),
)
"""


def child(path, pause):
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path), str(pause)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def frames_on_disk(path):
    try:
        with np.load(f"{path}.resume.npz") as data:
            return len(data["hashes"])
    except FileNotFoundError:
        return 0


def test_kill_9_in_the_middle_then_resume_bitwise(tmp_path):
    path = tmp_path / "run"
    process = child(path, 0.1)
    deadline = time.monotonic() + 120
    while frames_on_disk(path) < 7 and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    acknowledged = frames_on_disk(path)
    assert 7 <= acknowledged < 41
    partial = pf.load(path)
    assert partial.outcome.kind == "interrupted"
    assert len(partial) == len(partial.times) == acknowledged
    assert np.isfinite(partial.points).all()

    mu = pf.Particles.uniform(pf.Sphere(3), 8, key=jax.random.key(0))
    told = []
    options = dict(save=41, observe={"E": E})
    resumed = pf.flow(
        pf.Attention(2.0), mu, 5.0, **options, store=path,
        progress=lambda t, m, steps: told.append(t),
    )  # fmt: skip
    assert len(told) == 41 - acknowledged  # earlier frames are not computed again
    whole = pf.flow(pf.Attention(2.0), mu, 5.0, **options)
    same_run(resumed, whole)
    same_run(pf.load(path), whole)
    np.testing.assert_array_equal(partial.points, whole.points[:acknowledged])


def interrupted(mu, path):
    """A run that was stopped by hand after some frames."""
    count = []

    def stop(t, m, steps):
        count.append(t)
        if len(count) == 4:
            raise KeyboardInterrupt

    return pf.flow(pf.Attention(2.0), mu, 1.0, save=9, store=path, progress=stop)


def test_interrupted_by_hand_then_resumed(mu, tmp_path):
    run = interrupted(mu, tmp_path / "run")
    assert run.outcome.kind == "interrupted"
    assert len(run) < 9
    again = pf.flow(pf.Attention(2.0), mu, 1.0, save=9, store=tmp_path / "run")
    same_run(again, pf.flow(pf.Attention(2.0), mu, 1.0, save=9))


@pytest.mark.parametrize("kept", [0, 10, 0.5, 0.97])
def test_a_torn_resume_file_is_named(mu, kept, tmp_path):
    interrupted(mu, tmp_path / "run")
    torn = tmp_path / "run.resume.npz"
    data = torn.read_bytes()
    torn.write_bytes(data[: int(kept * len(data)) if kept < 1 else kept])
    for attempt in (
        lambda: pf.load(tmp_path / "run"),
        lambda: pf.flow(pf.Attention(2.0), mu, 1.0, save=9, store=tmp_path / "run"),
    ):
        with pytest.raises(StoreError, match=r"run\.resume\.npz"):
            attempt()


@pytest.mark.parametrize("damage", ["missing", "torn", "flipped"])
def test_a_damaged_frame_is_never_read_as_data(mu, damage, tmp_path):
    pf.flow(pf.Attention(2.0), mu, 1.0, save=5, store=tmp_path / "run")
    chunk = tmp_path / "run" / "points" / "c" / "2" / "0" / "0"
    data = bytearray(chunk.read_bytes())
    if damage == "missing":
        chunk.unlink()
    elif damage == "torn":
        chunk.write_bytes(data[: len(data) // 2])
    else:
        data[-5] ^= 0x10
        chunk.write_bytes(data)
    with pytest.raises(StoreError, match="damaged"):
        pf.load(tmp_path / "run")


def test_what_is_not_a_run_is_refused_and_left_alone(mu, tmp_path):
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter.txt").write_text("years of work")
    file = tmp_path / "notes.txt"
    file.write_text("more work")
    for path in (folder, file):
        with pytest.raises(StoreError):
            pf.load(path)
        with pytest.raises(StoreError):
            pf.flow(pf.Attention(2.0), mu, 1.0, save=3, store=path)
    assert (folder / "chapter.txt").read_text() == "years of work"
    assert file.read_text() == "more work"
    with pytest.raises(StoreError, match="nowhere"):
        pf.load(tmp_path / "nowhere")


def test_a_run_killed_before_its_first_frame_starts_again(mu, tmp_path):
    (tmp_path / "run").mkdir()  # all that a kill right after mkdir leaves
    run = pf.flow(pf.Attention(2.0), mu, 1.0, save=3, store=tmp_path / "run")
    same_run(run, pf.load(tmp_path / "run"))


def test_another_format_is_refused_by_number(mu, tmp_path):
    import zarr

    pf.flow(pf.Attention(2.0), mu, 1.0, save=3, store=tmp_path / "run")
    zarr.open_group(tmp_path / "run", mode="r+").attrs["pushforward"] = 999
    with pytest.raises(StoreError, match="format 999"):
        pf.load(tmp_path / "run")


def test_a_plain_zarr_store_is_not_a_run(tmp_path):
    import zarr

    zarr.open_group(tmp_path / "other", mode="w-", zarr_format=3)
    with pytest.raises(StoreError, match="not a run"):
        pf.load(tmp_path / "other")


def test_no_permission_is_a_store_error(mu, tmp_path):
    if os.geteuid() == 0:
        target = pathlib.Path("/proc/nothing-can-be-written-here")
    else:
        tmp_path.chmod(0o500)
        target = tmp_path / "run"
    with pytest.raises(StoreError, match="cannot write"):
        pf.flow(pf.Attention(2.0), mu, 1.0, save=3, store=target)
