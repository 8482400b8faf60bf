"""Experiments as texts: a Python script that makes the same objects, bit by bit, and
TOML written for people.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import numpy as np

import pushforward
from pushforward import observables
from pushforward.errors import InputError
from pushforward.io import to_json

INDENT = "    "


def script(experiment: Any) -> str:
    """A program that makes the experiment, runs it and says how it ended."""
    imports: set[str] = set()
    made = _call(experiment, "pf.Experiment", imports, 0)
    head = sorted(imports) + ["import pushforward as pf"]
    body = [f"experiment = {made}", "trajectory = experiment.run()"]
    body.append("print(trajectory.outcome)")
    if experiment.observe:
        body.append("for name, values in trajectory.observed.items():")
        body.append("    print(name, values[-1])")
    return "\n".join([*head, "", *body, ""])


def _call(
    value: Any, name: str, imports: set[str], depth: int, exact: bool = False
) -> str:
    """name(a=..., b=...) with the arguments that differ from their defaults."""
    parts = []
    for key, parameter in inspect.signature(type(value)).parameters.items():
        given = getattr(value, key)
        if not _same(given, parameter.default, exact):
            parts.append(f"{key}={_expression(given, imports, depth + 1, exact)}")
    line = f"{name}({', '.join(parts)})"
    if len(line) + len(INDENT) * depth <= 80 and "\n" not in line:
        return line
    pad = INDENT * (depth + 1)
    inside = "".join(f"{pad}{part},\n" for part in parts)
    return f"{name}(\n{inside}{INDENT * depth})"


def _expression(value: Any, imports: set[str], depth: int, exact: bool = False) -> str:
    """`exact`: for a class of somebody else, whose constructor may convert nothing."""
    if value is None or isinstance(value, bool | int | str):
        return repr(value)
    if isinstance(value, float):  # numpy's repr names its type
        return repr(float(value)) if math.isfinite(value) else f'float("{value}")'
    if isinstance(value, np.ndarray | np.generic | jax.Array):
        return _array(value, imports, exact)
    if isinstance(value, list | tuple):
        items = [_expression(item, imports, depth, exact) for item in value]
        if exact and isinstance(value, tuple):
            return f"({', '.join(items)}{',' * (len(items) == 1)})"
        return f"[{', '.join(items)}]"
    if isinstance(value, Mapping):
        made = {k: _expression(v, imports, depth, exact) for k, v in value.items()}
        return f"{{{', '.join(f'{k!r}: {v}' for k, v in made.items())}}}"
    return _object(value, imports, depth)


def _array(value: Any, imports: set[str], exact: bool) -> str:
    array = np.asarray(value)
    plain = array.dtype in (np.float64, np.int64, np.bool_)
    if array.ndim == 0 and plain and not exact:
        return _expression(array.item(), imports, 0)
    imports.add("import numpy as np")
    ours = exact and isinstance(value, jax.Array)
    usual = value.weak_type if ours and not array.ndim else array.dtype == np.float64
    dtype = "" if usual else f", np.{array.dtype}"
    text = repr(array.tolist())
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        text = text.replace("inf", "np.inf").replace("nan", "np.nan")
    if ours:
        imports.add("import jax.numpy as jnp")
        return f"jnp.array({text}{dtype})"
    return f"np.array({text}{dtype})"


def _object(value: Any, imports: set[str], depth: int) -> str:
    function = inspect.isroutine(value) or (
        callable(value) and hasattr(value, "__qualname__")
    )
    kind = value if function else type(value)
    name = getattr(kind, "__name__", "")
    if name in pushforward.public_names() and getattr(pushforward, name) is kind:
        where = f"pf.{name}"
    elif vars(observables).get(name) is kind:
        where = f"pf.observables.{name}"
    elif getattr(jax.nn, name, None) is kind:
        imports.add("import jax")
        where = f"jax.nn.{name}"
    elif kind.__module__.startswith("diffrax"):
        imports.add("import diffrax")
        return f"diffrax.{name}()"
    elif "<" in kind.__qualname__:
        raise InputError(
            f"{kind.__qualname__} is defined inside a function: put it at the top of a "
            "module, then Python can import it."
        )
    else:
        module, folder = kind.__module__, ".".join(kind.__module__.split(".")[:2])
        ours = module.startswith("pushforward.")
        if ours and vars(importlib.import_module(folder)).get(name) is kind:
            module = folder  # what a folder exports, not its files
        imports.add(f"from {module} import {kind.__qualname__.split('.')[0]}")
        where = kind.__qualname__
    if function:
        return where
    exact = not where.startswith("pf.")  # as a store has it: bits are those of the run
    if exact and "fields" in (stored := to_json(value)):
        # its constructor changes what it is given: put together from its attributes
        own = ", ".join(_own_names(stored, imports))
        imports.add("import json")  # which knows infinities
        text = f"json.loads({json.dumps(stored)!r})"
        return f"pf.io.from_json({text}, classes=[{own}])"
    return _call(value, where, imports, depth, exact)


def _own_names(stored: Any, imports: set[str]) -> list[str]:
    """What a stored object is made of, imported: `module:Name` wherever one stands."""
    found = []
    if isinstance(stored, dict):
        word = stored.get("class", stored.get("function"))
        if isinstance(word, str) and not word.startswith("pushforward."):
            module, _, name = word.partition(":")
            imports.add(f"from {module} import {name.split('.')[0]}")
            found.append(name)
    inside = stored.values() if isinstance(stored, dict) else stored
    for item in inside if isinstance(stored, dict | list) else ():
        found += [n for n in _own_names(item, imports) if n not in found]
    return found


def _same(value: Any, default: Any, exact: bool) -> bool:
    if default is inspect.Parameter.empty:
        return False
    if exact and isinstance(value, np.ndarray | np.generic | jax.Array):
        return False
    if value is None or default is None:
        return value is default
    if isinstance(value, np.ndarray | jax.Array):
        return (
            np.ndim(value) == 0
            and isinstance(default, int | float)
            and bool(value == default)
        )
    if isinstance(value, Mapping) and not value:
        return True
    try:
        return bool(value == default) and type(value) is type(default)
    except (TypeError, ValueError):
        return False


BARE = re.compile(r"[A-Za-z0-9_-]+")
WIDTH = 80


def parsed(text: str) -> dict[str, Any]:
    """The table of a TOML text."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, TypeError, AttributeError) as error:
        raise InputError(f"this is not TOML: {error}.") from error


