"""No point of large D is overlooked: a bound over all of space, by bisection.

D is a sum of Gaussians of unit width or wider, hence a polynomial to rounding on boxes
of a few units, found by interpolation at Chebyshev points. Over a box, |u|, |v| <= 1,

    D = sum_jk c_jk T_j(u) T_k(v)  <=  max of its quadratic part + sum of other |c_jk|,

and the quadratic part is maximized exactly. Boxes whose bound is above the level asked
for are halved. Around a maximum this would not end; there D is concave, which ends it:
its Hessian is that of the quadratic part, up to the sum of |c_jk| |T_j T_k|''.
"""

from functools import cache, singledispatch
from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.polynomial.chebyshev import Chebyshev, chebvander
from scipy.special import gammaln

from pushforward.statistics.mixtures._likelihood import AbstractSample
from pushforward.statistics.mixtures._modes import find_modes, nodes_of, on_grid

WIDEST = 12.0  # panel, in standard deviations of the noise
ORDER = 70  # Chebyshev points in the widest panel
NODES = 2_000_000
BOXES = 300_000  # looked at in all, before the bound found so far is returned
SLACK = 1e-12  # of log D: what rounding and interpolation may hide
TINY = 5e-16  # coefficients below are dropped: all of them are less than SLACK
SLOW = 2e9  # evaluations of L_i, where it is no product over axes
AROUND = 1.5  # half sides from the middle of a box to a maximum it may belong to


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
    known: Maxima | None = None,
) -> Maxima:
    """Search until nothing higher can be left; for d > 2, believe the search.

    It starts at `extra`, or from what is known already.
    """
    modes, log_d = known[:2] if known else find_modes(sample, log_f, extra)
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
    panels = np.maximum(np.ceil((high - low) / WIDEST), 1).astype(np.int64)
    half = np.maximum((high - low) / panels, 1e-3) / 2
    orders = np.array([_order(2 * h) for h in half])
    nodes = float(np.prod((panels * orders).astype(float)))
    separate = sample.factor(0, low[:1]) is not None
    if nodes > NODES or (not separate and nodes * len(log_f) > SLOW):
        return None
    middle = low + half * (2 * nodes_of([np.arange(1.0 * k) for k in panels]) + 1)
    C = _interpolation(sample, log_ratio - level, low, panels, half)
    tops = _Tops(modes, _slopes(sample, log_ratio - level, modes))
    seen, bound = 0, 1.0
    while len(C) and seen < BOXES:
        value, top, curved = _sizes(C)
        if value.max() > 1:
            return level + float(np.log(value.max())), middle[value > 1]
        seen += len(C)
        left = top > 1
        left[left] = ~tops.inside(middle[left], half, curved[left])
        bound = float(top[left].max(initial=1.0))
        C, middle, half = _halved(C[left], middle[left], half)
    return level + float(np.log(bound)), np.empty((0, d))


class _Tops(NamedTuple):
    """Maxima of D, and its slopes there: rounding."""

    points: Float[np.ndarray, "m d"]
    slopes: Float[np.ndarray, "m"]

    def inside(
        self,
        middle: Float[np.ndarray, "n d"],
        half: Float[np.ndarray, "d"],
        room: Float[np.ndarray, "n"],
    ) -> np.ndarray:
        """Boxes that hold a maximum, or are close to one, and on which D is concave.

        Then D rises above that maximum by slope^2 / (2 room) at most.
        """
        if not len(self.points):
            return np.zeros(len(middle), dtype=bool)
        far = (np.abs(middle[:, None] - self.points) / half).max(axis=2)
        top = is_top(half.max() * self.slopes, room[:, None])
        return ((far <= AROUND) & top).any(axis=1)


def is_top(slope: object, room: object) -> Bool[np.ndarray, "..."]:
    """Whether D rises by rounding only: by at most slope^2 / (2 room)."""
    slope, room = np.asarray(slope), np.asarray(room)
    return np.asarray((room > 0) & (slope**2 <= 2e-13 * room))


def _slopes(
    sample: AbstractSample, log_ratio: np.ndarray, x: Float[np.ndarray, "m d"]
) -> Float[np.ndarray, "m"]:
    """|grad D|."""
    share = np.exp(sample.log_kernel(x) + log_ratio)
    return np.linalg.norm(np.einsum("mn,dmn->dm", share, sample.scores(x)), axis=0)


def _order(width: float) -> int:
    """Chebyshev points that leave an error of 2 (width / 4)^k / sqrt(k!): rounding."""
    k = np.arange(1, ORDER)
    log_error = np.log(2) + k * np.log(width / 4) - gammaln(k + 1) / 2
    return max(3, int(k[log_error < np.log(2e-16)][0]))


@cache
def _projection(q: int) -> tuple[Float[np.ndarray, "q"], Float[np.ndarray, "q q"]]:
    """Chebyshev points, and the matrix from values there to coefficients."""
    angles = np.pi * (np.arange(q) + 0.5) / q
    rows = np.cos(np.outer(np.arange(q), angles)) * (2 / q)
    rows[0] /= 2
    return np.cos(angles), rows


def _to_half(side: int) -> Float[np.ndarray, "q q"]:
    """From the coefficients on a side to those on its lower or upper half."""
    points, rows = _projection(ORDER)
    return np.triu(rows @ chebvander((points + 2 * side - 1) / 2, ORDER - 1))


