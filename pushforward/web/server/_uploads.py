"""Files dropped on the page: read without running anything, refused with a reason.

Nothing is unpickled, and sizes are checked before memory is taken: the shape that a
header claims must fit the bytes that are there.
"""

import csv
import pathlib
import tempfile
import zipfile
from collections.abc import Callable

import numpy as np

from pushforward._files import read_npy, read_npz
from pushforward.errors import InputError
from pushforward.experiments import weights_of_file
from pushforward.web import _caps

CSV_BYTES = 16 * 2**20
NAMES = ("points", "tokens", "hidden", "hidden_states", "x")
MATRICES = ("Q", "K", "V")
ROWS = "one token per row, (n, d)"
MOST_LETTERS = 24  # of a word that names a token
Arrays = dict[str, np.ndarray]


def read(name: str, data: bytes) -> tuple[dict, Arrays]:
    """What a file is, {kind, n, d, ...}, and its arrays."""
    ending = next((e for e in _READERS if name.lower().endswith(e)), None)
    if ending is None:
        raise InputError(
            f"`file` must end in {', '.join(_READERS)}, got {name[-40:]!r}. "
            "Save it in one of these forms."
        )
    if not data:
        raise InputError("`file` is empty. Choose another.")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"upload{ending}"
        path.write_bytes(data)
        try:
            arrays = _READERS[ending](path)
            if any(name in MATRICES for name in arrays):
                return _weights(path)
            return _sorted(arrays)
        except Exception as error:  # readers of foreign bytes fail in many ways
            if isinstance(error, InputError) and error.argument:
                raise
            why = str(error).replace(str(path), "it")[:200] or type(error).__name__
            raise InputError(
                f"`file` could not be read as {ending}: {why}. Write it again."
            ) from error


def _npz(path: pathlib.Path) -> Arrays:
    with zipfile.ZipFile(path) as archive:  # no member unpacks to more than it claims
        members = archive.infolist()
    if len(members) > 16 or sum(m.file_size for m in members) > _caps.UPLOAD_BYTES:
        raise InputError("`file` unpacks to too much. Save fewer arrays.")
    return read_npz(path)


def _csv(path: pathlib.Path) -> Arrays:
    if path.stat().st_size > CSV_BYTES:
        raise InputError("`file` is over 16 MB of text. Save it as .npy.")
    lines = path.read_text("utf-8-sig").splitlines()
    marks = {mark: lines[0].count(mark) for mark in ",;\t"}
    mark = max(marks, key=lambda m: marks[m])
    rows = [row for row in csv.reader(lines, delimiter=mark) if row]
    names = rows.pop(0) if rows[1:] and not any(map(_is_number, rows[0])) else []
    words = [k for k, cell in enumerate(rows[0]) if not _is_number(cell)]
    if len(words) > 1:
        named = [names[k] if k < len(names) else f"column {k + 1}" for k in words]
        raise InputError(
            f"`file` has {len(words)} columns that are no numbers: "
            f"{', '.join(named)[:80]}. Leave one column of words at most."
        )
    kept = [[x for k, x in enumerate(row) if k not in words] for row in rows]
    found = {"": np.array(kept, dtype=float)}
    if words:
        found["words"] = np.array([row[words[0]][:MOST_LETTERS] for row in rows])
    return found


def _named(arrays: Arrays) -> bool:
    return "words" in arrays and arrays["words"].dtype.kind == "U"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _safetensors(path: pathlib.Path) -> Arrays:
    from safetensors.numpy import load_file

    return load_file(path)


_READERS: dict[str, Callable[[pathlib.Path], Arrays]] = {
    ".npy": lambda path: {"": read_npy(path)},
    ".npz": _npz,
    ".csv": _csv,
    ".safetensors": _safetensors,
}


