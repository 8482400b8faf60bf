"""What a sweep computes: fixed parameters, axes, a statistic, replicas."""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
import tomllib
from collections.abc import Mapping
from typing import Any

import numpy as np

from pushforward._checks import whole
from pushforward.errors import InputError, StoreError
from pushforward.sweeps._statistics import checked_statistic

EXAMPLE = """statistic = "close"
replicas = 16
[run]
n = 32
[grid]
beta = {from = 0.1, to = 9.0, count = 30}"""


@dataclasses.dataclass(frozen=True)
class Design:
    """A grid (or random points) over any parameters of a run.

    - `run`: parameters that stay fixed, by the names of `pushforward simulate`.
    - `grid`: name -> values; every combination is a cell.
    - `statistic`: an observable by name ("close", "clusters", "energy", ...), with its
      own parameters as in {"name": "clusters", "radius": 0.05}, or a claim of a study,
      {"study": "perspective", "claim": "..."}.
    - `replicas`: independent starts per cell; all cells share them.
    - `random`: (count, seed): that many random cells instead of the full grid; then an
      axis is a pair (low, high), drawn evenly, or in the logarithm with "log".

    >>> Design({"n": 8}, {"beta": [1.0, 4.0], "d": [2, 3]}, "mean_cosine").cells()[0]
    {'n': 8, 'beta': 1.0, 'd': 2}
    """

    run: Mapping[str, Any]
    grid: Mapping[str, Any]
    statistic: str | Mapping[str, Any] = "close"
    replicas: int = 1
    random: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        whole("replicas", self.replicas, 1)
        checked_statistic(self.statistic)
        if not self.grid:
            raise InputError("`grid` has no axis. For example: grid={'beta': [1, 4]}.")
        twice = set(self.run) & set(self.grid)
        if twice:
            raise InputError(f"{sorted(twice)[0]!r} is both fixed and an axis.")
        once = self.random is None
        axes = {k: _axis(k, v, once) for k, v in self._axes()}
        object.__setattr__(self, "grid", axes)

    def _axes(self):
        if self.random is None:
            return self.grid.items()
        count = whole("count", self.random[0], 1, "It is a number of random cells.")
        generator = np.random.default_rng(self.random[1])
        return [(k, _drawn(k, v, generator, count)) for k, v in self.grid.items()]

    def cells(self) -> list[dict[str, Any]]:
        """The parameters of every cell, the last axis fastest."""
        join = zip if self.random else itertools.product
        return [
            dict(self.run) | dict(zip(self.grid, values, strict=True))
            for values in join(*self.grid.values())
        ]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the table of cells."""
        lengths = tuple(len(values) for values in self.grid.values())
        return lengths[:1] if self.random else lengths

    @classmethod
    def from_toml(cls, path) -> Design:
        """A design from a file; the message of an error shows an example."""
        path = pathlib.Path(path)
        try:
            text = tomllib.loads(path.read_text())
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error}.") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{path} is not TOML: {error}. Example:\n{EXAMPLE}") from (
                error
            )
        known = {"statistic", "replicas", "run", "grid", "random"}
        unknown = sorted(set(text) - known)
        if unknown or "grid" not in text:
            what = f"unknown entry {unknown[0]!r}" if unknown else "no [grid]"
            raise InputError(f"{path} has {what}. Example:\n{EXAMPLE}")
        draw = text.get("random")
        return cls(
            _table("run", text.get("run", {})),
            _table("grid", text["grid"]),
            text.get("statistic", "close"),
            text.get("replicas", 1),
            None if draw is None else (draw.get("count", 0), draw.get("seed", 0)),
        )


def _table(name: str, value: Any) -> dict:
    if not isinstance(value, dict):
        raise InputError(f"`{name}` must be a table, got {value!r}. Write [{name}].")
    return value


def _axis(name: str, values: Any, once: bool) -> tuple:
    """The values of an axis, from a list, an array, or {from, to, count, scale}."""
    if isinstance(values, dict):
        low, high, log = _range(name, values)
        count = whole(f"{name}.count", values.get("count", 0), 1)
        values = (np.geomspace if log else np.linspace)(low, high, count)
    if isinstance(values, str) or not np.iterable(values):
        values = [values]
    plain = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
    if not plain or (once and len(set(plain)) != len(plain)):
        raise InputError(f"the axis `{name}` must have distinct values, got {plain}.")
    return plain


def _drawn(name: str, values: Any, generator, count: int) -> tuple:
    if not isinstance(values, dict):
        return tuple(
            np.asarray(list(values))[generator.integers(len(values), size=count)]
        )
    low, high, log = _range(name, values)
    u = generator.uniform(size=count)
    return tuple(low * (high / low) ** u if log else low + (high - low) * u)


def _range(name: str, values: dict) -> tuple[float, float, bool]:
    try:
        low, high = float(values["from"]), float(values["to"])
        log = {"linear": False, "log": True}[values.get("scale", "linear")]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"the axis `{name}` must be a list or {{from = 1.0, to = 9.0, count = 9, "
            f'scale = "linear" or "log"}}, got {values}.'
        ) from error
    if not low < high or (log and low <= 0):
        raise InputError(f"the axis `{name}` needs from < to (> 0 for log): {values}.")
    return low, high, log
