"""What a picture of a sweep shows: two axes, a time, and a curve of the theory."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import numpy as np

from pushforward import theory
from pushforward.errors import InputError
from pushforward.experiments import Experiment, unknown


@dataclasses.dataclass(frozen=True)
class Curve:
    """A function of `pushforward.theory`, drawn as x over the values of the y axis.

    `function` is its dotted name, such as "stability.critical_noise". Its arguments are
    those given here; the one named like the y axis takes the values of that axis, and
    n and d are the experiment's.
    """

    function: str
    arguments: dict[str, Any] = dataclasses.field(default_factory=dict)
    label: str = ""

    def __post_init__(self) -> None:
        self._function()

    def _function(self):
        where: Any = theory
        for word in str(self.function).split("."):
            known = tuple(name for name in dir(where) if not name.startswith("_"))
            if word not in known:
                why = unknown(word, known, "`pushforward.theory`")
                raise InputError(f"the curve {self.function!r}: {why}")
            where = getattr(where, word)
        if not callable(where):
            raise InputError(f"the curve {self.function!r} is not a function.")
        return where

    def points(self, y: str, values: np.ndarray, run: Any) -> tuple[Any, Any]:
        """x and y of the curve, where the theory has a value."""
        function, axis = self._function(), y.split(",")[0].split(".")[-1].strip()
        wanted = inspect.signature(function).parameters
        if axis not in wanted:
            raise InputError(
                f"the curve {self.function!r} has no argument {axis!r}, the y axis."
            )
        fixed = {k: v for k, v in (sizes(run) | self.arguments).items() if k in wanted}
        found = []
        for value in np.linspace(values.min(), values.max(), 120):
            try:
                found.append((float(function(**{axis: value}, **fixed)), value))
            except InputError:  # outside of what the theory covers
                continue
        kept = np.array([pair for pair in found if np.isfinite(pair[0])])
        return (kept[:, 0], kept[:, 1]) if len(kept) else (kept, kept)


@dataclasses.dataclass(frozen=True)
class Picture:
    """Which axes a picture has (the longest unless given), when, and what on top."""

    x: str | None = None
    y: str | None = None
    time: float | None = None
    curves: tuple[Curve, ...] = ()

    @classmethod
    def of(cls, table: dict[str, Any]) -> Picture:
        """From the table [picture] of a design."""
        known = ("x", "y", "time", "curves")
        for name in table:
            if name not in known:
                raise InputError(f"[picture]: {unknown(name, known, 'a picture')}")
        curves = table.get("curves", [])
        if not isinstance(curves, list) or not all(
            isinstance(c, dict) and "function" in c for c in curves
        ):
            raise InputError(
                "`curves` must be a list of tables such as {function = "
                f'"stability.critical_noise"}}, got {curves!r}.'
            )
        made = [
            Curve(
                c["function"],
                {k: v for k, v in c.items() if k not in ("function", "label")},
                c.get("label", c["function"]),
            )
            for c in curves
        ]
        return cls(table.get("x"), table.get("y"), table.get("time"), tuple(made))


def sizes(run: Any) -> dict[str, Any]:
    """n and d of an experiment, or of options."""
    if not isinstance(run, Experiment):
        usual = {"n": 64, "d": 3}
        return {name: run.get(name, value) for name, value in usual.items()}
    names = {"n": "start.n", "d": "start.d"}
    known = run.numbers()
    return {key: known[name] for key, name in names.items() if name in known}