def _sorted(arrays: Arrays) -> tuple[dict, Arrays]:
    """Tokens or hidden states."""
    words = arrays.pop("words") if _named(arrays) else None
    named = [k for k in NAMES if k in arrays]
    if len(arrays) != 1 and not named:
        names = ", ".join(sorted(arrays)[:5])
        raise InputError(
            f"`file` has the arrays {names}. Name one of them points or hidden_states, "
            "or Q, K, V for weights."
        )
    array = arrays[named[0]] if named else next(iter(arrays.values()))
    if array.dtype.kind in "bcOSU":
        raise InputError(f"`file` holds {array.dtype}, not numbers. Save float64.")
    x = np.asarray(array, dtype=float)
    if x.ndim not in (2, 3):
        raise InputError(
            f"`file` must hold {ROWS}, or layers of tokens, (layers, n, d); got the "
            f"shape {x.shape}. Save the array you mean."
        )
    about, found = _cloud(x)
    return (about if words is None else {**about, "words": words.tolist()}), found


def _cloud(x: np.ndarray) -> tuple[dict, Arrays]:
    n, d = x.shape[-2:]
    if not (1 <= n <= _caps.MOST_TOKENS and 2 <= d):
        raise InputError(
            f"`file` must have {ROWS}, with n up to {_caps.MOST_TOKENS} and d at least "
            f"2; got n = {n}, d = {d}. Save fewer rows, or the transpose."
        )
    if not np.isfinite(x).all():
        bad = int((~np.isfinite(x)).sum())
        raise InputError(f"`file` has {bad} entries that are not finite. Remove them.")
    lengths = np.linalg.norm(x, axis=-1)
    if not (lengths > 0).all():
        row = tuple(int(i) for i in np.argwhere(lengths == 0)[0])
        raise InputError(f"`file` has a zero vector at {row}. Remove it.")
    unit = bool(np.abs(lengths - 1).max() <= 1e-6)
    note = (
        "" if unit else "vectors were scaled to length one; only directions are shown"
    )
    x = x / lengths[..., None]
    if x.ndim == 3:
        return _layers(x, note)
    if d > _caps.MOST_DIMENSIONS or n * n * d > _caps.MOST_WORK:
        raise InputError(
            f"`file` has n = {n} tokens of dimension d = {d}: n^2 d must stay below "
            f"{_caps.MOST_WORK:g} and d below {_caps.MOST_DIMENSIONS + 1} to be run. "
            "Save fewer rows, or use the command line."
        )
    return {"kind": "tokens", "n": n, "d": d, "note": note}, {"points": x}


def _layers(x: np.ndarray, note: str) -> tuple[dict, Arrays]:
    layers, n, width = x.shape
    if not 2 <= layers <= _caps.MOST_FRAMES:
        raise InputError(
            f"`file` must have 2 to {_caps.MOST_FRAMES} layers, got {layers}. "
            "Save the layers you mean."
        )
    if (
        width > n
    ):  # only inner products are shown: coordinates in the span of all tokens
        flat = x.reshape(-1, width)
        if len(flat) < width:
            x = np.linalg.qr(flat.T)[1].T.reshape(layers, n, -1)
    if x.nbytes > _caps.RUN_BYTES:
        raise InputError("`file` has too many numbers. Save fewer layers or tokens.")
    about = {"kind": "hidden", "n": n, "d": x.shape[2], "layers": layers}
    about["width"] = width  # of the model; inner products need fewer coordinates
    times = np.arange(layers, dtype=float)
    return {**about, "frames": layers, "note": note}, {"points": x, "times": times}


def _weights(path: pathlib.Path) -> tuple[dict, Arrays]:
    """Q, K, V of shape (d, d) or (heads, d, d)."""
    heads = weights_of_file(path)
    d = len(next(iter(heads[0].values())))
    fits = all(matrix.shape == (d, d) for one in heads for matrix in one.values())
    if not (
        fits and 2 <= d <= _caps.MOST_DIMENSIONS and len(heads) <= _caps.MOST_HEADS
    ):
        shapes = ", ".join(f"{k} {x.shape}" for k, x in heads[0].items())
        raise InputError(
            f"`file` has weights that do not fit each other or the page: {len(heads)} "
            f"heads of {shapes}. They must be finite, d at most "
            f"{_caps.MOST_DIMENSIONS}, heads at most {_caps.MOST_HEADS}."
        )
    about = {"kind": "weights", "n": 0, "d": d, "heads": len(heads), "note": ""}
    return about, {name: np.stack([one[name] for one in heads]) for name in heads[0]}
