"""Objects as JSON by public name: what the command line, the page and runs exchange."""

import importlib
import inspect
from typing import Any

import jax
import numpy as np

import pushforward
from pushforward.errors import InputError

ACTIVATIONS = ("relu", "gelu", "tanh", "sigmoid", "softplus", "elu", "silu")
SCHEMES = ("Tsit5", "Dopri5", "Dopri8", "Bosh3")


def to_json(value: Any) -> Any:
    """A JSON value that `from_json` turns back into an equal object.

    >>> to_json(Attention(9.0))["type"]
    'Attention'
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {str(name): to_json(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | np.generic | jax.Array):
        return _array_to_json(np.asarray(value))
    name = type(value).__name__
    if type(value).__module__.startswith("diffrax") and name in SCHEMES:
        return {"scheme": name}
    if callable(value) and getattr(value, "__name__", "") in ACTIVATIONS:
        return {"activation": value.__name__}
    if name in pushforward.public_names():
        return {"type": name} | {
            parameter: to_json(getattr(value, parameter))
            for parameter in _parameters(type(value))
        }
    if (known := _observable_name(value)) is not None:
        return {"observable": known} | {
            parameter: to_json(getattr(value, parameter))
            for parameter in (
                [] if inspect.isroutine(value) else _parameters(type(value))
            )
        }
    raise InputError(
        f"{value!r} cannot be written as JSON: it has no public name in pushforward. "
        f"Activations by name: {', '.join(ACTIVATIONS)}."
    )


def from_json(value: Any) -> Any:
    """The object that `to_json` wrote. Public names only; no code runs."""
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "type" in value:
        return _object(value)
    if "observable" in value:
        return _observable(value)
    if "array" in value:
        return _array(value)
    if set(value) == {"activation"}:
        return _known(value["activation"], ACTIVATIONS, jax.nn)
    if set(value) == {"scheme"}:
        return _known(value["scheme"], SCHEMES, importlib.import_module("diffrax"))()
    return {name: from_json(item) for name, item in value.items()}


def _object(value: dict) -> Any:
    name = value["type"]
    public = isinstance(name, str) and name in pushforward.public_names()
    cls = getattr(pushforward, name) if public else None
    # Functions have public names too; a specification makes values and calls nothing.
    if not inspect.isclass(cls) or name == "Trajectory":
        raise InputError(f"unknown type {name!r} in a specification.")
    arguments = {k: from_json(v) for k, v in value.items() if k != "type"}
    unknown = set(arguments) - set(_parameters(cls))
    if unknown:
        raise InputError(f"{name} has no parameter {sorted(unknown)[0]!r}.")
    try:
        return cls(**arguments)
    except TypeError as error:
        raise InputError(f"cannot make {name} from {value}: {error}.") from error


def _observable_name(value: Any) -> str | None:
    """The name of an observable in `pushforward.observables`, class or function."""
    public = vars(pushforward.observables).items()
    kind = value if inspect.isroutine(value) else type(value)
    return next((name for name, known in public if known is kind), None)


def _observable(value: dict) -> Any:
    name = value["observable"]
    known = vars(pushforward.observables)
    if not isinstance(name, str) or name.startswith("_") or name not in known:
        raise InputError(f"unknown observable {name!r} in a specification.")
    if inspect.isroutine(known[name]):
        return known[name]
    if not inspect.isclass(known[name]):
        raise InputError(f"{name!r} is not an observable.")
    arguments = {k: from_json(v) for k, v in value.items() if k != "observable"}
    try:
        return known[name](**arguments)
    except TypeError as error:
        raise InputError(f"cannot make {name} from {value}: {error}.") from error


def _array(value: dict) -> np.ndarray:
    try:
        dtype = np.dtype(value["dtype"])
        if dtype.kind not in "fiub":
            raise TypeError(f"{dtype} is not a number")
        return np.asarray(value["array"], dtype=dtype).reshape(value["shape"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"not an array of `array`, `shape` and `dtype`: {error}."
        ) from error


def _parameters(cls: type) -> tuple[str, ...]:
    return tuple(inspect.signature(cls).parameters)


def _array_to_json(array: np.ndarray) -> Any:
    if array.ndim == 0 and array.dtype in (np.float64, np.int64, np.bool_):
        return array.item()
    return {
        "array": array.ravel().tolist(),
        "shape": list(array.shape),
        "dtype": str(array.dtype),
    }


def _known(name: str, names: tuple[str, ...], module: Any) -> Any:
    if not isinstance(name, str) or name not in names:
        raise InputError(f"unknown name {name!r}; known: {', '.join(names)}.")
    return getattr(module, name)
