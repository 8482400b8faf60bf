"""What every closed form asks of its arguments, said once."""

import operator

import numpy as np
from numpy.typing import ArrayLike

from pushforward.errors import InputError, NumericalError

Real = float | np.ndarray


def whole(name: str, value: int, least: int) -> int:
    """An integer of at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(
            f"`{name}` must be an integer, got {value!r}. Pass for instance {least}."
        ) from None
    if number < least:
        raise InputError(f"`{name}` must be at least {least}, got {number}.")
    if number > 2**53:
        raise InputError(f"`{name}` must be at most 2^53, got {str(number)[:20]}.")
    return number


def real(name: str, value: ArrayLike) -> np.ndarray:
    """Real numbers of size at most 1e100, as a float64 array; below 1e-100 is zero.

    The bounds leave room for squares and products, and no formula needs more.
    """
    try:
        if np.iscomplexobj(value):
            raise TypeError("complex")
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"`{name}` must be real numbers, got {value!r}.") from None
    if not array.size:
        raise InputError(f"`{name}` must hold at least one number, got none.")
    bad = ~np.isfinite(array)
    if bad.any():
        first = array[bad].flat[0]
        raise InputError(
            f"`{name}` must be finite, got {first} ({bad.sum()} such values). "
            "Remove them; limits at infinity have functions of their own."
        )
    if np.any(np.abs(array) > 1e100):
        raise InputError(
            f"`{name}` must be at most 1e100 in size, got {np.abs(array).max():.3g}."
        )
    return np.where(np.abs(array) < 1e-100, 0.0, array)


def together(**values: ArrayLike) -> tuple[np.ndarray, ...]:
    """Real numbers whose shapes go together."""
    arrays = {name: real(name, value) for name, value in values.items()}
    try:
        np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"`{name}` {a.shape}" for name, a in arrays.items())
        raise InputError(
            f"shapes do not go together: {shapes}. Use x[:, None] for a table."
        ) from None
    return tuple(arrays.values())


def scalar(name: str, value: ArrayLike) -> float:
    """One finite real number."""
    array = real(name, value)
    if array.size != 1:
        raise InputError(
            f"`{name}` must be one number, got shape {array.shape}. "
            "Call once per value."
        )
    return float(array.reshape(()))


def positive(name: str, value: ArrayLike) -> np.ndarray:
    """Finite numbers above zero."""
    return _require(name, real(name, value), lambda x: x > 0, "positive")


def nonnegative(name: str, value: ArrayLike) -> np.ndarray:
    """Finite numbers that are zero or above."""
    return _require(name, real(name, value), lambda x: x >= 0, "zero or positive")


def between(name: str, value: ArrayLike, low: float, high: float) -> np.ndarray:
    """Numbers in the open interval (low, high)."""
    return _require(
        name,
        real(name, value),
        lambda x: (x > low) & (x < high),
        f"strictly between {low:.6g} and {high:.6g}",
    )


def square(name: str, value: ArrayLike) -> np.ndarray:
    """A square matrix of finite numbers."""
    matrix = real(name, value)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise InputError(f"`{name}` must be a (d, d) matrix, got shape {matrix.shape}.")
    return matrix


def table(name: str, value: ArrayLike) -> np.ndarray:
    """Points as rows: a non-empty array of shape (n, d)."""
    points = real(name, value)
    if points.ndim != 2 or not points.size:
        raise InputError(
            f"`{name}` must have shape (n, d), one point per row, got {points.shape}."
        )
    return points


def representable(name: str, value: np.ndarray, instead: str) -> Real:
    """The value itself, or an error when it overflowed float64."""
    if not np.isfinite(value).all():
        raise NumericalError(
            f"{name} is not a float64 for these arguments. Use {instead}.",
            partial=value,
        )
    return value[()]


def _require(name, array, holds, words):
    ok = holds(array)
    if not np.all(ok):
        raise InputError(f"`{name}` must be {words}, got {array[~ok].flat[0]:.6g}.")
    return array