def written(table: dict[str, Any]) -> str:
    """A table as TOML: numbers and words first, then tables."""
    return "\n".join(_lines(table, "")).strip() + "\n"


def _lines(table: dict[str, Any], path: str) -> Iterator[str]:
    later = {}
    for key, value in table.items():
        if isinstance(value, dict) or _is_tables(value):
            later[key] = value
        else:
            yield f"{_key(key)} = {_value(value)}"
    for key, value in later.items():
        where = f"{path}.{_key(key)}" if path else _key(key)
        if isinstance(value, dict):
            yield from ("", f"[{where}]")
            yield from _lines(value, where)
        else:
            for item in value:
                yield from ("", f"[[{where}]]")
                yield from _lines(item, where)


def _is_tables(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) for item in value)
    )


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isinf(value) or math.isnan(value):
            return str(value)
        return repr(float(value))  # numpy's repr names its type
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        items = [_value(item) for item in value]
        line = f"[{', '.join(items)}]"
        nested = any(isinstance(item, list) for item in value)
        if len(line) <= WIDTH or not nested:
            return line
        return "[\n" + "".join(f"  {item},\n" for item in items) + "]"
    if isinstance(value, dict):  # within a list of mixed things
        inside = ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items())
        return f"{{{inside}}}"
    raise InputError(f"{value!r} cannot be written as TOML.")
