"""A coupling from a matrix that is nearly one."""

import numpy as np
from jaxtyping import Float

from pushforward._checks import as_float_array
from pushforward.errors import InputError


def rounded(
    matrix: Float[np.ndarray, "n m"],
    a: Float[np.ndarray, "n"],
    b: Float[np.ndarray, "m"],
) -> Float[np.ndarray, "n m"]:
    """The nearest simple coupling with marginals exactly a and b.

    Rows, then columns, are scaled down to fit, and the missing mass is spread as a
    product. [altschuler2017nearlinear]
    """
    matrix, a, b = (
        _numbers(*pair) for pair in (("matrix", matrix), ("a", a), ("b", b))
    )
    if matrix.shape != (a.size, b.size) or a.ndim != 1 or b.ndim != 1:
        raise InputError(
            f"matrix must have shape (len(a), len(b)), got {matrix.shape} for a of "
            f"shape {a.shape} and b of shape {b.shape}."
        )
    rows = matrix.sum(axis=1)
    matrix = matrix * np.minimum(1, a / np.where(rows > 0, rows, 1))[:, None]
    columns = matrix.sum(axis=0)
    matrix = matrix * np.minimum(1, b / np.where(columns > 0, columns, 1))
    missing_a, missing_b = a - matrix.sum(axis=1), b - matrix.sum(axis=0)
    total = missing_a.sum()
    if total <= 0:
        return matrix
    return np.maximum(matrix + np.outer(missing_a, missing_b) / total, 0)


def _numbers(name: str, value: object) -> np.ndarray:
    array = np.asarray(as_float_array(name, value))
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise InputError(f"{name} must be finite and not negative; it holds masses.")
    return array
