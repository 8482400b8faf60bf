"""Classes and functions of the user's own, by name: nothing is imported to find them.

A run says `package.module:Pull`. Whoever loads it names what may be used,
`pf.load(path, classes=[Pull])`; a name that was not given is never looked up.
"""

import dataclasses
import importlib
import inspect
import json
import pathlib
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import equinox as eqx

import pushforward
from pushforward.errors import InputError
from pushforward.fields import AbstractField

STUDIES = "pushforward.studies."


class UnknownNameError(InputError):
    """A class or function, `name`, that the caller has not named."""

    def __init__(self, name: str) -> None:
        self.name = name
        last = name.rpartition(":")[2].rpartition(".")[2]
        InputError.__init__(
            self,
            f"{name!r} was made elsewhere, and nothing is imported to find it. Import "
            f"{last} yourself and name it: classes=[{last}].",
        )


def qualified_name(value: Any) -> str:
    """`module:QualName` of a class or a function.

    What a script defines has the name that it has where the script is imported, so that
    a run may be loaded elsewhere; a notebook has none, and is `__main__`.

    >>> qualified_name(json.dumps)
    'json:dumps'
    """
    module = _as_imported(getattr(value, "__module__", None))
    name = getattr(value, "__qualname__", None)
    bound = inspect.ismethod(value) and not inspect.isclass(value.__self__)
    if not module or not name or bound or "<lambda>" in name:
        raise InputError(
            f"{value!r} cannot be stored: it has no public name and none of its own. "
            "Define it by `def` or `class`, and it is stored by that name."
        )
    return f"{module}:{name}"


def _as_imported(module: str | None) -> str | None:
    """`pull` of `python pull.py` and of processes it starts, and `a.b` of `-m a.b`."""
    if module not in ("__main__", "__mp_main__"):
        return module
    script = sys.modules.get(module)
    spec = getattr(script, "__spec__", None)
    if spec is not None:
        return str(spec.name).removesuffix(".__main__")
    path = getattr(script, "__file__", None)
    return pathlib.PurePath(path).stem if path else "__main__"


def named(classes: Iterable[Any]) -> dict[str, Any]:
    """The classes and functions that a caller lets a specification use."""
    try:
        given = list(classes)
    except TypeError as error:  # a number, also one that numpy calls an array
        raise InputError(
            f"`classes` must be a list such as [Pull], got {classes!r}."
        ) from error
    found = {}
    for one in given:
        if isinstance(one, str) or not callable(one):
            raise InputError(
                f"`classes` must hold classes and functions themselves, got {one!r}."
            )
        found[qualified_name(one)] = one
    return found


def find(name: object, known: Mapping[str, Any]) -> Any:
    """What the caller named, or a class that a folder of this package exports."""
    if isinstance(name, str) and name in known:
        return known[name]
    module, _, own = str(name).partition(":")
    if module == "__main__":  # of a notebook, which later became a module
        alike = [one for given, one in known.items() if given.partition(":")[2] == own]
        if len(alike) == 1:
            return alike[0]
    if (ours := exported(name)) is not None:
        return ours
    raise UnknownNameError(str(name))


def exported_name(cls: type) -> str | None:
    """`pushforward.fields:Background`, if a folder of this package exports it."""
    own = cls.__module__.startswith(STUDIES)
    folder = cls.__module__ if own else ".".join(cls.__module__.split(".")[:2])
    name = f"{folder}:{cls.__name__}"
    return name if exported(name) is cls else None


def exported(name: object) -> type | None:
    """The class of a name such as `pushforward.fields:Background`, if there is one.

    Those that a study made for itself count: whoever has its run can read it.
    """
    module, _, last = str(name).partition(":")
    folder = module.removeprefix("pushforward.")
    ours = module != folder and folder in pushforward.FOLDERS
    if not (ours or re.fullmatch(rf"{STUDIES}\w+\.\w+", module)) or last[:1] == "_":
        return None
    try:
        value = vars(importlib.import_module(module)).get(last)
    except ModuleNotFoundError:
        return None
    ours = inspect.isclass(value) and issubclass(value, eqx.Module)
    return value if ours and value.__module__.startswith("pushforward.") else None


def parameters(cls: type) -> tuple[str, ...] | None:
    """The names of a constructor's arguments; None if they cannot all be named."""
    try:
        found = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in found):
        return None
    return tuple(p.name for p in found)


def attributes(value: Any) -> dict[str, Any]:
    """What an object is made of: the fields of a dataclass, or its attributes."""
    if not dataclasses.is_dataclass(value):
        return dict(getattr(value, "__dict__", {}))
    names = [field.name for field in dataclasses.fields(value)]
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def with_attributes(cls: type, values: Mapping[str, Any]) -> Any:
    """An object made of these, without its constructor."""
    if not dataclasses.is_dataclass(cls):
        raise InputError(
            f"{cls.__name__} cannot be stored: its constructor does not give it back "
            "from its attributes. Make it an equinox module or a dataclass."
        )
    unknown = set(values) - {field.name for field in dataclasses.fields(cls)}
    if unknown:
        raise InputError(f"{cls.__name__} has no field {sorted(unknown)[0]!r}.")
    try:
        made = object.__new__(cls)
    except TypeError as error:
        raise InputError(f"cannot make {cls.__name__}: {error}.") from error
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


class Unknown(AbstractField):
    """A field of a class that the caller has not named: it prints, and does not move.

    `name` is what the run calls the class that is missing, `written` all that the run
    says about the field, as JSON.
    """

    name: str = eqx.field(static=True)
    written: str = eqx.field(static=True)

    def drive(self, t: Any, mu: Any):
        """Refused: the class was not named."""
        last = self.name.rpartition(":")[2]
        raise InputError(
            f"this field is {self.name}, which was not named when its run was loaded. "
            f"Load it with pf.load(path, classes=[{last}])."
        )

    def __repr__(self) -> str:
        about = json.loads(self.written)
        if about.get("class") != self.name:
            return f"Unknown({self.name!r} in {about.get('type', 'a field')})"
        given = about.get("arguments", about.get("fields", {}))
        shown = [f"{name}={_short(value)}" for name, value in given.items()]
        return f"Unknown({', '.join([repr(self.name), *shown])})"


def _short(value: Any) -> str:
    if not isinstance(value, dict):
        return repr(value)
    if "array" in value:
        values = value["array"]
        return repr(values[0]) if len(values) == 1 else f"array{value.get('shape')}"
    forms = ("type", "class", "function", "activation")
    return str(next((value[form] for form in forms if form in value), "..."))
