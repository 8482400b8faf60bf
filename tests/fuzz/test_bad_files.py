"""Mutated runs, tensors and tables: no code runs, no crash, memory capped."""

import contextlib
import io
import json
import pathlib
import shutil
import struct
import sys
import warnings
import zipfile

import numpy as np
import pytest

import pushforward as pf
from pushforward._files import read_npy, read_npz
from pushforward.errors import InputError, PushforwardError, StoreError
from pushforward.experiments import weights_of_file
from pushforward.io import from_json, resumption
from pushforward.statistics import read_representation, read_table
from pushforward.statistics.mixtures import read_numbers
from pushforward.sweeps import Design

# What would mean that a file made us run something.
FORBIDDEN = (
    *("import", "exec", "pickle.find_class", "os.system", "os.exec", "os.fork"),
    *("os.posix_spawn", "subprocess.Popen", "ctypes.dlopen", "socket.connect"),
)
WATCH = {"on": False, "seen": []}


def _hook(event, arguments):
    if WATCH["on"] and event in FORBIDDEN:
        WATCH["seen"].append((event, repr(arguments)[:200]))


sys.addaudithook(_hook)


@contextlib.contextmanager
def audited():
    """Fail if anything is imported, executed, unpickled or started inside."""
    WATCH["seen"].clear()
    WATCH["on"] = True
    try:
        yield
    finally:
        WATCH["on"] = False
    assert not WATCH["seen"], WATCH["seen"]


def test_the_audit_hook_sees_code():
    with pytest.raises(AssertionError, match="exec"):
        with audited():
            exec("1 + 1")


def mutated(data: bytes, rng) -> bytes:
    """Flip, cut, repeat, splice, or put numbers of other sizes."""
    data = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        kind = rng.integers(7)
        at = int(rng.integers(len(data))) if data else 0
        if kind == 0 and data:
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = rng.bytes(int(rng.integers(1, 40)))
        elif kind == 3:
            del data[at : at + int(rng.integers(1, 30))]
        elif kind == 4:
            data[at : at + 8] = struct.pack("<Q", int(rng.integers(2**63)))
        elif kind == 5:
            digits = [i for i, c in enumerate(data) if 48 <= c < 58]
            if digits:
                i = digits[rng.integers(len(digits))]
                data[i : i + 1] = rng.choice([b"999999999999", b"-1", b"NaN", b"1e999"])
        else:
            data[at:at] = data[: at // 2]
    return bytes(data)


def tensors(folder: pathlib.Path) -> dict:
    """Good files of every kind, and what reads them."""
    from safetensors.numpy import save_file

    x = np.eye(3)
    np.save(folder / "a.npy", x)
    np.savez(folder / "a.npz", points=x, weights=[0.2, 0.3, 0.5])
    np.savez_compressed(folder / "b.npz", points=x)
    save_file({"Q": x, "V": np.ones((2, 3, 3))}, folder / "a.safetensors")
    (folder / "a.csv").write_text("1,0,0\n0,1,0\n0,0,1\n")
    (folder / "b.csv").write_text("x;y\n1,5;2\n3;4,25\n")
    (folder / "t.csv").write_text("id,mz,rt,s1,s2\na,100.1,1.0,5,6\nb,200.2,2,7,9\n")
    (folder / "a.toml").write_text(
        'statistic = "close"\n[run]\nn = 4\nd = 3\nt1 = 1.0\n'
        "[grid]\nbeta = [1.0, 2.0]\n"
    )
    spec = pf.io.to_json(pf.Attention(2.0, Q=x))
    (folder / "a.json").write_text(json.dumps(spec))
    points = lambda p: pf.Particles.from_file(None, p)  # noqa: E731
    return {
        "a.npy": [points, read_npy, read_representation],
        "a.npz": [points, read_npz],
        "b.npz": [read_npz],
        "a.safetensors": [weights_of_file],
        "a.csv": [points, read_representation],
        "b.csv": [read_numbers],
        "t.csv": [read_table],
        "a.toml": [Design.from_toml],
        "a.json": [lambda p: from_json(as_json(p))],
    }


def as_json(path):
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON, as the caller would say: {error}") from error


def read(reader, path) -> str | None:
    """None, or what went wrong that is not one of our errors."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader(path)
    except PushforwardError:
        return None
    except Exception as error:
        return f"{path.name}: {type(error).__name__}: {str(error)[:120]}"
    return None


def fuzz_tensors(folder, count: int, seed: int) -> set[str]:
    rng = np.random.default_rng(seed)
    readers = tensors(folder)
    good = {name: (folder / name).read_bytes() for name in readers}
    for name, calls in readers.items():  # late imports happen here, not below
        for call in calls:
            assert read(call, folder / name) is None
            (folder / f"bad.{name}").write_bytes(b"?")
            read(call, folder / f"bad.{name}")
    wrong, names = set(), sorted(readers)
    for k in range(count):
        name = names[k % len(names)]
        path = folder / f"mutated.{name}"
        path.write_bytes(mutated(good[name], rng))
        with audited():
            wrong |= {found for call in readers[name] if (found := read(call, path))}
    return wrong


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run and an unfinished one."""
    folder = tmp_path_factory.mktemp("runs")
    mu = pf.Particles(pf.Sphere(3), np.eye(3))
    options = dict(save=3, observe={"E": pf.InteractionEnergy(2.0)})
    count = []

    def stop(t, m, steps):
        count.append(t)
        if len(count) == 3:
            raise KeyboardInterrupt

    pf.flow(pf.Attention(2.0), mu, 1.0, **options, store=folder / "done")
    pf.flow(pf.Attention(2.0), mu, 1.0, **options, store=folder / "part", progress=stop)
    return folder


def fuzz_runs(source, folder, count: int, seed: int) -> set[str]:
    rng = np.random.default_rng(seed)
    wrong = set()
    for name in ("done", "part"):
        shutil.copytree(source / name, folder / name, dirs_exist_ok=True)
    shutil.copy(source / "part.resume.npz", folder)
    whole = {name: pf.load(folder / name) for name in ("done", "part")}
    resumption(folder / "part")
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    read(pf.load, folder / "nothing")
    for _ in range(count):
        path = files[rng.integers(len(files))]
        before = path.read_bytes()
        path.write_bytes(mutated(before, rng))
        name = path.relative_to(folder).parts[0].split(".")[0]
        with audited():
            wrong |= {x for x in [read(pf.load, folder / name)] if x}
            if name == "part":
                wrong |= {x for x in [read(resumption, folder / name)] if x}
        with contextlib.suppress(StoreError):  # what is read is what was written
            again = pf.load(folder / name)
            if not np.array_equal(again.points, whole[name].points):
                wrong.add(f"{path.relative_to(folder)}: other points were read")
        path.write_bytes(before)
    return wrong


def test_fifteen_hundred_bad_tensors_and_tables(tmp_path):
    assert fuzz_tensors(tmp_path, 1500, seed=0) == set()


def test_five_hundred_bad_runs(run, tmp_path):
    assert fuzz_runs(run, tmp_path, 500, seed=0) == set()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
def test_a_hundred_thousand_bad_files(run, tmp_path, seed):
    assert fuzz_tensors(tmp_path, 10_000, seed) == set()
    (tmp_path / "runs").mkdir()
    assert fuzz_runs(run, tmp_path / "runs", 2_500, seed) == set()


def header(shape, dtype="<f8") -> bytes:
    buffer = io.BytesIO()
    about = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, about)
    return buffer.getvalue()


