"""The layout of a run on disk: checked before the first byte of data is decoded.

The metadata of a Zarr store names the codecs that decode it, and some codecs of the
wider world unpickle. A run is read only if it names the codecs that we write.
"""

from __future__ import annotations

import json
import math
import pathlib
from typing import Any

import numpy as np
import zarr

from pushforward._array_files import physical_memory
from pushforward.errors import StoreError

FORMAT = 1
NUMBERS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"
OWN = ("time", "points", "weights", "log_weights")
# What json, zarr and its codecs raise when bytes are not what they should be.
TORN = (
    *(ValueError, KeyError, TypeError, IndexError, AttributeError, RuntimeError),
    *(OSError, MemoryError, OverflowError, ArithmeticError, RecursionError),
)


def read_attributes(run: pathlib.Path) -> dict[str, Any]:
    """What a run says about itself: specification, outcome, hashes."""
    try:
        node = _node(run, "group")
        attributes = node["attributes"]
        if not isinstance(attributes, dict):
            raise TypeError("its attributes are not a table")
    except TORN as error:
        raise StoreError(f"{run} is not a run: {_reason(error)}.") from error
    if "spec" not in attributes:
        raise StoreError(f"{run} is a Zarr store but not a run of this program.")
    if attributes.get("pushforward") != FORMAT:
        raise StoreError(
            f"{run} was written in format {attributes.get('pushforward')}, this "
            f"version reads format {FORMAT}. Read it with the version that wrote it."
        )
    if not isinstance(attributes["spec"], str):
        raise StoreError(f"{run} is damaged: its specification is not text.")
    return attributes


def read_frames(run: pathlib.Path, count: int) -> dict[str, np.ndarray]:
    """The first `count` frames of every array, after a look at the layout."""
    try:
        names = sorted(p.parent.name for p in run.glob("*/zarr.json"))
        missing = set(OWN) - set(names)
        if missing:
            raise KeyError(f"it has no {', '.join(sorted(missing))}")
        shapes = {name: _shape(run / name) for name in names}
        _check_sizes(run, shapes, count)
        group: Any = zarr.open_group(
            run, mode="r", zarr_format=3, use_consolidated=False
        )
        return {name: np.asarray(group[name][:count]) for name in names}
    except TORN as error:
        raise StoreError(f"{run} is damaged: {_reason(error)}.") from error


def allocate(group, name, shape, chunks, dtype, dims):
    """An array of a run; frames that were never written read as NaN or 0."""
    return group.create_array(
        name,
        shape=shape,
        chunks=chunks,
        dtype=dtype,
        dimension_names=dims,
        fill_value=np.nan if np.issubdtype(dtype, np.floating) else 0,
    )


def _node(folder: pathlib.Path, kind: str) -> dict[str, Any]:
    node = json.loads((folder / "zarr.json").read_bytes())
    if not isinstance(node, dict) or node.get("zarr_format") != 3:
        raise ValueError(f"{folder.name}/zarr.json is not of Zarr 3")
    if node.get("node_type") != kind:
        raise ValueError(f"{folder.name} is not a Zarr {kind}")
    return node


def _shape(folder: pathlib.Path) -> tuple[tuple[int, ...], int]:
    """The shape of an array and its bytes, if it is laid out as we lay out arrays."""
    node, name = _node(folder, "array"), folder.name
    shape = tuple(node["shape"])
    if not all(type(length) is int and length >= 0 for length in shape) or not shape:
        raise ValueError(f"{name} claims shape {shape}")
    if node["data_type"] not in NUMBERS.split():
        raise ValueError(f"{name} holds {node['data_type']!r}, not numbers")
    codecs = [codec["name"] for codec in node["codecs"]]
    if codecs != ["bytes", "zstd"] or node.get("storage_transformers"):
        raise ValueError(f"{name} is packed by {codecs}, which a run never uses")
    chunk = tuple(node["chunk_grid"]["configuration"]["chunk_shape"])
    whole = max(shape[0], 1) if name == "time" else 1
    if len(chunk) != len(shape) or chunk[1:] != shape[1:] or chunk[0] > whole:
        # a run that stopped early is cut to its frames, its times are not
        if name != "time" or len(chunk) != 1 or chunk[0] > 10**8:
            raise ValueError(f"{name} has chunks {chunk} for shape {shape}")
    return shape, math.prod(shape) * np.dtype(node["data_type"]).itemsize


def _check_sizes(run: pathlib.Path, shapes: dict, count: int) -> None:
    """Refuse what does not fit together, or not in memory, before it is read."""
    (T, n, d), _ = shapes["points"]
    for name in ("weights", "log_weights"):
        if shapes[name][0] != (T, n):
            raise ValueError(f"{name} has shape {shapes[name][0]} for {(T, n)}")
    if any(shape[0] < count for shape, _ in shapes.values()):
        raise ValueError(f"{count} frames count, and there is no room for them")
    claimed = sum(size for _, size in shapes.values()) // max(T, 1) * max(count, 1)
    if claimed > physical_memory():
        raise ValueError(f"it claims {claimed / 1e9:,.0f} GB, more than the memory")
    for k in range(count):
        if not (run / "points" / "c" / str(k) / "0" / "0").is_file():
            raise ValueError(f"frame {k} is not what was written, its points are gone")


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:200]
