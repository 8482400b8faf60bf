"""Objects as JSON by name: what the command line, the page and runs exchange."""

import importlib
import inspect
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import pushforward
from pushforward.errors import InputError
from pushforward.io._names import (
    attributes,
    exported_name,
    find,
    named,
    parameters,
    qualified_name,
    with_attributes,
)

ACTIVATIONS = ("relu", "gelu", "tanh", "sigmoid", "softplus", "elu", "silu")
SCHEMES = ("Tsit5", "Dopri5", "Dopri8", "Bosh3")


def to_json(value: Any) -> Any:
    """A JSON value that `from_json` turns back into an equal object.

    What this package exports goes by its public name; classes and functions of your
    own go by the name of their module and their own, `module:Pull`.

    >>> to_json(Attention(9.0))["type"]
    'Attention'
    """
    return _written(value, exact=False)


def from_json(value: Any, classes: Iterable[Any] = ()) -> Any:
    """The object that `to_json` wrote. Nothing is imported, and nothing is called but
    public classes and what the caller names in `classes`."""
    return _read(value, named(classes))


def _written(value: Any, exact: bool) -> Any:
    """`exact`: as a part of a user's class, whose constructor may convert nothing."""
    if isinstance(value, Enum) and isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        items = [_written(item, exact) for item in value]
        return {"tuple": items} if exact and isinstance(value, tuple) else items
    if isinstance(value, dict):
        table = {str(name): _written(item, exact) for name, item in value.items()}
        return {"dict": table} if exact else table
    if isinstance(value, np.ndarray | np.generic | jax.Array):
        return _array_to_json(value, exact)
    name = type(value).__name__
    if type(value).__module__.startswith("diffrax") and name in SCHEMES:
        return {"scheme": name}
    for activation in ACTIVATIONS:
        if value is getattr(jax.nn, activation):
            return {"activation": activation}
    if _is_public(type(value)):
        return {"type": name} | _arguments(value, False)
    if (known := _observable_name(value)) is not None:
        arguments = {} if inspect.isroutine(value) else _arguments(value, False)
        return {"observable": known} | arguments
    return _own(value)


def _own(value: Any) -> dict[str, Any]:
    """A function or an object without a public name."""
    if inspect.isclass(value):
        raise InputError(f"{value!r} is a class: store an object of it.")
    if hasattr(value, "__qualname__"):
        return {"function": qualified_name(value)}
    cls = type(value)
    name = exported_name(cls) or qualified_name(cls)
    parts = {n: _written(v, True) for n, v in attributes(value).items()}
    arguments = _arguments(value, True)
    if arguments is not None and _rebuilds(value, list(arguments), parts):
        return {"class": name, "arguments": arguments}
    with_attributes(cls, {})  # refuses what could not be put together again
    return {"class": name, "fields": parts}


def _arguments(value: Any, exact: bool) -> Any:
    """What the constructor takes, read off the object; None where that fails."""
    names = parameters(type(value))
    if names is None or not all(hasattr(value, name) for name in names):
        return None
    return {name: _written(getattr(value, name), exact) for name in names}


def _rebuilds(value: Any, names: list[str], parts: dict[str, Any]) -> bool:
    """Whether the constructor gives the same object: it may scale what it is given."""
    try:
        again = type(value)(**{name: getattr(value, name) for name in names})
        return {n: _written(v, True) for n, v in attributes(again).items()} == parts
    except Exception:  # whatever a constructor of somebody else may raise
        return False


def _read(value: Any, known: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_read(item, known) for item in value]
    if not isinstance(value, dict):
        return value
    for form, read in _FORMS.items():
        if form in value:
            return read(value, known)
    return {name: _read(item, known) for name, item in value.items()}


def _object(value: dict, known: Mapping[str, Any]) -> Any:
    name = value["type"]
    public = isinstance(name, str) and name in pushforward.public_names()
    cls = getattr(pushforward, name) if public else None
    # Functions have public names too; a specification makes values and calls nothing.
    if not inspect.isclass(cls) or name == "Trajectory":
        raise InputError(f"unknown type {name!r} in a specification.")
    given = {k: _read(v, known) for k, v in value.items() if k != "type"}
    return _made(cls, given)


def _made(cls: type, given: dict[str, Any]) -> Any:
    unknown = set(given) - set(parameters(cls) or ())
    if unknown:
        raise InputError(f"{cls.__name__} has no parameter {sorted(unknown)[0]!r}.")
    try:
        return cls(**given)
    except TypeError as error:
        raise InputError(
            f"cannot make {cls.__name__} from {given}: {error}."
        ) from error


