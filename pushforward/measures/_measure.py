"""What every measure offers, whatever it is made of."""

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from pushforward._checks import Number, as_float_array, check_finite, is_traced
from pushforward._printing import short
from pushforward._wiring import connected
from pushforward.errors import InputError
from pushforward.spaces import AbstractSpace, Circle

AnyMeasure = TypeVar("AnyMeasure", bound="AbstractMeasure")


class AbstractMeasure(eqx.Module):
    """A probability measure on a space, seen through its quadrature points.

    `points` and `weights` integrate functions: int f dmu = sum_i weights_i f(points_i).
    A new kind of measure says what it is made of (`arrays`, `with_arrays`), how two of
    them mix (`blended`), and how a field and a noise act on it (`rule_of`,
    `increment_of`): flows, trajectories and stores ask for little else.
    """

    space: eqx.AbstractVar[AbstractSpace]
    points: eqx.AbstractVar[Float[Array, "n d"]]
    log_weights: eqx.AbstractVar[Float[Array, "n"]]

    @property
    @abc.abstractmethod
    def weights(self) -> Float[Array, "*b n"]:
        """The mass of each quadrature point."""

    @property
    def n(self) -> int:
        """The number of points."""
        return self.points.shape[-2]

    @property
    def d(self) -> int:
        """The ambient dimension."""
        return self.points.shape[-1]

    def _repr_png_(self) -> bytes | None:  # what a notebook shows
        return connected("picture")(self)

    def integrate(self, f: Callable[[Array], Array]) -> Array:
        """int f dmu; f maps the (n, d) points to one value, or array, per point."""
        return self.weights @ f(self.points)

    def mean(self) -> Float[Array, "d"]:
        """int x dmu, in the ambient space."""
        return self.integrate(lambda x: x)

    @property
    def state(self) -> Float[Array, "*b r d"]:
        """What a step of a solver moves, row by row: the points, unless said."""
        return self.points

    @abc.abstractmethod
    def arrays(self) -> dict[str, Array]:
        """What it is made of, by name; `with_arrays` puts it together again."""

    @abc.abstractmethod
    def with_arrays(self, arrays: Mapping[str, Any]) -> Self:
        """The same kind of measure made of these; other names are not looked at.

        Arrays may share leading axes: the result is then a batch, as in a trajectory.
        """

    def readable_arrays(self) -> dict[str, Array]:
        """What others like to read in a store, and `with_arrays` does not need."""
        return {}

    @abc.abstractmethod
    def blended(self, other: Self, s: float) -> Self:
        """The measure a share s of the way to another one of the same size."""

    @property
    @abc.abstractmethod
    def is_finite(self) -> Bool[Array, ""]:
        """Whether its numbers are numbers."""

    @property
    @abc.abstractmethod
    def is_resolved(self) -> Bool[Array, ""]:
        """Whether it can still be trusted."""

    @abc.abstractmethod
    def rule_of(self, field: Any) -> Callable:
        """A field as a rule (t, measure) -> Motion for measures of this kind."""

    @abc.abstractmethod
    def increment_of(self, noise: Any, key: PRNGKeyArray, h: Number) -> Array | None:
        """The random part of what a noise does to this measure in a step h."""


def stack(measures: Sequence[AnyMeasure]) -> AnyMeasure:
    """Measures of one size as one batched object, for vmap and for trajectories."""
    return jax.tree_util.tree_map(lambda *leaves: jnp.stack(leaves), *measures)


def taken(arrays: Mapping[str, Any], name: str) -> Any:
    """The array of this name, which must be there."""
    if name not in arrays:
        raise InputError(f"`arrays` must hold {name!r}, got {sorted(arrays)}.")
    return arrays[name]


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
