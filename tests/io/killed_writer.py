"""Writers that die: run as a script by test_kills.py, which reads the report.

One process imports the store and forks a writer per kill. A writer kills itself with
SIGKILL at the N-th touch of the file system (an audit hook counts), which places kills
where they hurt, or is killed from outside at a random time. Frames are plain arrays:
no JAX runs here, so that forking is safe and a kill costs milliseconds.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import sys
import time

import numpy as np

import pushforward.io._run as run_module
from pushforward.io._disk import read_manifest
from pushforward.io._layout import read_attributes
from pushforward.io._reading import seal, verified

TOUCHES = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate")
FRAMES, N, D = 6, 5, 3
TIMES = np.linspace(0.0, 1.0, FRAMES)
SPEC = {"what": "frames of a random walk", "space": {"type": "Sphere", "d": 3}}


TABLE = {"merge_arc": np.arange(3.0)}


def measure(k: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(k)
    w = rng.dirichlet(np.ones(N))
    return dict(points=rng.normal(size=(N, D)), weights=w, log_weights=np.log(w))


def frame(k: int) -> dict[str, np.ndarray]:
    return measure(k) | {"energy": np.float64(k) / 7, "count": np.asarray(FRAMES - k)}


def state(k: int) -> dict[str, np.ndarray]:
    return {"t": TIMES[k], "h": np.float64(0.1), "accepted": np.asarray(k)}


def write(path: pathlib.Path, tell) -> None:
    # Every other run does not know how many frames will come.
    times = None if path.name[-1] in "13579" else TIMES
    store = run_module.RunStore.create(path, SPEC, times)
    if not store.ended:
        for k in range(len(store.hashes), FRAMES):
            store.append(float(TIMES[k]), frame(k), state(k))
            if store._pending is None:  # it counts: nobody may lose it now
                tell(k + 1)
        store.finish(run_module.Outcome("reached t1", "."), {"steps": 7, **TABLE})
        tell(FRAMES)
    store.close()


def export(path: pathlib.Path, tell) -> None:
    from pushforward._files import replacing

    with replacing(path) as temporary:
        with open(temporary, "wb") as file:
            for _ in range(8):
                file.write(b"new!" * 512)
                file.flush()


def die_at(touch: int) -> None:
    left = [touch]

    def hook(event, arguments):
        if event in TOUCHES:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def forked(job, path, touch: int | None, delay: float | None) -> tuple[int, int]:
    """(exit status, frames acknowledged)."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        if touch is not None:
            die_at(touch)
        job(path, lambda count: os.write(writer, bytes([count])))
        os._exit(0)
    os.close(writer)
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    told = b""
    while piece := os.read(reader, 100):
        told += piece
    os.close(reader)
    return os.waitpid(child, 0)[1], max(told, default=0)


def check_run(path: pathlib.Path, acknowledged: int) -> bool:
    """Every frame that was acknowledged is there, bitwise; True when it has ended."""
    if not path.exists():
        assert acknowledged == 0, "an acknowledged run is gone"
        return False
    attributes = read_attributes(path)
    if "outcome" in attributes:
        arrays = verified(path, attributes["hashes"], ended=True)
        assert attributes["seal"] == seal(attributes, arrays["time"])
    else:
        manifest = read_manifest(path)
        if manifest is None:
            assert acknowledged == 0, "acknowledged frames are lost"
            return False
        arrays = verified(path, manifest.hashes.tolist(), ended=False)
        assert manifest.state == state(len(manifest.times) - 1)
    count = len(arrays["points"])
    assert count >= acknowledged, f"{acknowledged} acknowledged, {count} there"
    for k in range(count):
        for name, value in frame(k).items():
            assert (arrays[name][k] == value).all()
    return "outcome" in attributes


def kill_runs(folder: pathlib.Path, kills: int, rng: random.Random) -> dict:
    """Kill writers of run after run, resuming each until it is finished."""
    run_module.PATIENCE = 0.0  # every frame is committed: more places to die
    report = {"kills": 0, "runs": 0, "resumed": 0, "files": []}
    wholes = [folder / "whole0", folder / "whole1"]
    started = time.monotonic()
    for whole in wholes:
        assert forked(write, whole, None, None) == (0, FRAMES)
    lasts = (time.monotonic() - started) / 2
    path, acknowledged = folder / "run0", 0
    while report["kills"] < kills:
        by_time = rng.random() < 0.2
        touch = None if by_time else rng.randint(1, 160)
        delay = rng.uniform(0, lasts) if by_time else None
        status, told = forked(write, path, touch, delay)
        report["kills"] += os.WIFSIGNALED(status)
        assert os.WIFSIGNALED(status) or status == 0, "a writer failed"
        acknowledged = max(acknowledged, told)
        report["resumed"] += 0 < acknowledged < FRAMES
        if check_run(path, acknowledged):
            assert forked(write, path, None, None)[0] == 0  # completes what is left
            whole = _files(wholes[report["runs"] % 2])
            assert _files(path) == whole, "not the files of a whole run"
            report["runs"] += 1
            left = [p.name for p in folder.iterdir() if p.name.startswith(path.name)]
            assert left == [path.name], left
            shutil.rmtree(path)
            path, acknowledged = folder / f"run{report['runs']}", 0
    report["files"] = sorted(p.name for p in folder.iterdir())
    return report


def kill_exports(folder: pathlib.Path, kills: int, rng: random.Random) -> dict:
    old, new = b"old picture", b"new!" * 4096
    target, report = folder / "picture.png", {"kills": 0, "old": 0, "new": 0}
    import pushforward._files  # noqa: F401  the import is not what is tested

    while report["kills"] < kills:
        target.write_bytes(old)
        status, _ = forked(export, target, rng.randint(1, 5), None)
        report["kills"] += os.WIFSIGNALED(status)
        found = target.read_bytes()
        assert found in (old, new), "a torn export"
        report["old" if found == old else "new"] += 1
    return report


def _files(path: pathlib.Path) -> dict[str, bytes]:
    files = (p for p in sorted(path.rglob("*")) if p.is_file())
    return {str(p.relative_to(path)): p.read_bytes() for p in files}


if __name__ == "__main__":
    place, runs, exports, seed = sys.argv[1:]
    chance = random.Random(int(seed))
    result = {"run": kill_runs(pathlib.Path(place), int(runs), chance)}
    result["export"] = kill_exports(pathlib.Path(place), int(exports), chance)
    sys.stdout.write(json.dumps(result) + "\n")
