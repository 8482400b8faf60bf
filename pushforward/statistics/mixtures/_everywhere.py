"""No point of large D is overlooked: a bound over all of space, by bisection.

log D(y) + |y|^2 / 2 is the logarithm of a sum of exponentials of convex functions,
because no observation is more precise than unit noise; so it is convex and, over a box
with sides h,

    log D <= (largest value at a corner) + |h|^2 / 8 .

Boxes whose bound is above the level asked for are halved. Around a maximum this would
not end; there the box in which D is concave ends it (`_concavity`).

The corners of the boxes are many, so D is interpolated at Chebyshev points, to
rounding: it is a sum of Gaussians of unit width or wider.
"""

from functools import singledispatch
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.polynomial.chebyshev import chebvander

from pushforward.statistics.mixtures._likelihood import AbstractSample, log_certificate
from pushforward.statistics.mixtures._modes import find_modes

PANEL = 2.0  # width, in standard deviations of the noise
ORDER = 22  # Chebyshev points in a panel: (1/2)^k / sqrt(k!) is below 1e-15
NODES = 2_000_000
SIDE = 0.25  # of the first boxes
CORNERS = 4_000_000  # looked at in all, before the bound found so far is returned
SLACK = 1e-12  # of log D: what rounding and interpolation may hide
DATA = 2**14  # observations in one block of the interpolation
SLOW = 2e9  # evaluations of L_i, where it is no product over axes


class Maxima(NamedTuple):
    """The maxima of D found, highest first, and a bound of log D over all of space.

    `proven` says whether the bound is more than the highest maximum that was found.
    """

    points: Float[np.ndarray, "m d"]
    log_d: Float[np.ndarray, "m"]
    bound: float
    proven: bool


class Solution(NamedTuple):
    """Atoms, weights, a number per round, and the maxima of D where they are known."""

    atoms: Float[np.ndarray, "k d"]
    weights: Float[np.ndarray, "k"]
    history: list[float]
    maxima: Maxima | None = None


def all_modes(
    sample: AbstractSample,
    log_f: Float[np.ndarray, "n"],
    extra: Float[np.ndarray, "k d"],
) -> Maxima:
    """Search until nothing higher can be left; for d > 2, believe the search."""
    modes, log_d = find_modes(sample, log_f, extra)
    while True:
        highest = max(float(log_d[0]), 0.0)
        found = bound_everywhere(sample, log_f, modes, highest + SLACK)
        if found is None:
            return Maxima(modes, log_d, highest, proven=False)
        bound, higher = found
        if not len(higher):
            return Maxima(modes, log_d, bound, proven=True)
        modes, log_d = find_modes(sample, log_f, np.concatenate([modes, higher]))


@singledispatch
def bound_everywhere(
    sample: AbstractSample,
    log_f: Float[np.ndarray, "n"],
    modes: Float[np.ndarray, "m d"],
    level: float,
) -> tuple[float, Float[np.ndarray, "k d"]] | None:
    """An upper bound of log D, `level` if it can be proven, and points above `level`.

    `modes` are maxima of D, none above `level`. The search ends at the first points
    above it: they lead to maxima that were overlooked. None for data in more than two
    dimensions or spread too far.
    """
    d, log_ratio = sample.places.shape[1], np.log(sample.weights) - log_f
    whole = sample.box(log_ratio)
    if d > 2 or whole is None or np.ptp(log_ratio) > 600:
        return None
    low, high = whole
    panels = np.floor((high - low) / PANEL).astype(np.int64) + 1
    if np.prod((panels * ORDER).astype(float)) > NODES:
        return None
    product = sample.factor(0, low[:1]) is not None
    if not product and np.prod(panels * ORDER) * len(log_f) > SLOW:
        return None
    table = _interpolation(sample, log_ratio, low, panels)
    radius = sample.concave(log_ratio, modes)
    per_panel = int(PANEL / SIDE)
    box = _grid(panels * per_panel)
    side, seen, bound = SIDE, 0, level
    corners = _grid(np.full(d, 2))
    while len(box) and seen < CORNERS:
        at = (box[:, None] + corners).reshape(-1, d)
        shape = at.max(axis=0) + 1
        flat, where = np.unique(
            np.ravel_multi_index(tuple(at.T), shape), return_inverse=True
        )
        nodes = np.stack(np.unravel_index(flat, shape), axis=1)
        value = _interpolated(table, nodes * (side / PANEL))
        if value.max() > level:
            return float(value.max()), low + side * nodes[value > level]
        seen += len(nodes)
        top = value[where.reshape(len(box), -1)].max(axis=1) + d * side**2 / 8
        box, top = box[top > level], top[top > level]
        left = ~_covered(low + side * box, side, modes, radius)
        bound = float(top[left].max(initial=level))
        box = (2 * box[left, None] + corners).reshape(-1, d)
        side = side / 2
    return bound, np.empty((0, d))


