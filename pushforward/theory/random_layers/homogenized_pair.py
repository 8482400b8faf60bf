"""Two tokens under random weights: the exact law at beta = 0 and the slow clock.

[koubbi2026homogenized], with two corrections of the published low-temperature limit,
said where they are made.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh_tridiagonal, expm

from pushforward.errors import InputError
from pushforward.theory._checks import (
    Real,
    between,
    nonnegative,
    positive,
    real,
    representable,
    scalar,
    whole,
)


def pair_expectation(
    f: Callable[[np.ndarray], ArrayLike],
    s: float,
    d: int,
    start: float,
    nodes: int = 40,
) -> float:
    """E f(R(s)) of two tokens at beta = 0, by Chebyshev collocation of the generator.

    L = (m/d) [(1-R)(d-2-R) d/dR + (1-R)^2 (1+R) d^2/dR^2] with m = (1+R)/2; it
    degenerates at both ends, so that no boundary condition is needed. `f` is smooth.

    >>> round(pair_expectation(lambda r: r, 0.5, 8, 0.0), 10)
    0.1776140776
    """
    if not callable(f):
        raise InputError(f"`f` must be a function of the cosine, got {f!r}.")
    s = float(nonnegative("s", scalar("s", s)))
    d, nodes = whole("d", d, 2), whole("nodes", nodes, 4)
    start = scalar("start", start)
    if not -1 <= start <= 1:
        raise InputError(f"`start` must lie in [-1, 1], got {start:g}: it is a cosine.")
    r, D = _chebyshev(nodes)
    mean = (1 + r) / 2
    drift, spread = (1 - r) * (d - 2 - r), (1 - r) ** 2 * (1 + r)
    L = (mean / d)[:, None] * (drift[:, None] * D + spread[:, None] * (D @ D))
    values = expm(s * L) @ real("f(cosines)", f(r))
    representable("the expectation", values, "a smaller s")
    return float(_interpolated(start, r, values))


def pair_mean(s: float, d: int, start: float = 0.0) -> float:
    """E <x, y> of two tokens at beta = 0; in d = 2, from 0, it stays 0 for all s."""
    return pair_expectation(lambda r: r, s, d, start)


def hard_overlap(overlap: ArrayLike, d: int) -> Real:
    """E cos(Ax, Ay) = R - R (1 - R^2)/d + O(d^-2) for A = W W'^T, square factors.

    Each Gaussian factor costs R (1 - R^2)/(2d); the published lemma has only one.
    """
    R, d = real("overlap", overlap), whole("d", d, 1)
    return (R - R * (1 - R**2) / d)[()]


def hard_overlap_published(overlap: ArrayLike, d: int) -> Real:
    """R - R (1 - R^2)/(2d): right for one Gaussian matrix A, entries independent."""
    R, d = real("overlap", overlap), whole("d", d, 1)
    return (R - R * (1 - R**2) / (2 * d))[()]


def slow_coefficient(d: int, head_dimension: int) -> float:
    """c in du = -c u (1-u^2) dt + sqrt(2) (1-u^2) dB, the limit in the clock s/d.

    c = 3/2 + d/(2k) for W, W' of shape (d, k), so 2 for square factors. The published
    equation has c = 1, which is right for A orthogonal (Haar).
    """
    return 1.5 + whole("d", d, 1) / (2 * whole("head_dimension", head_dimension, 1))


def slow_law(
    t: float, start: float, coefficient: float = 2.0
) -> tuple[np.ndarray, np.ndarray]:
    """The law of y = artanh u at slow time t > 0: a grid, and the density on it.

    dy = (2 - c) tanh(y) dt + sqrt(2) dB. A birth-death chain in detailed balance with
    cosh(y)^{2-c}, on 1,201 points: second order in the spacing.
    """
    t, c = float(positive("t", scalar("t", t))), scalar("coefficient", coefficient)
    y_0 = float(np.arctanh(between("start", scalar("start", start), -1.0, 1.0)))
    if not 1e-12 <= t <= 100 or abs(c) > 10:
        raise InputError(
            "`t` must lie in [1e-12, 100] and `coefficient` in [-10, 10], got "
            f"{t:g} and {c:g}."
        )
    half = 600
    h = (abs(2 - c) * t + 9 * np.sqrt(2 * t)) / half
    y = y_0 + h * np.arange(-half, half + 1)
    tilt = (2 - c) / 2 * np.diff(_log_cosh(y))
    up, down = np.exp(tilt) / h**2, np.exp(-tilt) / h**2
    leave = np.append(up, 0.0) + np.append(0.0, down)
    rates, waves = eigh_tridiagonal(-leave, np.sqrt(up * down))
    weight = np.exp((2 - c) / 2 * (_log_cosh(y) - _log_cosh(y_0)))
    law = (waves * np.exp(t * np.minimum(rates, 0.0))) @ waves[half] * weight
    return y, law / h


def slow_artanh_square(t: float, start: float, coefficient: float = 2.0) -> float:
    """E artanh(u)^2 at slow time t from u_0 = `start`.

    For c = 2 artanh u is sqrt(2) times a Brownian motion, so artanh(u_0)^2 + 2 t, and u
    is never absorbed; for the published c = 1 it runs away.

    >>> round(slow_artanh_square(0.25, 0.0, 1.0), 3)
    0.611
    """
    y, density = slow_law(t, start, coefficient)
    return float((y[1] - y[0]) * (density @ y**2))


def absorption_published(start: ArrayLike) -> Real:
    """1/2 + arcsin(u_0)/pi: the published chance of ending at u = 1.

    It belongs to c = 1. With c = 2 tokens are recurrent and end nowhere.
    """
    start = real("start", start)
    if np.any(np.abs(start) > 1):
        raise InputError("`start` must lie in [-1, 1]: it is a cosine.")
    return (0.5 + np.arcsin(start) / np.pi)[()]


def _chebyshev(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Chebyshev points on [-1, 1] and the differentiation matrix on them."""
    x = np.cos(np.pi * np.arange(nodes) / (nodes - 1))
    c = np.where((np.arange(nodes) % (nodes - 1)) == 0, 2.0, 1.0)
    c = c * (-1.0) ** np.arange(nodes)
    D = np.outer(c, 1 / c) / (x[:, None] - x[None, :] + np.eye(nodes))
    return x, D - np.diag(D.sum(1))


def _interpolated(at: float, x: np.ndarray, values: np.ndarray) -> float:
    gap = at - x
    if (gap == 0).any():
        return float(values[gap == 0][0])
    w = (-1.0) ** np.arange(len(x))
    w[[0, -1]] /= 2
    return float((w / gap) @ values / (w / gap).sum())


def _log_cosh(y: ArrayLike) -> np.ndarray:
    y = np.abs(y)
    return y + np.log1p(np.exp(-2 * y)) - np.log(2)
