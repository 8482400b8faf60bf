"""Piecewise-linear maps of one coordinate, exactly: shifts, shears and stretches."""

import numpy as np

from pushforward.control._checks import finite
from pushforward.control.normalizing.normalizing_flow import (
    AbstractLaw,
    NormalizingFlow,
)
from pushforward.errors import InputError


def translation(shift, base: AbstractLaw | None = None) -> NormalizingFlow:
    """x + shift: one piece with a = 0, b = 1.

    >>> translation([1.0, 2.0]).forward(jnp.zeros((1, 2))).tolist()
    [[1.0, 2.0]]
    """
    shift = finite("shift", shift, (None,))
    return NormalizingFlow(shift[None], np.zeros((1, len(shift))), [1.0], [1.0], base)


def monotone_map(
    along, knots, values, base: AbstractLaw | None = None
) -> NormalizingFlow:
    """The increasing piecewise-linear map of the coordinate `along` through the knots.

    A translation and one compression per change of slope: K slopes, at most K + 1
    pieces. It is the gradient of a convex function. Left of the first knot it
    translates; right of the last it keeps the last slope.

    `along` is a unit vector of R^d.

    >>> flow = monotone_map([1.0], knots=[0, 1, 2], values=[0, 3, 4])
    >>> [round(float(y), 12) for y in flow.forward([[0.5], [1.5]]).ravel()]
    [1.5, 3.5]
    """
    e = _unit("along", along)
    x, y = _increasing("knots", knots), _increasing("values", values)
    _check_pair(x, y)
    slopes = np.diff(y) / np.diff(x)
    # e^{T} carries slope k-1 to slope k right of the present image of knot k
    rates = np.diff(np.log(slopes), prepend=0.0)
    places = x[0] + (y[:-1] - y[0])
    alive = rates != 0
    w = np.sign(rates[alive])[:, None] * e
    a = np.broadcast_to(e, w.shape)
    shift = np.atleast_2d((y[0] - x[0]) * e)[: int(y[0] != x[0])]
    return _followed_by_shift(w, a, -places[alive], np.abs(rates[alive]), shift, base)


def shear(
    along, of, knots, values, base: AbstractLaw | None = None, given=()
) -> NormalizingFlow:
    """x + f(of.x) along, with f piecewise linear through the knots.

    `along` and `of` are orthogonal vectors of R^d; volume is preserved. K + 1 knots
    cost at most K + 1 pieces. Left of the first knot f is constant; right of the
    last it keeps the last slope.

    >>> flow = shear(along=[0, 1.0], of=[1.0, 0], knots=[0, 1, 2], values=[0, 1, 4])
    >>> flow.forward([[1.5, 10.0]]).tolist()
    [[1.5, 12.5]]
    """
    along = finite("along", along, (None,))
    of = finite("of", of, (len(along),))
    x = _increasing("knots", knots)
    y = finite("values", values, (len(x),))
    product = float(along @ of)
    if abs(product) > 1e-14 * np.linalg.norm(along) * np.linalg.norm(of):
        raise InputError(
            f"`along` and `of` must be orthogonal, got the inner product {product:g}. "
            "A map of a coordinate along itself is `monotone_map`."
        )
    jumps = np.diff(np.diff(y) / np.diff(x), prepend=0.0)
    alive = jumps != 0
    w = jumps[alive][:, None] * along
    a = np.broadcast_to(of, w.shape)
    shift = np.atleast_2d(y[0] * along)[: int(y[0] != 0)]
    ones = np.ones(len(w))
    return _followed_by_shift(w, a, -x[:-1][alive], ones, shift, base, given)


def _followed_by_shift(w, a, b, durations, shift, base, given=()) -> NormalizingFlow:
    k = len(shift)
    return NormalizingFlow(
        np.concatenate([w, shift]),
        np.concatenate([a, np.zeros_like(shift)]),
        np.concatenate([b, np.ones(k)]),
        np.concatenate([durations, np.ones(k)]),
        base,
        given,
    )


def _unit(name: str, vector) -> np.ndarray:
    e = finite(name, vector, (None,))
    size = float(np.linalg.norm(e))
    if abs(size - 1) > 1e-12:
        raise InputError(
            f"`{name}` must be a unit vector, its norm is {size:g}. Divide by it."
        )
    return e


def _increasing(name: str, values) -> np.ndarray:
    array = finite(name, values, (None,))
    if len(array) < 2:
        raise InputError(f"`{name}` needs at least two numbers, got {len(array)}.")
    bad = np.flatnonzero(np.diff(array) <= 0)
    if len(bad):
        k = int(bad[0])
        raise InputError(
            f"`{name}` must increase, but entry {k + 1} is {array[k + 1]:g} after "
            f"{array[k]:g}. Only increasing maps of the line are flows; sort it or "
            "remove repeated entries."
        )
    return array


def _check_pair(x: np.ndarray, y: np.ndarray) -> None:
    if len(x) != len(y):
        raise InputError(
            f"`knots` and `values` must have equal lengths, got {len(x)} and {len(y)}."
        )
