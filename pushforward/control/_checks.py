"""Refusals shared by the control folder: every message names value and fix."""

from collections.abc import Sequence

import numpy as np

from pushforward._checks import shown
from pushforward.errors import InputError


def finite(name: str, value: object, shape: Sequence[int | None] = ()) -> np.ndarray:
    """`value` as a finite float64 array of the given shape (None: any length)."""
    try:
        if value is None:
            raise TypeError("None is not a number")
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"`{name}` must be numbers, got {shown(value)}.") from error
    wanted = str(tuple("any" if s is None else s for s in shape)).replace("'", "")
    fits = array.ndim == len(shape) and all(
        s is None or s == n for s, n in zip(shape, array.shape, strict=False)
    )
    if not fits:
        hint = ""
        if array.ndim == 2 and len(shape) == 2:
            turned = array.shape[::-1]
            if all(s is None or s == n for s, n in zip(shape, turned, strict=True)):
                hint = " Its transpose would fit."
        raise InputError(f"`{name}` must have shape {wanted}, got {array.shape}.{hint}")
    if array.ndim == 0 and not np.isfinite(array):
        raise InputError(f"`{name}` must be finite, got {array}.")
    if not np.all(np.isfinite(array)):
        bad = int(np.sum(~np.isfinite(array)))
        raise InputError(
            f"`{name}` has {bad} entries that are NaN or infinite; "
            "remove or replace them first."
        )
    return array


def count(name: str, value: int, least: int = 1) -> int:
    """`value` as an integer not below `least`."""
    real = isinstance(value, int | float | np.integer | np.floating)
    if not real or isinstance(value, bool) or not least <= value < 2**53:
        raise InputError(f"`{name}` must be an integer >= {least}, got {value!r}.")
    if int(value) != value:
        raise InputError(f"`{name}` must be an integer >= {least}, got {value!r}.")
    return int(value)


def instance(name: str, value: object, kind: type, example: str) -> None:
    """Refuse a word, a number or a class where an object such as `example` belongs."""
    if isinstance(value, kind):
        return
    given = f"the class {value.__name__}" if isinstance(value, type) else shown(value)
    raise InputError(f"`{name}` must be an object such as {example}, got {given}.")
