"""Experiments as plain data that a person can write: kinds, numbers, lists.

The form is that of `io.to_json` made readable: `type` is called `kind`, arrays are
lists, and what has its default value is left out. Reading checks every name before
anything is made, and says which entry is wrong and what was perhaps meant.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

import pushforward
from pushforward import observables
from pushforward.errors import InputError
from pushforward.experiments._names import unknown
from pushforward.io import exported, from_json, named, to_json

NAMED = ("activation", "scheme")  # words alone, where a parameter is called so
EXACT = {"array", "tuple", "dict", "class", "function"}  # forms of `to_json` kept as is


def tree(value: Any) -> dict[str, Any]:
    """The arguments of an object that differ from their defaults, as plain data."""
    found = {}
    for name, parameter in inspect.signature(type(value)).parameters.items():
        plain = _readable(to_json(getattr(value, name)), name)
        if not _is_default(plain, parameter):
            found[name] = plain
    return found


def arguments(cls: type, given: Mapping[str, Any], classes=()) -> dict[str, Any]:
    """Constructor arguments from plain data, every name checked first."""
    if not isinstance(given, Mapping):
        raise InputError(f"an experiment must be a table, got {given!r}.")
    known = tuple(inspect.signature(cls).parameters)
    catalogue = _catalogue(classes)
    stored = {}
    for name, value in given.items():
        if name not in known:
            raise InputError(f"{unknown(name, known, 'an experiment')}")
        if name in PARTS:
            _check_part(name, value)
        stored[name] = _stored(value, name, catalogue)
    for name, parameter in inspect.signature(cls).parameters.items():
        required = parameter.default is inspect.Parameter.empty
        factory = name == "observe"  # a dictionary, empty unless given
        if required and not factory and name not in stored:
            raise InputError(f"the experiment has no `{name}`. {EXAMPLE}")
    return {name: _built(value, name, classes) for name, value in stored.items()}


def plain(value: Any) -> Any:
    """Any object of an experiment as readable plain data."""
    return _readable(to_json(value))


def made(given: Any, path: str, classes=()) -> Any:
    """The object of readable plain data; `path` is where it stands, for messages."""
    return _built(_stored(given, path, _catalogue(classes)), path, classes)


def _built(stored: Any, path: str, classes) -> Any:
    """The object; where it cannot be made, the message says which part of it."""
    try:
        return from_json(stored, classes=classes)
    except InputError as error:
        inside = stored.items() if isinstance(stored, dict) else ()
        inner = [(f"{path}.{key}", value) for key, value in inside]
        if isinstance(stored, list):
            inner = [(f"{path}[{k}]", value) for k, value in enumerate(stored)]
        for where, value in inner:
            if isinstance(value, dict | list):
                _built(value, where, classes)  # raises, if it is this one
        if not isinstance(stored, dict):
            raise
        made = _find(stored.get("type", stored.get("observable")), _catalogue(classes))
        raise error.within(path, _parameters(made) if made else ()) from error


def _check_part(name: str, value: Any) -> None:
    """A start or a field is a table with its kind, not a word or a number."""
    if isinstance(value, Mapping) and ("kind" in value or _is_exact(value)):
        return
    if value is None:
        return
    example = f'kind = "{PARTS[name]}"'
    if isinstance(value, Mapping):
        raise InputError(f"`{name}.kind` is missing. Write for example {example}.")
    raise InputError(
        f"`{name}` must be a table with its kind, got {value!r}. Write for example "
        f"{name} = {{{example}}}, with its parameters."
    )


# What stands in a table of its own, and for example which.
PARTS = {
    "start": "Uniform",
    "field": "Attention",
    "solver": "Heun",
    "merge": "Merge",
    "noise": "Brownian",
}
EXAMPLE = """For example:
t1 = 20.0
[start]
kind = "Uniform"
n = 64
d = 3
[field]
kind = "Attention"
beta = 9.0"""


def _readable(stored: Any, name: str = "") -> Any:
    """What `to_json` wrote of the parameter `name`, in words a person would choose."""
    if isinstance(stored, list):
        return [_readable(item) for item in stored]
    if not isinstance(stored, dict):
        return stored
    if name in NAMED and set(stored) == {name}:
        return stored[name]
    if "array" in stored:
        return _readable_array(stored)
    if "function" in stored:
        return {"kind": stored["function"]}
    if "class" in stored and "kind" not in stored.get("arguments", {"kind": None}):
        inside = {k: _readable_own(v, k) for k, v in stored["arguments"].items()}
        return {"kind": stored["class"]} | inside
    if _is_exact(stored):
        return stored
    made = stored.get("type", stored.get("observable"))
    if made is None:
        return {key: _readable(value) for key, value in stored.items()}
    cls = _find(made, _catalogue(()))
    defaults = {} if cls is None or inspect.isroutine(cls) else _parameters(cls)
    found = {"kind": made}
    for key, value in stored.items():
        plain = _readable(value, key)
        if key in ("type", "observable") or plain is None:
            continue
        if key in defaults and _is_default(plain, defaults[key]):
            continue
        found[key] = plain
    return found


def _is_exact(value: Mapping[str, Any]) -> bool:
    """Whether a table is a value as `to_json` writes it, and no object's."""
    if "kind" in value:
        return False
    return bool(EXACT & set(value)) or any(set(value) == {word} for word in NAMED)


