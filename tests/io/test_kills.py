"""kill -9 at random points of a run and of an export: nothing corrupt, nothing lost."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest

import pushforward as pf
from pushforward.io import resumption

ROOT = pathlib.Path(pf.__file__).parent.parent
WRITER = pathlib.Path(__file__).with_name("killed_writer.py")


def environment():
    return os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}


def killed(folder, runs, exports, seed) -> dict:
    """The report of the writers; a frame lost or a torn file fails them."""
    done = subprocess.run(
        [sys.executable, WRITER, folder, str(runs), str(exports), str(seed)],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture
def place(tmp_path):
    """A folder in memory where there is one: kills do not need to wait for a disk."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield pathlib.Path(folder)


def check(report, runs, exports):
    assert report["run"]["kills"] >= runs and report["export"]["kills"] >= exports
    assert report["run"]["runs"] > 0, "no run was ever finished"
    assert report["run"]["resumed"] > 0, "no run was ever resumed"
    assert report["export"]["old"] > 0, "no export was killed before its end"


def test_fifty_kills_of_runs_and_exports_lose_nothing(place):
    check(killed(place, 44, 6, seed=0), 44, 6)


@pytest.mark.slow
def test_five_hundred_kills_of_runs_and_exports_lose_nothing(place):
    check(killed(place, 440, 40, seed=1), 440, 40)


SIMULATE = """
import sys
from pushforward.cli import main
sys.argv = ["pushforward", *sys.argv[1:]]
main()
"""
OPTIONS = "simulate --n 8 --d 3 --beta 3 --t1 4 --noise 0.05 --frames {frames} --json"


def start(line, folder, cache):
    return subprocess.Popen(
        [sys.executable, "-c", SIMULATE, *line.split()],
        cwd=folder,
        env=environment() | {"XDG_CACHE_HOME": str(cache)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def frames_that_count(run) -> int:
    try:
        with np.load(f"{run}.resume.npz", allow_pickle=False) as data:
            return len(data["hashes"])
    except FileNotFoundError:
        return 0


def kill_simulate(folder, cache, after: int, frames: int) -> int:
    """Start or resume `run`, kill it when it has `after` frames; how many count."""
    run = folder / "run"
    fresh = OPTIONS.format(frames=frames) + " --out run"
    line = "simulate --resume run --json" if frames_that_count(run) else fresh
    process = start(line, folder, cache)
    while frames_that_count(run) < after and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return frames_that_count(run)


def same_bits(run, whole):
    a, b = pf.load(run), pf.load(whole)
    for name in ("times", "points", "weights"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    for name in b.observed:
        np.testing.assert_array_equal(a.observed[name], b.observed[name])
    assert (a.outcome, int(a.steps)) == (b.outcome, int(b.steps))


def uninterrupted(run, whole):
    """The same flow without a kill, from the specification of the run."""
    resumption(run)._replace(path=whole).flow()


@pytest.mark.slow  # half a minute of starting Python
def test_simulate_killed_twice_resumes_bitwise(tmp_path):
    """With noise: the key, the step and the clock are all part of the state."""
    counts = [kill_simulate(tmp_path, tmp_path, after, 1501) for after in (2, 200)]
    assert 0 < counts[0] < counts[1] < 1501
    partial = pf.load(tmp_path / "run")
    assert partial.outcome.kind == "interrupted" and len(partial) == counts[1]
    resumption(tmp_path / "run").flow()
    uninterrupted(tmp_path / "run", tmp_path / "whole")
    same_bits(tmp_path / "run", tmp_path / "whole")
    np.testing.assert_array_equal(
        partial.points, pf.load(tmp_path / "whole").points[: counts[1]]
    )


@pytest.mark.slow
def test_simulate_killed_twenty_times_resumes_bitwise(tmp_path):
    rng = random.Random(0)
    kills = 0
    while kills < 20:
        before = frames_that_count(tmp_path / "run")
        count = kill_simulate(tmp_path, tmp_path, before + rng.randint(1, 200), 6001)
        assert count >= before, "frames that counted are gone"
        kills += 1
        if not count:
            break
    uninterrupted(tmp_path / "run", tmp_path / "whole")
    resumption(tmp_path / "run").flow()
    same_bits(tmp_path / "run", tmp_path / "whole")
