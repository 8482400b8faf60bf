"""What points and weights must be to make a measure."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import as_float_array, check_finite, is_traced
from pushforward._printing import short
from pushforward.errors import InputError
from pushforward.spaces import AbstractSpace, Circle

OFF_SPACE = 1e-6  # farther than this from the space is a mistake, not rounding


def checked_points(space: AbstractSpace, points: Any) -> Float[Array, "n d"]:
    """Points of the space as an array, or a message with the row and the fix."""
    if not isinstance(space, AbstractSpace):
        raise InputError(f"`space` must be a space such as Sphere(3), got {space!r}.")
    x = as_float_array("points", points)
    if x.ndim != 2 or x.shape[1] != space.d or x.shape[0] == 0:
        raise InputError(shape_message(space, x.shape))
    check_finite("points", x)
    if not is_traced(x):
        residual = np.asarray(space.residual(x))
        if residual.max() > OFF_SPACE:
            row = int(np.argmax(residual > OFF_SPACE))
            raise InputError(
                f"`points` must lie on {short(space)}: "
                f"{int((residual > OFF_SPACE).sum())} of {len(residual)} rows do not, "
                f"first row {row} (off by {residual[row]:.3g}). "
                "Use Particles.normalized(space, points) if scaling them is right."
            )
    return x


def shape_message(space: AbstractSpace, shape: tuple[int, ...]) -> str:
    """What is said of points of another shape."""
    want = f"(n, {space.d}) for {short(space)}, n >= 1"
    message = f"`points` must have shape {want}, got {shape}."
    if len(shape) == 2 and shape[0] == space.d and shape[1] > 0:
        return message + " Particles come first: pass points.T."
    if len(shape) == 1 and isinstance(space, Circle):
        return message + " For angles use Circle().points(theta)."
    return message


def checked_log_weights(points: Float[Array, "n d"], weights: Any) -> Float[Array, "n"]:
    """Logarithms of masses that are not negative and sum to one."""
    n, dtype = points.shape[0], points.dtype
    if weights is None:
        return jnp.full(n, -np.log(n), dtype)
    w = as_float_array("weights", weights).astype(dtype)
    if w.shape != (n,):
        raise InputError(f"`weights` must have shape ({n},), got {w.shape}.")
    check_finite("weights", w)
    if not is_traced(w):
        values = np.asarray(w)
        if values.min() < 0:
            row = int(np.argmin(values))
            raise InputError(
                f"`weights` must not be negative, got {values[row]:g} at {row}."
            )
        slack = 1e-9 if dtype == jnp.float64 else 1e-5
        if abs(values.sum() - 1) > slack:
            raise InputError(
                f"`weights` must sum to one, got {values.sum():.6g}. "
                "Pass weights / weights.sum()."
            )
    return jnp.log(w)