HALVES = [_to_half(0), _to_half(1)]


def _interpolation(
    sample: AbstractSample,
    log_ratio: Float[np.ndarray, "n"],
    low: Float[np.ndarray, "d"],
    panels: Int[np.ndarray, "d"],
    half: Float[np.ndarray, "d"],
) -> Float[np.ndarray, "m q r"]:
    """Chebyshev coefficients of D in each panel; on the line r is one."""
    points, rows = zip(*(_projection(_order(2 * h)) for h in half), strict=True)
    axes = [
        (start + h * (2 * np.arange(count)[:, None] + 1 + x)).reshape(-1)
        for start, h, count, x in zip(low, half, panels, points, strict=True)
    ]
    value = on_grid(sample, log_ratio, axes)
    if len(axes) == 1:
        return (value.reshape(panels[0], -1) @ rows[0].T)[:, :, None]
    value = value.reshape(panels[0], len(rows[0]), panels[1], len(rows[1]))
    C = rows[0] @ value.transpose(0, 2, 1, 3) @ rows[1].T
    return C.reshape(-1, len(rows[0]), len(rows[1]))


def _halved(
    C: Float[np.ndarray, "m q r"],
    middle: Float[np.ndarray, "m d"],
    half: Float[np.ndarray, "d"],
) -> tuple[
    Float[np.ndarray, "j p s"], Float[np.ndarray, "j d"], Float[np.ndarray, "d"]
]:
    """The halves of each box along every axis; orders that no box has are dropped."""
    parts, places = [], []
    d = len(half)
    for side in product((0, 1), repeat=d):
        part = HALVES[side[0]][: C.shape[1], : C.shape[1]] @ C
        if d == 2:
            part = part @ HALVES[side[1]][: C.shape[2], : C.shape[2]].T
        parts.append(part)
        places.append(middle + half * (np.array(side) - 0.5))
    C = np.concatenate(parts)
    if len(C):
        size = np.abs(C).max(axis=0)
        orders = [
            max(3, int(np.flatnonzero(size.max(axis=1 - k) > TINY).max(initial=0)) + 1)
            for k in (0, 1)
        ]
        C = C[:, : orders[0], : orders[1]]
    return C, np.concatenate(places), half / 2


def _sizes(
    C: Float[np.ndarray, "m q r"],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """D in the middle, a bound over the box, and how concave D is on it and around."""
    q, r = C.shape[1:]
    even = [np.cos(np.pi / 2 * np.arange(k)).round() for k in (q, r)]
    value = np.einsum("j,mjk,k->m", even[0], C, even[1])
    size = np.abs(C)
    size[:, :3, 0] = 0
    size[:, 0, :3] = 0
    size[:, 1:2, 1:2] = 0
    c = np.zeros((len(C), 3, 3))
    c[:, : min(q, 3), : min(r, 3)] = C[:, :3, :3]
    top = _quadratic_top(c) + size.sum(axis=(1, 2))
    steepest = np.einsum("mjk,jk->m", size, CURVES[:q, :r])
    a, b, e = 4 * c[:, 2, 0], c[:, 1, 1], 4 * c[:, 0, 2]
    if r == 1:
        return value, top, -a - steepest
    largest = (a + e) / 2 + np.hypot((a - e) / 2, b)
    return value, top, -largest - steepest


def _quadratic_top(c: Float[np.ndarray, "m 3 3"]) -> Float[np.ndarray, "m"]:
    """The maximum over the box of the six terms of order up to two."""
    found = []
    for s in (-1, 1):
        for x in (c, np.swapaxes(c, 1, 2)):
            edge = x[:, 0] + s * x[:, 1] + x[:, 2]
            edge[:, 2] = x[:, 0, 2]
            edge[:, 1] = x[:, 0, 1] + s * x[:, 1, 1]
            found.append(_line_top(*edge.T))
    a, b, e = 4 * c[:, 2, 0], c[:, 1, 1], 4 * c[:, 0, 2]
    g, h = c[:, 1, 0], c[:, 0, 1]
    det = a * e - b**2
    peaked = (det > 0) & (a < 0)
    det = np.where(peaked, det, 1.0)
    u, v = (b * h - e * g) / det, (b * g - a * h) / det
    level = c[:, 0, 0] - c[:, 2, 0] - c[:, 0, 2] + (g * u + h * v) / 2
    inside = peaked & (np.abs(u) <= 1) & (np.abs(v) <= 1)
    return np.maximum(np.max(found, axis=0), np.where(inside, level, -np.inf))


def _line_top(k: np.ndarray, g: np.ndarray, e: np.ndarray) -> np.ndarray:
    """The maximum of k + g t + e (2 t^2 - 1) over [-1, 1]."""
    ends = k + e + np.abs(g)
    inside = np.abs(g) < -4 * e
    safe = np.where(inside, e, -1.0)
    return np.where(inside, k - e - g**2 / (8 * safe), ends)


def _second_derivatives() -> Float[np.ndarray, "q q"]:
    """A bound of the Hessian of T_j T_k around the box."""
    bases = [Chebyshev.basis(k) for k in range(ORDER)]
    flat, slope, bend = (
        np.array([base.deriv(n)(AROUND) for base in bases]) for n in range(3)
    )
    return np.outer(bend, flat) + np.outer(slope, slope) + np.outer(flat, bend)


CURVES = _second_derivatives()
