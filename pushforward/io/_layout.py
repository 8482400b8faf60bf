"""The layout of a run on disk: checked before the first byte of data is decoded.

The metadata of a Zarr store names the codecs that decode it, and some codecs of the
wider world unpickle. A run is read only if it names the codecs that we write.
"""

from __future__ import annotations

import json
import math
import pathlib
import warnings
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Shaped

from pushforward._files import physical_memory
from pushforward.errors import StoreError
from pushforward.flows import CLOCKS

FORMAT = 2
READ = (1, 2)  # 1: particles only, and nothing but frames
MOST = 10**8  # times or rows of a table in one chunk
NUMBERS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"
# How measures and clocks lie on disk. What else there is of each frame was observed.
DIMENSIONS = {
    "points": ("time", "token", "x"),
    "log_weights": ("time", "token"),
    "weights": ("time", "token"),
    "coefficients": ("time", "mode"),
    "values": ("time", "node"),
    "center": ("time", "x"),
    "covariance": ("time", "x", "y"),
    "factor": ("time", "x", "column"),
    **dict.fromkeys(CLOCKS, ("time",)),
}
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
    if attributes.get("pushforward") not in READ:
        raise StoreError(
            f"{run} was written in format {attributes.get('pushforward')}, this "
            f"version reads up to {FORMAT}. Read it with the version that wrote it."
        )
    if not isinstance(attributes["spec"], str):
        raise StoreError(f"{run} is damaged: its specification is not text.")
    return attributes


class Layout(NamedTuple):
    """One array on disk: what it claims before it is believed."""

    shape: tuple[int, ...]
    bytes: int
    of_frames: bool


def read_frames(run: pathlib.Path, count: int, ended: bool) -> dict[str, np.ndarray]:
    """The first `count` frames of every array, after a look at the layout."""
    try:
        layouts = _layouts(run)
        frames = {name: found for name, found in layouts.items() if found.of_frames}
        _check_sizes(run, frames, count, ended)
        group = open_group(run)
        return {name: np.asarray(group[name][:count]) for name in frames}
    except TORN as error:
        raise StoreError(f"{run} is damaged: {_reason(error)}.") from error


def read_tables(run: pathlib.Path, names: list[str]) -> dict[str, np.ndarray]:
    """Arrays that belong to no frame."""
    try:
        layouts = _layouts(run)
        if sum(layouts[name].bytes for name in names) > physical_memory():
            raise ValueError("its tables claim more than the memory")
        group = open_group(run)
        return {name: np.asarray(group[name][:]) for name in names}
    except TORN as error:
        raise StoreError(f"{run} is damaged: {_reason(error)}.") from error


def _layouts(run: pathlib.Path) -> dict[str, Layout]:
    names = sorted(p.parent.name for p in run.glob("*/zarr.json"))
    return {name: _layout(run / name) for name in names}


def open_group(run: pathlib.Path, mode: Any = "r") -> Any:
    """The arrays of a run; zarr is imported late: that takes a fifth of a second."""
    import zarr

    return zarr.open_group(run, mode=mode, zarr_format=3, use_consolidated=False)


def create_group(run: pathlib.Path, attributes: dict[str, Any]) -> Any:
    """A store without arrays."""
    import zarr

    return zarr.create_group(run, zarr_format=3, attributes=attributes)


def consolidate(run: pathlib.Path) -> None:
    """All metadata in one place, for readers that look there."""
    import zarr

    with warnings.catch_warnings():  # consolidation is young in Zarr v3
        warnings.simplefilter("ignore")
        zarr.consolidate_metadata(run)


def allocate(
    group: Any,
    name: str,
    shape: tuple[int, ...],
    chunks: tuple[int, ...],
    dtype: Any,
    dims: Any,
):
    """An array of a run; frames that were never written read as NaN or 0."""
    return group.create_array(
        name,
        shape=shape,
        chunks=chunks,
        dtype=dtype,
        dimension_names=dims,
        fill_value=np.nan if np.issubdtype(dtype, np.floating) else 0,
    )


def write_table(group: Any, name: str, value: Shaped[np.ndarray, "..."]) -> None:
    """An array that belongs to no frame; one that is there is written again."""
    dims = (name.split("_")[0], *(f"{name}_{i}" for i in range(1, value.ndim)))
    chunks = (max(len(value), 1), *value.shape[1:])
    if name not in group:
        allocate(group, name, value.shape, chunks, value.dtype, dims)
    group[name][:] = value


def _node(folder: pathlib.Path, kind: str) -> dict[str, Any]:
    node = json.loads((folder / "zarr.json").read_bytes())
    if not isinstance(node, dict) or node.get("zarr_format") != 3:
        raise ValueError(f"{folder.name}/zarr.json is not of Zarr 3")
    if node.get("node_type") != kind:
        raise ValueError(f"{folder.name} is not a Zarr {kind}")
    return node


def _layout(folder: pathlib.Path) -> Layout:
    """What an array claims, if it is laid out as we lay out arrays."""
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
    of_frames = name == "time" or node["dimension_names"][0] == "time"
    # A chunk per frame; times, and tables, are one chunk that may outlast a cut.
    longest = 1 if of_frames and name != "time" else MOST
    if len(chunk) != len(shape) or chunk[1:] != shape[1:] or chunk[0] > longest:
        raise ValueError(f"{name} has chunks {chunk} for shape {shape}")
    size = math.prod(shape) * np.dtype(node["data_type"]).itemsize
    return Layout(shape, size, of_frames)


def _check_sizes(
    run: pathlib.Path, frames: dict[str, Layout], count: int, ended: bool
) -> None:
    """Refuse what does not fit together, or not in memory, before it is read."""
    kinds = ("points", "coefficients", "factor")
    own = next((name for name in kinds if name in frames), None)
    if own is None or "time" not in frames:
        raise KeyError("it has no measures, or no times")
    if own == "points":
        for name in ("weights", "log_weights"):
            if frames[name].shape[1:] != frames[own].shape[1:-1]:
                raise ValueError(f"{name} does not fit {frames[own].shape}")
    for name, found in frames.items():  # a run that has ended is cut to its frames
        if found.shape[0] < count or (ended and found.shape[0] > count):
            raise ValueError(f"{name} has room for {found.shape[0]} of {count} frames")
    claimed = sum(
        found.bytes // max(found.shape[0], 1) * max(count, 1)
        for found in frames.values()
    )
    if claimed > physical_memory():
        raise ValueError(f"it claims {claimed / 1e9:,.0f} GB, more than the memory")
    zeros = ["0"] * (len(frames[own].shape) - 1)
    for k in range(count):
        if not run.joinpath(own, "c", str(k), *zeros).is_file():
            raise ValueError(f"frame {k} is not what was written, its {own} are gone")


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:200]
