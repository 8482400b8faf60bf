"""Locks, signals, full disks, read-only folders: the last good state stays."""

import errno
import os
import pathlib
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest
from zarr.storage import _local as local

import pushforward as pf
from pushforward.cli import main
from pushforward.errors import NumericalError, StoreError
from pushforward.flows import frame_of
from pushforward.io import FolderLock, RunStore, resumption
from pushforward.io._disk import lock_file

E = pf.InteractionEnergy(2.0)


@pytest.fixture
def mu(sine):
    return pf.Particles(pf.Sphere(3), sine(8, 3))


@pytest.fixture(autouse=True)
def every_frame_is_committed(monkeypatch):
    monkeypatch.setattr("pushforward.io._run.PATIENCE", -1.0)
    monkeypatch.setattr("pushforward.io._run.time.monotonic", lambda: 0.0)
    yield


def flow(mu, store=None, progress=None):
    options = dict(save=7, observe={"E": E}, store=store, progress=progress)
    return pf.flow(pf.Attention(2.0), mu, 1.0, **options)


def same(a, b):
    np.testing.assert_array_equal(a.points, b.points)
    np.testing.assert_array_equal(a.observed["E"], b.observed["E"])
    np.testing.assert_array_equal(a.times, b.times)
    assert a.outcome == b.outcome and int(a.steps) == int(b.steps)


def stop_after(count):
    seen = []

    def progress(t, m, steps):
        seen.append(t)
        if len(seen) > count:
            raise KeyboardInterrupt

    return progress


def test_a_finished_run_is_read_again_not_written_again(mu, tmp_path):
    first = flow(mu, tmp_path / "run")
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "run").rglob("*")}
    told = []
    again = flow(mu, tmp_path / "run", lambda *a: told.append(a))
    assert told == []
    same(again, first)
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "run").rglob("*")} == before


def test_two_writers_are_one_too_many(mu, tmp_path):
    flow(mu, tmp_path / "run", stop_after(3))
    lock = FolderLock(tmp_path / "run")
    with pytest.raises(StoreError, match="another process is writing"):
        flow(mu, tmp_path / "run")
    lock.close()
    same(flow(mu, tmp_path / "run"), flow(mu))


def test_a_lock_of_a_killed_process_does_not_block(mu, tmp_path):
    flow(mu, tmp_path / "run", stop_after(3))
    code = (
        "import filelock, sys, time; lock = filelock.FileLock(sys.argv[1]); "
        "lock.acquire(); print('locked', flush=True); time.sleep(60)"
    )
    file = lock_file(tmp_path / "run")
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(file)], stdout=subprocess.PIPE
    )
    with process:
        process.stdout.readline()
        with pytest.raises(StoreError, match="another process"):
            flow(mu, tmp_path / "run")
        process.send_signal(signal.SIGKILL)
    assert file.exists()  # left behind, and locked by nobody
    same(flow(mu, tmp_path / "run"), flow(mu))
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_a_state_that_is_not_finite_is_never_written(mu, tmp_path):
    store = RunStore.create(tmp_path / "run", {"space": None}, np.linspace(0, 1, 3))
    good = frame_of(mu, {})
    store.append(0.0, good, {})
    with pytest.raises(NumericalError, match="not finite.*1 frames"):
        store.append(0.5, good | {"points": np.full((8, 3), np.nan)}, {})
    store.close()
    assert not (tmp_path / "run" / "points" / "c" / "1").exists()


class Failing:
    """The writes of Zarr: the first ones pass, then they fail as a disk does."""

    def __init__(self, patch, passes, number):
        self.write, self.passes, self.number = local._put, passes, number
        self.calls = 0
        patch.setattr(local, "_put", self)

    def __call__(self, *arguments, **options):
        self.calls += 1
        if self.calls > self.passes:
            raise OSError(self.number, os.strerror(self.number))
        return self.write(*arguments, **options)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.8])
def test_a_disk_that_fails_keeps_the_last_good_state(
    mu, number, share, tmp_path, monkeypatch
):
    with monkeypatch.context() as patch:
        writes = Failing(patch, 10**9, number)
        whole = flow(mu, tmp_path / "whole")
    with monkeypatch.context() as patch:
        Failing(patch, int(share * writes.calls), number)
        fix = "Free some space" if number == errno.ENOSPC else "you may write"
        with pytest.raises(StoreError, match=fix):
            flow(mu, tmp_path / "run")
    if share > 0.1:
        kept = pf.load(tmp_path / "run")
        assert 0 < len(kept) < 7
        np.testing.assert_array_equal(kept.points, whole.points[: len(kept)])
    same(flow(mu, tmp_path / "run"), whole)


