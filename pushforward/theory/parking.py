"""How many centers a random sequence of tokens has: Renyi's random parking.

Renyi centers keep a token when it is farther than delta (geodesic) from all centers
kept before; strong centers when it is farther than delta from ALL earlier tokens.
Attention at inverse temperature beta has delta = c beta^{-1/2}. [karagodin2024causal],
[renyi1958]
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, exp1

from pushforward.theory._checks import (
    Real,
    between,
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


def expected_centers(delta: ArrayLike) -> Real:
    """Mean number of Renyi centers of endlessly many tokens on the circle.

    c_R 2 pi / delta, up to an error that vanishes faster than exponentially as delta
    shrinks.
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