def _grid(sizes: Int[np.ndarray, "d"]) -> Int[np.ndarray, "m d"]:
    axes = np.meshgrid(*(np.arange(k) for k in sizes), indexing="ij")
    return np.stack(axes, axis=-1).reshape(-1, len(sizes))


def _interpolation(
    sample: AbstractSample, log_ratio: np.ndarray, low: np.ndarray, panels: np.ndarray
) -> np.ndarray:
    """Chebyshev coefficients of D: panels along each axis, then orders along each."""
    angles = np.pi * (np.arange(ORDER) + 0.5) / ORDER
    rows = np.cos(np.outer(np.arange(ORDER), angles)) * (2 / ORDER)
    rows[0] /= 2
    axes = [
        (
            start
            + PANEL * (np.arange(count) + 0.5)[:, None]
            + PANEL / 2 * np.cos(angles)
        ).reshape(-1)
        for start, count in zip(low, panels, strict=True)
    ]
    value = _on_grid(sample, log_ratio, axes)
    if len(axes) == 1:
        return value.reshape(-1, ORDER) @ rows.T
    value = value.reshape(panels[0], ORDER, panels[1], ORDER)
    return np.einsum("ab,pbqc,dc->pqad", rows, value, rows, optimize=True)


def _on_grid(
    sample: AbstractSample, log_ratio: np.ndarray, axes: list[np.ndarray]
) -> np.ndarray:
    """D on a tensor grid: a matrix product over the data where L is a product."""
    shape = tuple(len(axis) for axis in axes)
    if sample.factor(0, axes[0][:1]) is None:
        nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        flat = nodes.reshape(-1, len(axes))
        log_f = np.log(sample.weights) - log_ratio
        return np.exp(log_certificate(flat, sample, log_f)).reshape(shape)
    ratio, value = np.exp(log_ratio), np.zeros(shape)
    for s in range(0, len(ratio), DATA):
        part = slice(s, s + DATA)
        factors = [sample.factor(k, axis, part) for k, axis in enumerate(axes)]
        last = factors[-1] * ratio[part]
        value += last.sum(axis=1) if len(axes) == 1 else factors[0] @ last.T
    return value


def _interpolated(table: np.ndarray, at: Float[np.ndarray, "m d"]) -> np.ndarray:
    """log D at points given in panels from the lower corner."""
    shape = table.shape[: at.shape[1]]
    panel = np.minimum(at.astype(np.int64), np.array(shape) - 1)
    orders = chebvander(2 * (at - panel) - 1, ORDER - 1)  # (m, d, ORDER)
    which = np.ravel_multi_index(tuple(panel.T), shape)
    order = np.argsort(which, kind="stable")
    value = np.empty(len(at))
    ends = np.flatnonzero(np.diff(which[order])) + 1
    for here in np.split(order, ends):  # all points of one panel
        part = orders[here, 0] @ table[tuple(panel[here[0]])]
        value[here] = part if part.ndim == 1 else np.sum(part * orders[here, 1], axis=1)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(value, 0))


def _covered(
    low: np.ndarray, side: float, modes: np.ndarray, radius: np.ndarray
) -> np.ndarray:
    """Whether a box lies where D has no maximum but one of the modes."""
    covered = np.zeros(len(low), dtype=bool)
    for x, r in zip(modes, radius, strict=True):
        farthest = np.maximum(np.abs(low - x), np.abs(low + side - x))
        covered |= (farthest <= r).all(axis=1)
    return covered
