"""Questions every public boundary asks of its arguments, and what it answers."""

import pathlib
from typing import TYPE_CHECKING, TypeAlias

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Real

from pushforward.errors import InputError


def is_traced(*trees: object) -> bool:
    """Whether any leaf is inside a JAX transformation, where values are unknown."""
    leaves = jax.tree_util.tree_leaves(trees)
    return any(isinstance(leaf, jax.core.Tracer) for leaf in leaves)


def double_precision(what: str) -> None:
    """Refuse `what` where JAX has been told to do without float64."""
    if not jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        raise InputError(
            f"{what} needs float64, which JAX is told to do without. Unset "
            'JAX_ENABLE_X64, or call jax.config.update("jax_enable_x64", True).'
        )


def as_float_array(name: str, value: object) -> Float[Array, "..."]:
    """An array of floats: float32 stays float32, everything else becomes float64."""
    try:
        if value is None:
            raise TypeError("None is not a number")
        if not isinstance(value, jax.Array | np.ndarray):
            value = np.asarray(value, dtype=float)  # strong type: one compilation
        array = jnp.asarray(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"`{name}` must be numbers, got {shown(value)}. "
            "Pass a float, a list of lists or an array."
        ) from error
    if jnp.issubdtype(array.dtype, jnp.complexfloating):
        raise InputError(f"`{name}` must be real, got complex numbers. Pass `.real`.")
    if array.dtype not in (jnp.float32, jnp.float64):
        array = array.astype(float)
    return jnp.asarray(array, array.dtype)  # strong type: one compilation


def check_finite(name: str, array: Array | np.ndarray) -> None:
    """Refuse NaN and infinity, saying how many rows have them and which is first."""
    if is_traced(array):
        return
    values = np.asarray(array)
    if np.isfinite(values).all():
        return
    if values.ndim == 0:
        raise InputError(f"`{name}` must be finite, got {values}.")
    bad = ~np.isfinite(values.reshape(values.shape[0], -1)).all(axis=1)
    first = int(np.argmax(bad))
    raise InputError(
        f"`{name}` has NaN or infinity in {int(bad.sum())} of {len(values)} rows; "
        f"the first is row {first}: {values[first]}. Remove or repair those rows."
    )


def scalar(name: str, value: object) -> Float[Array, ""]:
    """A finite number as an array, so that changing it never recompiles."""
    array = as_float_array(name, value)
    if array.ndim != 0:
        raise InputError(f"`{name}` must be one number, got shape {array.shape}.")
    check_finite(name, array)
    return array


def positive(name: str, value: object, why: str = "") -> Float[Array, ""]:
    """A number above zero."""
    array = scalar(name, value)
    if not is_traced(array) and not float(array) > 0:
        hint = f" {why}" if why else ""
        raise InputError(f"`{name}` must be positive, got {float(array):g}.{hint}")
    return array


def whole(name: str, value: object, least: int, why: str = "") -> int:
    """An integer of at least `least`; True and 3.0 are not integers here."""
    hint = f" {why}" if why else ""
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_integer or int(value) < least:  # type: ignore[call-overload]
        raise InputError(
            f"`{name}` must be an integer of at least {least}, "
            f"got {shown(value)}.{hint}"
        )
    if int(value) > 2**53:  # type: ignore[call-overload]
        raise InputError(f"`{name}` must be at most 2^53, got {shown(value)}.{hint}")
    return int(value)  # type: ignore[call-overload]


def yes_or_no(name: str, value: object) -> bool:
    """A flag; 1 and "yes" are none."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"`{name}` must be True or False, got {shown(value)}.")
    return bool(value)


def matrix_or_none(name: str, value: object) -> Float[Array, "r c"] | None:
    """A square matrix, or None for the identity, which then costs nothing."""
    if value is None:
        return None
    array = as_float_array(name, value)
    if array.ndim != 2:
        raise InputError(
            f"`{name}` must be a matrix, got shape {array.shape}. "
            f"For a multiple c of the identity pass c * jnp.eye(d)."
        )
    check_finite(name, array)
    return array


def measure(name: str, value: object) -> None:
    """Refuse what is not a measure, with the way to make one."""
    if not hasattr(value, "space"):
        raise InputError(
            f"`{name}` must be Particles, got {shown(value)}. For an array of points "
            "use Particles(Sphere(d), points)."
        )


def listed(name: str, value: object, what: str) -> tuple:
    """The items of a list, which numbers and words are not."""
    if not isinstance(value, list | tuple | range):
        raise InputError(f"`{name}` must be a list of {what}, got {shown(value)}.")
    return tuple(value)


def prng_key(name: str, value: object) -> None:
    """Refuse what is not a random key."""
    if isinstance(value, jax.Array):
        typed = jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)
        if (typed and value.ndim == 0) or (
            value.dtype == jnp.uint32 and value.shape == (2,)
        ):
            return
    raise InputError(
        f"`{name}` must be a random key such as jax.random.key(0), got {shown(value)}."
    )


def as_path(name: str, value: object) -> pathlib.Path:
    """A path from text."""
    if not isinstance(value, str | pathlib.PurePath) or "\0" in str(value):
        raise InputError(f"`{name}` must be the path of a file, got {shown(value)}.")
    return pathlib.Path(value)


def number(name: str, value: object) -> float:
    """One finite number as a float, for code without JAX."""
    try:
        if value is None or isinstance(value, bool | str | bytes):
            raise TypeError
        found = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"`{name}` must be a number, got {shown(value)}.") from None
    if found.ndim:
        raise InputError(f"`{name}` must be one number, got shape {found.shape}.")
    if not np.isfinite(found):
        raise InputError(f"`{name}` must be finite, got {found}.")
    return float(found)


def above_zero(name: str, value: object, why: str = "") -> float:
    """A positive finite float, for code without JAX."""
    found = number(name, value)
    if found > 0:
        return found
    hint = f" {why}" if why else ""
    raise InputError(f"`{name}` must be positive, got {found:g}.{hint}")


def not_negative(name: str, value: object) -> float:
    """A finite float of at least zero, for code without JAX."""
    found = number(name, value)
    if found < 0:
        raise InputError(f"`{name}` must be finite and not negative, got {found:g}.")
    return found


def shown(value: object) -> str:
    """What a message says of a value: not more than a line."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


# 2, 2.0, np.float32(2), an array without axes: all become arrays without axes, so that
# changing the number never recompiles.
Number = Real[Array, ""] | Real[np.ndarray, ""] | np.number | int | float

# Points and vectors that a space acts on: JAX's or numpy's.
if TYPE_CHECKING:
    AnyArray: TypeAlias = Array
else:
    AnyArray = Array | np.ndarray
