"""Dotted names: `field.beta`, `start.n`, `field.heads[1].V`, `noise.sigma`.

A name follows constructor parameters, list indices and dictionary keys. A value is
replaced by calling the constructors again, so that everything is checked anew.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pushforward.errors import InputError

PART = re.compile(r"([A-Za-z_]\w*)((?:\[\d+(?:\s*,\s*\d+)*\])*)")


def steps(name: str) -> list[str | tuple[int, ...]]:
    """The parts of a dotted name: words, and indices as tuples."""
    found: list[str | tuple[int, ...]] = []
    for part in str(name).split("."):
        match = PART.fullmatch(part)
        if match is None:
            raise InputError(
                f"{name!r} is not a dotted name such as field.beta or field.heads[1].V."
            )
        found.append(match[1])
        for inside in re.findall(r"\[([^\]]*)\]", match[2]):
            found.append(tuple(int(k) for k in inside.split(",")))
    return found


def parameters(value: object) -> tuple[str, ...]:
    """The names below a value: constructor parameters that it keeps as attributes."""
    if not (isinstance(value, eqx.Module) or hasattr(value, "__dataclass_fields__")):
        return ()
    kind: Any = type(value)  # mypy takes a class for unhashable
    return tuple(name for name in _arguments(kind) if hasattr(value, name))


@functools.cache
def _arguments(kind: type) -> tuple[str, ...]:
    """Asked for once per class: a sweep varies thousands of experiments."""
    return tuple(inspect.signature(kind).parameters)


def read(root: object, name: str) -> Any:
    """The value that stands at a dotted name."""
    value = root
    for k, step in enumerate(parts := steps(name)):
        value = _child(value, step, name, parts[:k])
    return value


def replaced(root: Any, name: str, new: object) -> Any:
    """The same object with another value at a dotted name."""
    return _replaced(root, steps(name), new, name)


def _replaced(value: Any, rest: list, new: object, name: str) -> Any:
    if not rest:
        return new
    step, *below = rest
    child = _child(value, step, name, [])
    fresh = _replaced(child, below, new, name)
    if isinstance(step, tuple):
        if isinstance(value, list | tuple):
            items = list(value)
            items[step[0]] = fresh
            return type(value)(items)
        return jnp.asarray(value).at[step].set(fresh)
    if isinstance(value, Mapping):
        return {**value, step: fresh}
    arguments = {key: getattr(value, key) for key in parameters(value)}
    return type(value)(**(arguments | {step: fresh}))


def _child(value: Any, step, name: str, before: list) -> Any:
    if isinstance(step, tuple):
        try:
            one = isinstance(value, list | tuple)
            return value[step[0]] if one else jnp.asarray(value)[step]
        except (TypeError, IndexError) as error:
            at = list(step) if len(step) > 1 else step[0]
            raise InputError(f"`{name}`: there is no entry {at} there.") from error
    known = tuple(value) if isinstance(value, Mapping) else parameters(value)
    if step in known:
        return value[step] if isinstance(value, Mapping) else getattr(value, step)
    raise InputError(f"`{name}`: {unknown(step, known, type(value).__name__)}")


def unknown(word: object, known: tuple[str, ...], what: str) -> str:
    """What a message says of a name that is not there, with the nearest that is."""
    near = difflib.get_close_matches(str(word), known, n=1, cutoff=0.5)
    if near:
        return f"{what} has no {word!r}. Did you mean {near[0]!r}?"
    listing = ", ".join(sorted(known)[:12]) or "nothing that could be set"
    return f"{what} has no {word!r}; it has {listing}."


def numbers(root: object, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every number below an object, by dotted name; arrays as they are."""
    if isinstance(root, bool) or root is None or isinstance(root, str):
        return
    if isinstance(root, int | float | np.generic | np.ndarray | jax.Array):
        yield prefix, root
    elif isinstance(root, Mapping):
        for key, value in root.items():
            yield from numbers(value, _join(prefix, key))
    elif isinstance(root, list | tuple):
        for k, value in enumerate(root):
            yield from numbers(value, f"{prefix}[{k}]")
    else:
        for key in parameters(root):
            yield from numbers(getattr(root, key), _join(prefix, key))


def _join(prefix: str, key: str) -> str:
    return f"{prefix}.{key}" if prefix else key
