"""TOML: written for people, read by the standard library."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from pushforward.errors import InputError

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
