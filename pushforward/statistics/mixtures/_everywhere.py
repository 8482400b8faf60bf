"""No point of large D is overlooked: a bound over all of space, by bisection.

log D(y) + |y|^2 / 2 is the logarithm of a sum of exponentials of y, so it is convex
and, over a box with sides h,

    log D <= (largest value at a corner) + |h|^2 / 8 .

Boxes whose bound is above the level asked for are halved. Around a maximum x this would
not end; but log D is concave in the box |y - x|_inf <= rho, hence has no other maximum
there, as soon as at all corners c of the unit box

    E_R[(X - m)(X - m)^T e^{rho <c, X - m>}] < I ,      m = E_R[X],

R the law on the data proportional to p_i phi(x - X_i) / f(X_i): the left side is convex
in the tilt, and above the covariance of R tilted to any point of the box.

The corners of the boxes are many, so D is interpolated at Chebyshev points, to
rounding: it is a sum of Gaussians of unit width.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.polynomial.chebyshev import chebvander

from pushforward.statistics.mixtures._likelihood import Sample, log_kernel
from pushforward.statistics.mixtures._modes import find_modes

PANEL = 2.0  # width, in standard deviations of the noise
ORDER = 22  # Chebyshev points in a panel: (1/2)^k / sqrt(k!) is below 1e-15
NODES = 2_000_000
SIDE = 0.25  # of the first boxes
CORNERS = 400_000  # looked at in all, before the bound found so far is returned
SLACK = 1e-12  # of log D: what rounding and interpolation may hide
HALVINGS = 14  # of the box around a maximum


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
    sample: Sample, log_f: Float[np.ndarray, "n"], extra: Float[np.ndarray, "k d"]
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


def bound_everywhere(
    sample: Sample,
    log_f: Float[np.ndarray, "n"],
    modes: Float[np.ndarray, "m d"],
    level: float,
) -> tuple[float, Float[np.ndarray, "k d"]] | None:
    """An upper bound of log D, `level` if it can be proven, and points above `level`.

    `modes` are maxima of D, none above `level`. The search ends at the first points
    above it: they lead to maxima that were overlooked. None for data in more than two
    dimensions or spread too far.
    """
    d = sample.points.shape[1]
    low, extent = sample.points.min(axis=0), np.ptp(sample.points, axis=0)
    panels = np.floor(extent / PANEL).astype(np.int64) + 1
    log_ratio = np.log(sample.weights) - log_f
    if d > 2 or np.prod(panels * ORDER) > NODES or np.ptp(log_ratio) > 600:
        return None
    table = _interpolation(sample, log_ratio, low, panels)
    radius = _concave(sample, log_ratio, modes)
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
    sample: Sample, log_ratio: np.ndarray, low: np.ndarray, panels: np.ndarray
) -> np.ndarray:
    """Chebyshev coefficients of D: panels along each axis, then orders along each."""
    angles = np.pi * (np.arange(ORDER) + 0.5) / ORDER
    rows = np.cos(np.outer(np.arange(ORDER), angles)) * (2 / ORDER)
    rows[0] /= 2
    factors = []
    for x, start, count in zip(sample.points.T, low, panels, strict=True):
        middle = start + PANEL * (np.arange(count) + 0.5)
        nodes = (middle[:, None] + PANEL / 2 * np.cos(angles)).reshape(-1)
        phi = np.exp(-0.5 * np.subtract.outer(nodes, x) ** 2) / np.sqrt(2 * np.pi)
        factors.append(np.einsum("ab,pbn->pan", rows, phi.reshape(count, ORDER, -1)))
    ratio = np.exp(log_ratio)
    if len(factors) == 1:
        return factors[0] @ ratio
    first, second = (f.reshape(-1, f.shape[2]) for f in factors)
    shape = (panels[0], ORDER, panels[1], ORDER)
    return (first @ (second * ratio).T).reshape(shape).transpose(0, 2, 1, 3)


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


def _concave(sample: Sample, log_ratio: np.ndarray, modes: np.ndarray) -> np.ndarray:
    """Half the side of a box around each mode in which log D is concave, or zero."""
    radius = np.zeros(len(modes))
    corners = np.array(list(product((-1.0, 1.0), repeat=modes.shape[1])))
    for j, x in enumerate(modes):
        logs = log_kernel(x[None], sample.points)[0] + log_ratio
        logs -= logs.max()
        logs -= np.log(np.exp(logs).sum())
        mean = np.exp(logs) @ sample.points
        offset = sample.points - mean
        for rho in 0.5 ** np.arange(HALVINGS):
            tilts = [np.exp(np.minimum(logs + rho * offset @ c, 99)) for c in corners]
            bends = [(tilt[:, None] * offset).T @ offset for tilt in tilts]
            room = 1 - float(np.linalg.eigvalsh(bends)[:, -1].max())
            # a gradient that is not quite zero may add its square over twice the room
            if room > 0 and np.sum((mean - x) ** 2) <= 2e-13 * room:
                radius[j] = rho
                break
    return radius