@contextlib.contextmanager
def small_memory():
    """No array above 100 MB may be made: a claim is refused before it is believed."""
    import tracemalloc

    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6, peak


@pytest.mark.parametrize("shape", [(10**12,), (10**6, 10**6), (2**31, 4)])
def test_a_claim_of_a_million_million_numbers_is_refused(shape, tmp_path):
    (tmp_path / "a.npy").write_bytes(header(shape) + bytes(800))
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("points.npy", header(shape) + bytes(800))
    with small_memory():
        for name in ("a.npy", "a.npz"):
            with pytest.raises(InputError, match="claims"):
                pf.Particles.from_file(None, tmp_path / name)


@pytest.mark.parametrize("shape", [[10**12, 3, 3], [3, 10**6, 10**6]])
def test_a_run_that_claims_too_much_is_refused(run, shape, tmp_path):
    shutil.copytree(run / "done", tmp_path / "run")
    path = tmp_path / "run" / "points" / "zarr.json"
    about = json.loads(path.read_text())
    about["shape"] = shape
    about["chunk_grid"]["configuration"]["chunk_shape"] = [1, *shape[1:]]
    path.write_text(json.dumps(about))
    with small_memory(), pytest.raises(StoreError, match="damaged"):
        pf.load(tmp_path / "run")


def test_a_store_that_names_a_pickling_codec_is_never_decoded(tmp_path):
    """Zarr 2 filters may unpickle: such a store is refused by its layout."""
    folder = tmp_path / "evil"
    folder.mkdir()
    (folder / ".zgroup").write_text('{"zarr_format": 2}')
    about = {"pushforward": 1, "spec": "{}", "hashes": ["0"], "outcome": {}}
    (folder / ".zattrs").write_text(json.dumps(about))
    with audited(), pytest.raises(StoreError, match="not a run"):
        pf.load(folder)


def test_a_codec_of_the_wider_world_is_refused(run, tmp_path):
    shutil.copytree(run / "done", tmp_path / "run")
    path = tmp_path / "run" / "points" / "zarr.json"
    about = json.loads(path.read_text())
    about["codecs"] = [{"name": "numcodecs.pickle"}, {"name": "bytes"}]
    path.write_text(json.dumps(about))
    with audited(), pytest.raises(StoreError, match="numcodecs.pickle"):
        pf.load(tmp_path / "run")


def test_a_specification_calls_nothing():
    for text in ('{"type": "sweep"}', '{"type": "os.system"}', '{"type": "Trajectory"}',
                 '{"observable": "__builtins__"}', '{"observable": "np"}',
                 '{"activation": "__class__"}', '{"scheme": "os"}'):  # fmt: skip
        with pytest.raises(InputError):
            from_json(json.loads(text))
