"""How objects print: by the arguments that differ from nothing."""

import inspect

import jax
import numpy as np


def shown(self) -> str:
    """`Attention(beta=9.0)`: the constructor's arguments, arrays by shape."""
    parts = []
    for name, parameter in inspect.signature(type(self)).parameters.items():
        value = getattr(self, name)
        if value is None or _equal(value, parameter.default):
            continue
        parts.append(f"{name}={_short(value)}")
    return f"{type(self).__name__}({', '.join(parts)})"


def short(value: object) -> str:
    """What an object prints, without the remark that may follow it."""
    return repr(value).split("  #")[0]


def _equal(value, default) -> bool:
    if default is inspect.Parameter.empty or isinstance(value, jax.core.Tracer):
        return False
    if isinstance(value, jax.Array | np.ndarray):
        return np.ndim(value) == 0 and bool(value == default)
    try:
        return bool(value == default)
    except (TypeError, ValueError):
        return False


def _short(value) -> str:
    if isinstance(value, jax.core.Tracer):
        return "traced"
    if isinstance(value, jax.Array | np.ndarray):
        if value.ndim == 0:
            return repr(value.item())
        return f"array{value.shape}".replace(",)", ")")
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_short, value)) + "]"
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    return short(value)
