"""How many modes has a Gaussian kernel density estimate of n normal points?

X_i are independent N(0, 1), the kernel has variance 1 / beta, a mode is a local
maximum. For n^c << beta << n^{2-c} the mean number grows like sqrt(beta log beta), and
nearly all of them lie where t^2 is between 2 log n - 3 log beta and 2 log n - log beta.
[geshkovski2024modes]
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfc, ndtr

from pushforward.errors import InputError
from pushforward.theory._checks import real, scalar

NODES = 4000


def of_two_points(beta: float) -> float:
    """The mean number for n = 2, exactly: 1 + erfc(beta^{-1/2}).

    >>> round(of_two_points(10.0), 10)
    1.654720846
    """
    return 1 + float(erfc(_beta(beta) ** -0.5))


def leading(beta: float, n: float) -> float:
    """The leading order: zeros of a white noise smoothed by the kernel, in the belt.

    (1/pi) sqrt(3 beta / 2) (sqrt(2 log n - log beta) - sqrt((2 log n - 3 log beta)_+))

    >>> round(leading(100.0, 10_000) / math.sqrt(100 * math.log(100)), 6)
    0.285389
    """
    beta, n = _beta(beta), _count(n)
    outer = 2 * math.log(n) - math.log(beta)
    inner = 2 * math.log(n) - 3 * math.log(beta)
    if outer <= 0:
        raise InputError(f"`beta` must be below n^2 = {n * n:g}, got {beta:g}.")
    width = math.sqrt(outer) - math.sqrt(max(inner, 0.0))
    return math.sqrt(1.5 * beta) / math.pi * width


def in_window(beta: float, n: float, omega: float = 1.0) -> float:
    """The mean number for t^2 <= 2 log n - log beta - omega, by the Kac-Rice formula.

    The derivative of the estimate and the next are taken as jointly Gaussian, which is
    right inside of this window; over the whole line it would count several times too
    many, for in the tails there are few points.

    >>> round(in_window(100.0, 100), 4)
    7.1081
    """
    beta, n, omega = _beta(beta), _count(n), scalar("omega", omega)
    if not 0 <= omega <= 100:
        raise InputError(f"`omega` must lie between 0 and 100, got {omega:g}.")
    square = 2 * math.log(n) - math.log(beta) - omega
    if square <= 0:
        raise InputError(
            f"`beta` must be below n^2 e^-omega for a window, got {beta:g} at n = {n}."
        )
    end = math.sqrt(square)
    node, weight = np.polynomial.legendre.leggauss(50)
    edges = np.linspace(0, end, NODES // 50 + 1)
    half = np.diff(edges)[:, None] / 2
    t = ((edges[1:] + edges[:-1])[:, None] / 2 + half * node).ravel()
    return 2 * float((half * weight).ravel() @ per_length(t, beta, n))


def per_length(t: ArrayLike, beta: float, n: float) -> np.ndarray:
    """The mean number of modes per length at t, of which `in_window` is the integral.

    E[(F')^-; F = 0] for the derivative F = mean of U e^{-beta U^2/2}, U = X - t.

    >>> per_length([0.0, 3.0], 100.0, 10_000).round(3).tolist()
    [3.177, 0.379]
    """
    t, beta, n = real("t", t), _beta(beta), _count(n)
    one, two = _moments(t, beta, 1), _moments(t, beta, 2)
    mean, slope = one[1], beta * one[2] - one[0]  # of F and of F'
    spread = (two[2] - mean**2) / n
    second = beta**2 * two[4] - 2 * beta * two[2] + two[0]
    slope_spread = (second - slope**2) / n
    cross = (beta * two[3] - two[1] - mean * slope) / n
    given = slope - cross / spread * mean
    sd = np.sqrt(np.maximum(slope_spread - cross**2 / spread, 1e-300))
    z = given / sd
    part = sd * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) - given * ndtr(-z)
    density = np.exp(-(mean**2) / (2 * spread)) / np.sqrt(2 * math.pi * spread)
    return part * density


def _beta(beta: float) -> float:
    beta = scalar("beta", beta)
    if not 1e-3 <= beta <= 1e40:
        raise InputError(f"`beta` must lie between 1e-3 and 1e40, got {beta:g}.")
    return beta


def _count(n: float) -> float:
    """A number of points, which may be beyond all integers of a machine."""
    n = scalar("n", n)
    if not 2 <= n <= 1e40:
        raise InputError(f"`n` must lie between 2 and 1e40, got {n:g}.")
    return n


def _moments(t: np.ndarray, beta: float, k: int) -> list[np.ndarray]:
    """E[U^p e^{-k beta U^2/2}] for p = 0..4: a Gaussian of precision 1 + k beta."""
    precision = 1 + k * beta
    m, v = -t / precision, 1 / precision
    size = np.exp(-(k * beta) * t**2 / (2 * precision)) / math.sqrt(precision)
    powers = (
        np.ones_like(t),
        m,
        m**2 + v,
        m**3 + 3 * m * v,
        m**4 + 6 * m**2 * v + 3 * v**2,
    )
    return [size * power for power in powers]
