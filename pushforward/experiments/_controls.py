"""What a person may change, declared once: label, help, range, default, choices.

The server of the explorer brings whatever arrives into these ranges, its page draws its
inputs from them, and help texts quote them.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from pushforward.experiments._options import MODELS, STARTS

FILE, RECORDED = "file", "recorded"  # a start and a "model" that are given, not made
GIVEN = "experiment"  # the "model" of a run that no controls make


@dataclasses.dataclass(frozen=True)
class Choice:
    """One value that a control can take."""

    value: Any
    label: str
    formula: str = ""


@dataclasses.dataclass(frozen=True)
class Control:
    """One number, word or switch of an experiment; `name` is its dotted name there."""

    key: str
    name: str
    label: str
    help: str
    default: Any
    kind: str = "number"  # number, whole, choice or flag
    low: float | None = None
    high: float | None = None
    scale: str = "linear"  # how a slider runs: linear or log
    choices: tuple[Choice, ...] = ()

    def brought(self, asked: object) -> tuple[Any, str]:
        """The nearest value in range, and why it is another one ("" if it is not).

        >>> CONTROLS["n"].brought(1e9)
        (4096, 'must lie in [1, 4096]')
        """
        if self.choices:
            known = [choice.value for choice in self.choices]
            if isinstance(asked, str | bool) and asked in known:
                return asked, ""
            return self.default, f"must be one of {', '.join(map(str, known))}"
        value = _number(asked)
        if math.isnan(value) or self.low is None or self.high is None:
            return self.default, "not a number"
        used = min(max(value, self.low), self.high)
        if used != value:
            why = f"must lie in [{self.low:g}, {self.high:.10g}]"
            return (int(used) if self.kind == "whole" else used), why
        if self.kind != "whole":
            return used, ""
        return round(used), "" if round(used) == used else "must be a whole number"


def _number(asked: object) -> float:
    if isinstance(asked, bool) or not isinstance(asked, int | float):
        return math.nan
    try:
        return float(asked)
    except OverflowError:
        return math.inf if asked > 0 else -math.inf


def _choices(named: dict) -> tuple[Choice, ...]:
    return tuple(Choice(key, one.label, one.formula) for key, one in named.items())


def _words(**labels: str) -> tuple[Choice, ...]:
    return tuple(Choice(value, label) for value, label in labels.items())


def _number_control(key, name, label, help, default, low, high, scale="linear"):
    return Control(key, name, label, help, default, "number", low, high, scale)


def _whole_control(key, name, label, help, default, low, high, scale="linear"):
    return Control(key, name, label, help, default, "whole", low, high, scale)


def _choice_control(key, name, label, help, default, choices):
    kind = "flag" if isinstance(default, bool) else "choice"
    return Control(key, name, label, help, default, kind, choices=choices)


_ALL = (
    _choice_control(
        "model",
        "field",
        "Model",
        "The dynamics.",
        "sa",
        (
            *_choices(MODELS),
            Choice(RECORDED, "Recorded layers"),
            Choice(GIVEN, "As its text says"),
        ),
    ),
    _number_control(
        "beta",
        "field.beta",
        "Inverse temperature β",
        "How selective attention is; below zero tokens look at those least like them.",
        9.0,
        -1e4,
        1e4,
        "log",
    ),
    _whole_control("n", "start.n", "Tokens n", "Number of tokens.", 64, 1, 4096, "log"),
    _whole_control(
        "d",
        "start.d",
        "Dimension d",
        "Tokens live on the unit sphere of R^d; 2 is the circle.",
        3,
        2,
        512,
        "log",
    ),
    _choice_control(
        "norm",
        "field",
        "Layer norm",
        "Where normalization sits, which decides how fast a token moves.",
        "post",
        _words(
            post="post-LN: the sphere",
            unit="nGPT: unit speed",
            depth="LN-scaling: slower with depth",
        ),
    ),
    _number_control(
        "perceptron",
        "field",
        "Perceptron",
        "Adds c relu(x): every token by itself is pulled to its positive coordinates.",
        0.0,
        -10.0,
        10.0,
    ),
    _whole_control(
        "heads",
        "field.heads",
        "Heads",
        "More than one draws random Q, K, V for each.",
        1,
        1,
        8,
    ),
    _number_control(
        "t1", "t1", "Final time", "Depth is time.", 20.0, 1e-6, 1e300, "log"
    ),
    _choice_control(
        "clock",
        "save",
        "Frames spread",
        "Where the frames lie in time.",
        "linear",
        _words(linear="evenly in t", log="evenly in log t"),
    ),
    _number_control(
        "noise",
        "noise.sigma",
        "Noise",
        "Brownian noise of every token, per square root of time.",
        0.0,
        0.0,
        10.0,
    ),
    _choice_control(
        "weights",
        "start",
        "Token weights",
        "How much mass each token has.",
        "equal",
        _words(equal="equal", random="random"),
    ),
    _choice_control(
        "init",
        "start",
        "Start",
        "How the tokens start.",
        "uniform",
        (*_choices(STARTS), Choice(FILE, "your file")),
    ),
    _whole_control(
        "seed", "seed", "Seed", "The seed of everything random.", 0, 0, 2**32 - 1
    ),
    _choice_control(
        "solver",
        "solver",
        "Solver",
        "Steps of fixed size h, or as the accuracy asks.",
        "adaptive",
        _words(
            adaptive="adaptive ODE", layers="layers of step h", heun="Heun of step h"
        ),
    ),
    _number_control(
        "h",
        "solver.h",
        "Step h",
        "Of layers and of Heun; one layer adds h times the attention.",
        0.1,
        1e-4,
        10.0,
        "log",
    ),
    _whole_control(
        "frames", "save", "Frames", "How many moments are kept.", 201, 2, 1001, "log"
    ),
    _choice_control(
        "merge",
        "merge",
        "Merge coincident tokens",
        "Tokens that have met go on as one: times up to e^beta and beyond.",
        False,
        (Choice(False, "no"), Choice(True, "yes")),
    ),
    _choice_control(
        "dtype",
        "dtype",
        "Precision",
        "Double, or single precision.",
        "float64",
        _words(float64="float64", float32="float32"),
    ),
)
CONTROLS = {control.key: control for control in _ALL}