def _own_object(value: dict, known: Mapping[str, Any]) -> Any:
    cls = find(value["class"], known)
    if not inspect.isclass(cls):
        raise InputError(f"{value['class']!r} is not a class.")
    form = "arguments" if "arguments" in value else "fields"
    if not isinstance(value.get(form), dict):
        raise InputError(f"{value['class']!r} has no table of {form}.")
    given = {name: _read(item, known) for name, item in value[form].items()}
    return _made(cls, given) if form == "arguments" else with_attributes(cls, given)


def _function(value: dict, known: Mapping[str, Any]) -> Any:
    function = find(value["function"], known)
    if inspect.isclass(function):
        raise InputError(f"{value['function']!r} is a class, not a function.")
    return function


def _is_public(cls: type) -> bool:
    name = cls.__name__
    return name in pushforward.public_names() and getattr(pushforward, name) is cls


def _observable_name(value: Any) -> str | None:
    """The name of an observable in `pushforward.observables`, class or function."""
    public = vars(pushforward.observables).items()
    kind = value if inspect.isroutine(value) else type(value)
    return next((name for name, known in public if known is kind), None)


def _observable(value: dict, known: Mapping[str, Any]) -> Any:
    name = value["observable"]
    public = vars(pushforward.observables)
    if not isinstance(name, str) or name.startswith("_") or name not in public:
        raise InputError(f"unknown observable {name!r} in a specification.")
    if inspect.isroutine(public[name]):
        return public[name]
    if not inspect.isclass(public[name]):
        raise InputError(f"{name!r} is not an observable.")
    given = {k: _read(v, known) for k, v in value.items() if k != "observable"}
    return _made(public[name], given)


def _array(value: dict, known: Mapping[str, Any]) -> np.ndarray | jax.Array:
    try:
        dtype = np.dtype(value["dtype"])
        if dtype.kind not in "fiub":
            raise TypeError(f"{dtype} is not a number")
        array = np.asarray(value["array"], dtype=dtype).reshape(value["shape"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"not an array of `array`, `shape` and `dtype`: {error}."
        ) from error
    if value.get("jax") is not True:
        return array
    return jnp.asarray(array.item() if value.get("weak") is True else array)


def _array_to_json(value: Any, exact: bool) -> Any:
    try:
        array = np.asarray(value)
    except TypeError as error:  # a key of random numbers
        raise InputError(f"{value!r} cannot be stored: {error}.") from error
    if array.dtype.kind not in "fiub":
        raise InputError(f"an array of {array.dtype} cannot be stored: use numbers.")
    plain = array.dtype in (np.float64, np.int64, np.bool_)
    if array.ndim == 0 and plain and not exact:
        return array.item()
    written = {
        "array": array.ravel().tolist(),
        "shape": list(array.shape),
        "dtype": str(array.dtype),
    }
    if not exact or not isinstance(value, jax.Array):
        return written
    weak = array.ndim == 0 and value.weak_type  # a float32 run stays float32 beside it
    return written | {"jax": True} | ({"weak": True} if weak else {})


def _known(name: Any, names: tuple[str, ...], module: Any) -> Any:
    if not isinstance(name, str) or name not in names:
        raise InputError(f"unknown name {name!r}; known: {', '.join(names)}.")
    return getattr(module, name)


def _activation(value: dict, known: Mapping[str, Any]) -> Any:
    return _known(value["activation"], ACTIVATIONS, jax.nn)


def _scheme(value: dict, known: Mapping[str, Any]) -> Any:
    return _known(value["scheme"], SCHEMES, importlib.import_module("diffrax"))()


def _tuple(value: dict, known: Mapping[str, Any]) -> tuple:
    if not isinstance(value["tuple"], list):
        raise InputError("a tuple must be written as a list.")
    return tuple(_read(value["tuple"], known))


def _dict(value: dict, known: Mapping[str, Any]) -> dict:
    if not isinstance(value["dict"], dict):
        raise InputError("a dict must be written as a table.")
    return {name: _read(item, known) for name, item in value["dict"].items()}


_FORMS = {
    "type": _object,
    "class": _own_object,
    "function": _function,
    "observable": _observable,
    "array": _array,
    "activation": _activation,
    "scheme": _scheme,
    "tuple": _tuple,
    "dict": _dict,
}
