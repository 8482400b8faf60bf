"""How many centers a random sequence of tokens has: Renyi's random parking.

Renyi centers keep a token when it is farther than delta (geodesic) from all centers
kept before; strong centers when it is farther than delta from ALL earlier tokens.
Attention at inverse temperature beta has delta = c beta^{-1/2}. [karagodin2024causal],
[renyi1958]
"""

import functools

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.typing import ArrayLike
from scipy.special import betainc, exp1

from pushforward.theory._checks import (
    Real,
    between,
    nonnegative,
    positive,
    representable,
    together,
    whole,
)


def renyi_constant() -> float:
    """Mean density of parked unit cars on a long road.

    int_0^inf exp(-2 int_0^x (1 - e^{-y})/y dy) dx

    >>> round(renyi_constant(), 13)
    0.7475979202534
    """
    # E_1 is below 1e-18 beyond the last end, where the tail is exactly e^{-2 gamma}/x
    ends = np.array([0.0, 1, 2, 4, 8, 16, 40])
    nodes, weights = np.polynomial.legendre.leggauss(40)
    half, middle = np.diff(ends) / 2, (ends[1:] + ends[:-1]) / 2
    x = middle[:, None] + half[:, None] * nodes
    # int_0^x (1 - e^{-y})/y dy = E_1(x) + log x + Euler's gamma
    density = np.exp(-2 * (exp1(x) + np.log(x) + np.euler_gamma))
    tail = np.exp(-2 * np.euler_gamma) / ends[-1]
    return float(half @ density @ weights + tail)


def center_scale(beta: ArrayLike, c: float = 4.0) -> Real:
    """delta = c beta^{-1/2}; figures of the paper use c = 4."""
    together(c=c, beta=beta)
    return (positive("c", c) / np.sqrt(positive("beta", beta)))[()]


def cap_measure(delta: ArrayLike, d: int) -> Real:
    """Share of the unit sphere of R^d within geodesic distance delta of a point.

    delta/pi on the circle, sin^2(delta/2) on S^2.
    """
    d, delta = whole("d", d, 2), between("delta", delta, 0, np.pi)
    # the regularized incomplete beta function of sin^2(delta/2), by symmetry
    return betainc((d - 1) / 2, (d - 1) / 2, np.sin(delta / 2) ** 2)[()]


def parked_cars(length: ArrayLike) -> Real:
    """Mean number M of unit cars that park at random on a road, until none fits.

    x M(x + 1) = x + 2 int_0^x M,    M = 0 up to length 1, where no car is sure to fit.

    Up to rounding: c_R (length + 1) - 1, and what is missing to it piece by piece; that
    is less than (2e/length)^{length - 3/2}. [renyi1958]

    >>> round(float(parked_cars(3.5)), 6)
    2.351256
    """
    x = nonnegative("length", length)
    road = x.reshape(-1)
    mean = renyi_constant() * (road + 1) - 1
    for k, excess in enumerate(_excess_pieces()):
        inside = (road > k) & (road <= k + 1)
        mean[inside] += excess(road[inside])
    mean[road <= 1] = 0.0
    mean[(road > 1) & (road <= 2)] = 1.0
    return mean.reshape(x.shape)[()]


@functools.cache
def _excess_pieces(last: int = 15) -> tuple[Chebyshev, ...]:
    """e(x) = M(x) - c_R (x + 1) + 1 on (0, 1], (1, 2], ..., (last - 1, last].

    Renyi's equation is x e(x + 1) = 2 int_0^x e. On each piece the nearest singularity
    is a unit away from the ends, so that degree 24 leaves 6^{-24}; and e itself falls
    so fast that nothing is left of it after the last: 4e-13 at 12, rounding at 14.
    """
    c = renyi_constant()
    pieces = [
        Chebyshev([m - c * (k + 1.5), -c / 2], domain=[k, k + 1])
        for k, m in ((0, 1), (1, 2))
    ]
    total = pieces[0].integ(lbnd=0)(1)  # int_0^k e
    for k in range(1, last - 1):
        integral = pieces[k].integ(lbnd=k) + total
        pieces.append(
            Chebyshev.interpolate(_onward, 24, [k + 1, k + 2], args=(integral,))
        )
        total = integral(k + 1)
    return tuple(pieces)


def _onward(x: np.ndarray, integral: Chebyshev) -> np.ndarray:
    """e(x) = 2 int_0^{x-1} e / (x - 1)."""
    return 2 * integral(x - 1) / (x - 1)


def expected_centers(delta: ArrayLike) -> Real:
    """Mean number of Renyi centers of endlessly many tokens on the circle, exactly.

    1 + M(L - 1) with L = 2 pi / delta and M of `parked_cars`: the first token cuts the
    circle open and takes one place. Not to be confused with its law for small delta,
    `expected_centers_asymptotic`, which differs by 7% at L = 2.5.

    >>> round(float(expected_centers(2 * np.pi / 3.5)), 6)
    2.666667
    """
    return 1 + parked_cars(2 * np.pi / between("delta", delta, 0, np.pi) - 1)


def expected_centers_asymptotic(delta: ArrayLike) -> Real:
    """c_R 2 pi / delta: the law of `expected_centers` as delta tends to zero.

    The error vanishes faster than exponentially: 1e-2 at 2 pi / delta = 4.5, 1e-6 at 9.
    """
    return (renyi_constant() * 2 * np.pi / between("delta", delta, 0, np.pi))[()]


def expected_strong_centers(delta: ArrayLike, d: int, n: int) -> Real:
    """Mean number of strong centers of n uniform tokens: (1 - (1-s)^n)/s.

    s is the measure of a cap of radius delta.

    >>> round(float(expected_strong_centers(0.5, 2, 200)), 6)
    6.283185
    """
    n, share = whole("n", n, 1), np.asarray(cap_measure(delta, d))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = -np.expm1(n * np.log1p(-share)) / share
    return np.where(share > 0, mean, n)[()]  # caps too small to measure: all are strong


def expected_strong_centers_limit(delta: ArrayLike, d: int) -> Real:
    """The same for endlessly many tokens: one over the measure of a cap."""
    with np.errstate(divide="ignore"):
        count = 1 / np.asarray(cap_measure(delta, d))
    return representable("the number of centers", count, "a larger delta")
