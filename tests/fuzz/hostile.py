"""Values nobody should pass, made afresh each time, and a search for silent NaN."""

import dataclasses
import datetime
import decimal

import jax
import numpy as np

EYE = np.eye(3)

NUMBERS = [
    *[np.nan, np.inf, -np.inf, -1.0, 0.0, -0.0, 1e308, -1e308, 5e-324, 1e-300, 0.5],
    *[-1, 0, 1, 2, 10**400, -(10**400), True, 1j, np.float32(np.nan), np.int64(-5)],
    *[decimal.Decimal("NaN"), 2**63, 1e16, np.float16(7.0), 700.0, -700.0, 1 - 1e-16],
]
THINGS = [
    *[None, "", "a", "nan", "../../etc/passwd", "\0", "é" * 50, b"x", object(), print],
    *[lambda: 1, {}, {"a": 1}, set(), Ellipsis, float, datetime.date(2020, 1, 1)],
    *[range(3), iter([1.0]), ValueError("x"), slice(2), memoryview(b"abc")],
]
ARRAYS = [
    *[[], [[]], [np.nan], [1.0, 2.0], [[1.0], [1.0, 2.0]], ["a"], [None], [[["x"]]]],
    *[np.zeros(0), np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((0, 0)), np.zeros(3)],
    *[EYE * np.nan, np.where(EYE > 0, np.nan, 1.0), EYE * 1e308],
    *[
        EYE * 1e-320,
        -EYE,
        EYE * 1j,
        EYE.astype(int),
        EYE.astype(bool),
        np.zeros((3, 3)),
    ],
    *[EYE[:2], EYE[:, :2], np.ones((3, 3)), np.ones((2, 3, 3)), np.ones((1, 1))],
    *[np.array(["a", "b"]), np.array([None, 1.0], dtype=object), np.array(np.nan)],
    *[np.array([1], "M8[s]"), np.array([(1, 2.0)], dtype=[("a", int), ("b", float)])],
    *[np.ones((5, 2)), np.ones(7), np.array([0.5, -0.5, 1.0]), [True, False, True]],
]
ALL = [*NUMBERS, *THINGS, *ARRAYS]


def hostile(rng: np.random.Generator):
    """One value: from the list, or a random number or array of any size."""
    if rng.random() < 0.8:
        return ALL[rng.integers(len(ALL))]
    scale = 10.0 ** rng.integers(-320, 308)
    if rng.random() < 0.5:
        return float(rng.normal() * scale)
    shape = tuple(rng.integers(0, 4, size=rng.integers(0, 4)))
    return rng.normal(size=shape) * min(scale, 1e300)


def has_nan(value, depth: int = 0) -> bool:
    """Whether a NaN hides anywhere in an answer."""
    if depth > 6 or value is None or isinstance(value, str | bytes | type):
        return False
    if isinstance(value, jax.Array):
        if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
            return False
        value = np.asarray(value)
    if isinstance(value, np.ndarray | np.generic | float | complex):
        array = np.asarray(value)
        return bool(array.dtype.kind in "fc" and np.isnan(array).any())
    if isinstance(value, dict):
        return any(has_nan(item, depth + 1) for item in value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return any(has_nan(item, depth + 1) for item in value)
    if dataclasses.is_dataclass(value):
        names = (field.name for field in dataclasses.fields(value))
        return any(has_nan(getattr(value, name, None), depth + 1) for name in names)
    return False