def _readable_own(stored: Any, name: str) -> Any:
    """An argument of a user's class, which may convert nothing: arrays stay arrays."""
    if isinstance(stored, dict) and stored.get("array") and stored.get("jax"):
        return _readable_array(stored) if stored["shape"] else stored
    if isinstance(stored, list) or (isinstance(stored, dict) and "array" in stored):
        return stored
    return _readable(stored, name)


def _stored_own(value: Any, path: str, catalogue: dict) -> Any:
    if isinstance(value, list) and value and np.asarray(value).dtype.kind in "fi":
        array = np.asarray(value, float)
        flat, shape = array.ravel().tolist(), list(array.shape)
        return {"array": flat, "shape": shape, "dtype": "float64", "jax": True}
    return _stored(value, path, catalogue)


def _readable_array(stored: dict) -> Any:
    if stored["dtype"] != "float64":
        return stored
    return np.reshape(stored["array"], stored["shape"]).tolist()


def _is_default(plain: Any, parameter: inspect.Parameter) -> bool:
    if plain is None or plain == {}:  # nothing observed
        return True
    if parameter.default is inspect.Parameter.empty:
        return False
    if parameter.default is None:
        return False
    try:
        usual = _readable(to_json(parameter.default))
    except InputError:
        return parameter.name == "observe" and plain == {}
    return plain == usual and type(plain) is type(usual)


def _stored(value: Any, path: str, catalogue: dict) -> Any:
    """The form that `from_json` reads, after a look at every name."""
    if isinstance(value, list):
        return [_stored(v, f"{path}[{k}]", catalogue) for k, v in enumerate(value)]
    if isinstance(value, str):
        return _named(value, path, catalogue)
    if not isinstance(value, Mapping) or _is_exact(value):
        return value
    if "kind" not in value:
        return {k: _stored(v, f"{path}.{k}", catalogue) for k, v in value.items()}
    made = _find(value["kind"], catalogue)
    if made is None:
        raise InputError(f"`{path}.kind`: {_nearest(value['kind'], catalogue)}")
    name, function = value["kind"], inspect.isroutine(made)
    known = () if function else tuple(_parameters(made))
    read = _stored_own if ":" in name else _stored
    inside = {}
    for key, item in value.items():
        if key == "kind":
            continue
        if key not in known:
            raise InputError(f"`{path}.{key}`: {unknown(key, known, name)}")
        inside[key] = read(item, f"{path}.{key}", catalogue)
    for key in () if function else _required(made):
        if key not in inside:
            raise InputError(f"`{path}.{key}` is missing: {name} needs it.")
    if ":" in name:
        return {"function": name} if function else {"class": name, "arguments": inside}
    return {"observable" if name in vars(observables) else "type": name} | inside


def _named(value: str, path: str, catalogue: dict) -> Any:
    """A word: an activation, a scheme, an observable without parameters, or a word."""
    last = path.rsplit(".", 1)[-1]
    if last in NAMED:
        return {last: value}
    if path.startswith("observe.") or path == "until":
        return _stored({"kind": value}, path, catalogue)
    return value


def _catalogue(classes) -> dict[str, Any]:
    """Everything that a text may name."""
    public = {name: None for name in pushforward.public_names()}
    looked_at = {
        name: made
        for name, made in vars(observables).items()
        if not name.startswith("_") and callable(made)
    }
    return public | looked_at | named(classes)


def _find(name: object, catalogue: dict) -> Any:
    """What a name means; of the public names only classes make values."""
    if not isinstance(name, str):
        return None
    if name not in catalogue:
        return exported(name)
    if catalogue[name] is not None:
        return catalogue[name]
    found = getattr(pushforward, name)
    return found if inspect.isclass(found) else None


def _nearest(name: object, catalogue: dict) -> str:
    if isinstance(name, str) and ":" in name:
        return (
            f"{name!r} is a class of your own: load with classes=[{name.split(':')[1]}]"
            ", or name its module with --classes."
        )
    near = difflib.get_close_matches(str(name), tuple(catalogue), n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"nothing is called {name!r}.{hint}"


def _required(cls: Any) -> list[str]:
    parameters = _parameters(cls).values()
    return [
        p.name for p in parameters if p.default is p.empty and p.kind < p.VAR_POSITIONAL
    ]


def _parameters(cls: Any) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(cls).parameters)
