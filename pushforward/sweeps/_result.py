"""The table of a sweep: an array per statistic, with the axes by name."""

from __future__ import annotations

import json
import pathlib
import shutil
import warnings
from typing import Any

import numpy as np
import zarr

from pushforward.errors import StoreError
from pushforward.sweeps._cells import Cell
from pushforward.sweeps._design import Design


class SweepResult:
    """What a sweep found.

    - `mean`, `error`: the statistic over replicas and its standard error, with one
      dimension per axis of the design and time last; NaN where a cell failed.
    - `axes`: name -> values; `times`: when the statistic was taken.
    - `failed`: (parameters, reason) of every cell that could not be computed.
    - `computed`: how many cells this call computed; the others were there already.
    """

    def __init__(self, design: Design, cells: list[Cell], records: dict[str, dict]):
        self.design = design
        found = [records[cell.address] for cell in cells]
        good = [r for r in found if "mean" in r]
        self.times = np.array(max((r["times"] for r in good), key=len, default=[0.0]))
        self.axes = {name: np.array(values) for name, values in design.grid.items()}
        self.mean = self._table(found, "mean")
        self.error = self._table(found, "error")
        pairs = zip(cells, found, strict=True)
        self.failed = [(c.parameters, r["failed"]) for c, r in pairs if "failed" in r]
        self.seconds = float(sum(r["seconds"] for r in good))
        self.computed = 0

    def __repr__(self) -> str:
        axes = ", ".join(f"{name}: {len(v)}" for name, v in self.axes.items())
        return (
            f"SweepResult({axes}; {len(self.times)} times, {len(self.failed)} failed)"
        )

    def _table(self, records: list[dict], name: str) -> np.ndarray:
        rows = np.full((len(records), len(self.times)), np.nan)
        for row, record in zip(rows, records, strict=True):
            values = record.get(name, [])
            row[: len(values)] = [np.nan if v is None else v for v in values]
        return rows.reshape(*self.design.shape, len(self.times))

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of the dimensions of `mean`."""
        return (("cell",) if self.design.random else tuple(self.axes)) + ("time",)

    def save(self, path) -> pathlib.Path:
        """A Zarr store that xarray opens; it appears whole or not at all."""
        path = pathlib.Path(path)
        temporary = path.with_name(path.name + ".new")
        try:
            shutil.rmtree(temporary, ignore_errors=True)
            self._write(temporary)
            if path.exists():
                old = path.with_name(path.name + ".old")
                shutil.rmtree(old, ignore_errors=True)
                path.rename(old)
                temporary.rename(path)
                shutil.rmtree(old)
            else:
                temporary.rename(path)
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error}.") from error
        return path

    def _write(self, path: pathlib.Path) -> None:
        about: dict[str, Any] = {"statistic": json.dumps(self.design.statistic)}
        about["replicas"] = self.design.replicas
        group = zarr.open_group(path, mode="w", zarr_format=3, attributes=about)
        for name in ("mean", "error"):
            self._array(group, name, getattr(self, name), self.dimensions)
        self._array(group, "time", self.times, ("time",))
        for name, values in self.axes.items():
            dims = ("cell",) if self.design.random else (name,)
            self._array(group, name, values, dims)
        with warnings.catch_warnings():  # consolidation is young in Zarr v3
            warnings.simplefilter("ignore")
            zarr.consolidate_metadata(path)

    @staticmethod
    def _array(group: Any, name: str, values: np.ndarray, dims) -> None:
        if values.dtype.kind == "U":  # names of models and the like
            group.attrs[f"{name}_names"] = list(map(str, values))
            values = np.arange(len(values))
        made = group.create_array(
            name, shape=values.shape, dtype=values.dtype, dimension_names=dims
        )
        made[...] = values