def test_a_file_system_that_is_really_full(mu, tmp_path):
    """The kernel refuses the write: a limit on the size of files, below a manifest."""
    whole = flow(mu)  # compiled before the limit
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    flow(mu, tmp_path / "part", stop_after(3))
    manifest = (tmp_path / "part.resume.npz").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (manifest + 100, limits[1]))
    try:
        with pytest.raises(StoreError, match="Free some space"):
            flow(mu, tmp_path / "run")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    kept = pf.load(tmp_path / "run")
    assert 0 < len(kept) < 7
    np.testing.assert_array_equal(kept.points, whole.points[: len(kept)])
    same(flow(mu, tmp_path / "run"), whole)


def test_interrupted_between_frames_of_a_switched_field(mu, tmp_path):
    """A stop at a switch, which is no frame, must not shift the frames after it."""
    field = pf.Switched([pf.Attention(2.0), pf.Attention(5.0)], [0.0, 0.4, 1.0])
    options = dict(save=3, observe={"E": E})
    whole = pf.flow(field, mu, 1.0, **options)
    seen = []

    def stop(t, m, steps):
        seen.append(t)
        if len(seen) == 2:
            raise KeyboardInterrupt

    pf.flow(field, mu, 1.0, **options, store=tmp_path / "run", progress=stop)
    again = pf.flow(field, mu, 1.0, **options, store=tmp_path / "run")
    same(again, whole)


def test_the_resumption_is_the_flow_that_wrote_the_run(mu, tmp_path):
    flow(mu, tmp_path / "run", stop_after(3))
    rest = resumption(tmp_path / "run")
    assert repr(rest.field) == repr(pf.Attention(2.0))
    np.testing.assert_array_equal(rest.mu.points, mu.points)
    same(rest.flow(), flow(mu))


def test_functions_without_a_name_are_not_resumed_blindly(mu, tmp_path):
    options = dict(save=5, observe={"x": lambda m: m.points[0, 0]})
    pf.flow(pf.Attention(2.0), mu, 1.0, **options, store=tmp_path / "run")
    with pytest.raises(StoreError, match=r"observables \['x'\].*store="):
        resumption(tmp_path / "run")


@pytest.fixture
def command(monkeypatch, tmp_path, capsys):
    monkeypatch.undo()  # commits by the clock, as people have them
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    handlers = {s: signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGINT)}
    # a shell without job control starts its background jobs deaf to Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def call(line: str):
        monkeypatch.setattr(sys, "argv", ["pushforward", *line.split()])
        with pytest.raises(SystemExit) as stop:
            main()
        printed = capsys.readouterr()
        return int(stop.value.code or 0), printed.out, printed.err

    yield call
    for number, handler in handlers.items():
        signal.signal(number, handler)


LONG = "simulate --n 4 --d 3 --beta 2 --t1 1 --layers 0.01 --json --frames 101"


def send_when_written(patch, number, frames):
    """Send this process a signal once the run holds some frames."""
    append = RunStore.append

    def and_signal(self, *frame):
        append(self, *frame)
        if len(self.hashes) == frames:
            os.kill(os.getpid(), number)

    patch.setattr(RunStore, "append", and_signal)


def test_sigterm_and_ctrl_c_save_and_exit_5_then_resume_bitwise(command, monkeypatch):
    for number in (signal.SIGTERM, signal.SIGINT):
        first = not pathlib.Path("run").exists()
        frames = 3 if first else len(pf.load("run")) + 3
        line = f"{LONG} --out run" if first else "simulate --resume run --json"
        with monkeypatch.context() as patch:
            send_when_written(patch, number, frames)
            code, _, err = command(line)
        assert code == 5, err
        assert "--resume run" in err and "what was written is kept" in err
        assert frames <= len(pf.load("run")) < 101
    code, _, err = command("simulate --resume run --n 5")
    assert code == 3 and "`--n`" in err and "(5)" in err
    assert command("simulate --resume run")[0] == 0
    assert command(f"{LONG} --out whole")[0] == 0
    a, b = pf.load("run"), pf.load("whole")
    np.testing.assert_array_equal(a.points, b.points)
    for name in b.observed:
        np.testing.assert_array_equal(a.observed[name], b.observed[name])
    assert command("simulate --resume nowhere")[0] == 6


def test_a_disk_that_fails_is_exit_6(command, monkeypatch):
    with monkeypatch.context() as patch:
        Failing(patch, 40, errno.ENOSPC)
        code, _, err = command(f"{LONG} --out run")
    assert code == 6 and "No space left" in err and "resumes" in err
    assert len(pf.load("run")) > 0


def test_a_picture_that_cannot_be_written_leaves_the_old_one(monkeypatch, tmp_path):
    from matplotlib.figure import Figure

    from pushforward import plot

    (tmp_path / "a.png").write_bytes(b"old")

    def full(self, path, **options):
        pathlib.Path(path).write_bytes(b"half a pict")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", full)
    with pytest.raises(StoreError, match="No space left"):
        plot.save(Figure(), tmp_path / "a.png")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a.png", b"old")]
