"""What a sweep computes: fixed parameters, axes, a statistic, replicas."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import pathlib
import tomllib
from collections.abc import Mapping
from typing import Any

import numpy as np

from pushforward._checks import listed, whole
from pushforward.errors import InputError, StoreError
from pushforward.experiments import Experiment, options, unknown
from pushforward.sweeps._cells import Cell
from pushforward.sweeps._curves import Picture
from pushforward.sweeps._statistics import checked_statistic

EXAMPLE = """statistic = "close"
replicas = 16
[run]
n = 32
[grid]
beta = {from = 0.1, to = 9.0, count = 30}"""
OPTIONS = tuple(inspect.signature(options).parameters)


@dataclasses.dataclass(frozen=True)
class Design:
    """A grid (or random points) over any numbers of an experiment.

    - `run`: an `Experiment`, whose numbers the axes reach by dotted names; or options
      of `pushforward simulate` that stay fixed, and the axes are options as well.
    - `grid`: name -> values; every combination is a cell. "field.beta,
      observe.energy.beta" is one axis that sets two numbers.
    - `statistic`: an observable by name ("close", "clusters", "mean_cosine", ...), the
      name of one that the experiment observes, {"kind": ..., parameters}, a function of
      a measure, or a claim of a study, {"study": "perspective", "claim": "..."}.
    - `replicas`: independent starts per cell; all cells share them. Replica r is the
      experiment with its seed raised by r.
    - `random`: (count, seed): that many random cells instead of the full grid; then an
      axis is a pair (low, high), drawn evenly, or in the logarithm with "log".
    - `picture`: which axes to draw, and which curve of the theory on top.
    - `classes`: classes and functions of your own that the experiment uses.

    >>> Design({"n": 8}, {"beta": [1.0, 4.0], "d": [2, 3]}, "mean_cosine").cells()[0]
    {'n': 8, 'beta': 1.0, 'd': 2}
    """

    run: Mapping[str, Any] | Experiment
    grid: Mapping[str, Any]
    statistic: Any = "close"
    replicas: int = 1
    random: tuple[int, int] | None = None
    picture: Picture = Picture()
    classes: tuple = ()

    def __post_init__(self) -> None:
        whole("replicas", self.replicas, 1)
        if not isinstance(self.run, Experiment | Mapping):
            raise InputError(
                f"`run` must be an Experiment or a dict of options, got {self.run!r}."
            )
        by_name = isinstance(self.grid, Mapping)
        if not by_name or not all(isinstance(name, str) for name in self.grid):
            raise InputError(
                f"`grid` must be a dict from names to values, got {self.grid!r}."
            )
        if not self.grid:
            raise InputError("`grid` has no axis. For example: grid={'beta': [1, 4]}.")
        full = checked_statistic(self.statistic, self.run, self.classes)
        object.__setattr__(self, "statistic", full)
        self._check_names()
        once = self.random is None
        axes = {k: _axis(k, v, once) for k, v in self._axes()}
        object.__setattr__(self, "grid", axes)

    def _check_names(self) -> None:
        """Every name is known before anything is computed."""
        if "claim" in self.statistic:
            return  # parameters of a study: the study checks them
        if isinstance(self.run, Experiment):
            for names in self.grid:
                for name in names.split(","):
                    self.run.read(name.strip())
            return
        twice = set(self.run) & set(self.grid)
        if twice:
            raise InputError(f"{sorted(twice)[0]!r} is both fixed and an axis.")
        for name in (*self.run, *self.grid):
            if name not in OPTIONS:
                raise InputError(unknown(name, OPTIONS, "`pushforward simulate`"))

    def _axes(self):
        if self.random is None:
            return self.grid.items()
        pair = listed("random", self.random, "two numbers, (count, seed)")
        if len(pair) != 2:
            raise InputError(f"`random` must be (count, seed), got {self.random!r}.")
        count = whole("count", pair[0], 1, "It is a number of random cells.")
        generator = np.random.default_rng(whole("seed", pair[1], 0))
        return [(k, _drawn(k, v, generator, count)) for k, v in self.grid.items()]

    def cells(self) -> list[dict[str, Any]]:
        """The parameters of every cell, the last axis fastest."""
        join = zip if self.random else itertools.product
        fixed = {} if isinstance(self.run, Experiment) else dict(self.run)
        return [
            fixed | dict(zip(self.grid, values, strict=True))
            for values in join(*self.grid.values())
        ]

    def work(self) -> list[Cell]:
        """Every cell with all that its value depends on."""
        base = self.run.to_dict() if isinstance(self.run, Experiment) else None
        return [Cell(c, self.statistic, self.replicas, base) for c in self.cells()]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the table of cells."""
        lengths = tuple(len(values) for values in self.grid.values())
        return lengths[:1] if self.random else lengths

    @classmethod
    def from_toml(cls, path, classes=()) -> Design:
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
        return cls.from_dict(text, path, classes)

    @classmethod
    def from_dict(cls, text: dict, path, classes=()) -> Design:
        """A design from the tables of a file; `path` is the file, for messages."""
        known = "statistic replicas run experiment grid random picture".split()
        for name in text:
            if name not in known:
                why = unknown(name, tuple(known), "a design")
                raise InputError(f"{path}: {why} Example:\n{EXAMPLE}")
        if "grid" not in text:
            raise InputError(f"{path} has no [grid]. Example:\n{EXAMPLE}")
        draw = text.get("random")
        return cls(
            _run(text, path, classes),
            _table("grid", text["grid"]),
            text.get("statistic", "close"),
            text.get("replicas", 1),
            None if draw is None else (draw.get("count", 0), draw.get("seed", 0)),
            Picture.of(_table("picture", text.get("picture", {}))),
            tuple(classes),
        )


def _run(text: dict, path, classes) -> Mapping[str, Any] | Experiment:
    """Options, or an experiment: a table, or the name of a file beside the design."""
    if "experiment" not in text:
        return _table("run", text.get("run", {}))
    if "run" in text:
        raise InputError(f"{path} has both [run] and [experiment]: keep one.")
    given = text["experiment"]
    if not isinstance(given, str):
        return Experiment.from_dict(_table("experiment", given), classes=classes)
    beside = pathlib.Path(path).parent / given
    try:
        return Experiment.from_toml(beside.read_text(), classes=classes)
    except OSError as error:
        raise StoreError(f"cannot read {beside}: {error}.") from error


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
