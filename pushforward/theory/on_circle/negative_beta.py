"""Attention with negative beta on the circle: it attracts, opposite tokens most.

d theta_i/dt = -(1/n) sum_j f(theta_i - theta_j), f(x) = sin(x) e^{beta cos x}. One
cluster attracts almost every start for beta >= -0.16 and not below -2/3, where three
clusters can balance; between the two it is open. SA has the same critical points and
the same signs of stability. [polyanskiy2025synchronization]
"""

import math

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from pushforward.errors import InputError
from pushforward.theory._checks import scalar, whole

LOWEST = -200.0
GRID = 4001


def slope(x: float, beta: float) -> float:
    """f'(x) = (cos x - beta sin^2 x) e^{beta cos x}.

    >>> slope(0.0, 0.0)
    1.0
    """
    x, beta = scalar("x", x), _low(beta)
    return float(_slope(x, beta))


def equispaced_rate(n: int, k: int, beta: float) -> float:
    """The growth rate of mode k around n equispaced tokens.

    >>> abs(equispaced_rate(3, 1, -2 / 3)) < 1e-15
    True
    """
    n, k, beta = whole("n", n, 2), whole("k", k, 0), _low(beta)
    return float(_rates(n, beta)[k % n])


def equispaced_threshold(n: int) -> float:
    """The beta below which n equispaced tokens are stable; n odd.

    >>> round(equispaced_threshold(5), 9)
    -2.109924232
    """
    n = whole("n", n, 3)
    if n % 2 == 0 or n > 15:
        raise InputError(
            f"`n` must be odd and at most 15, got {n}: an even number has opposite "
            "tokens and is not stable, larger ones are not resolved here."
        )

    def worst(beta: float) -> float:
        return float(_rates(n, beta)[1 : n // 2 + 1].max())

    beta = -0.1
    while worst(beta) >= 0:
        beta *= 1.01
    return float(brentq(worst, beta, beta / 1.01, xtol=1e-13, rtol=1e-14))


def three_clusters_threshold(p: int, q: int) -> tuple[float, float]:
    """The beta below which clusters of p, q, q tokens rest stably at 0, +phi, -phi.

    Rest is p + 2q cos(phi) e^{beta (cos 2 phi - cos phi)} = 0, which gives beta for
    every phi; stable where f'(phi) > 0 and p f'(phi) + 2q f'(2 phi) > 0. Returns beta
    and phi.

    >>> [round(v, 8) for v in three_clusters_threshold(1, 2)]
    [-1.4429046, 2.36287428]
    """
    p, q = whole("p", p, 1), whole("q", q, 1)
    if max(p, q) > 100 * min(p, q):
        raise InputError(f"`p` and `q` must be of similar size, got {p} and {q}.")
    if p == q:  # balanced at a third of a turn for every beta
        return -2 / 3, 2 * math.pi / 3
    phi = np.linspace(math.pi / 2, math.pi, GRID)[1:-1]
    beta = _resting(phi, p, q)
    inside = (beta < 0) & (beta > LOWEST)
    margin = _margin(phi, np.where(inside, beta, 0.0), p, q)
    good = inside & (margin > 0)
    if not good.any():
        raise InputError(f"no balance of {p}, {q}, {q} tokens is stable.")
    top = int(np.flatnonzero(good)[beta[good].argmax()])
    low, high = phi[max(top - 1, 0)], phi[min(top + 1, len(phi) - 1)]
    edge = lambda x: float(_margin(x, _resting(x, p, q), p, q))  # noqa: E731
    if edge(low) * edge(high) < 0:  # stability ends before beta is largest, or there
        best = float(brentq(edge, low, high, xtol=1e-14, rtol=1e-14))
    else:
        options = {"xatol": 1e-12}
        found = minimize_scalar(
            lambda x: -float(_resting(x, p, q)),
            bounds=(low, high),
            method="bounded",
            options=options,
        )
        best = float(found.x)
    return float(_resting(best, p, q)), best


def _low(beta: float) -> float:
    beta = scalar("beta", beta)
    if abs(beta) > -LOWEST:
        raise InputError(f"`beta` must be at most {-LOWEST:g} in size, got {beta:g}.")
    return beta


def _slope(x, beta):
    return (np.cos(x) - beta * np.sin(x) ** 2) * np.exp(beta * np.cos(x))


def _rates(n: int, beta: float) -> np.ndarray:
    """-(1/n) sum_j f'(2 pi j / n) (1 - cos(2 pi j k / n)) for every k."""
    angle = 2 * math.pi * np.arange(1, n) / n
    turns = np.outer(np.arange(n), np.arange(1, n)) % n
    around = 1 - np.cos(2 * math.pi * turns / n)
    return -around @ _slope(angle, beta) / n


def _resting(phi, p: int, q: int):
    return np.log(-p / (2 * q * np.cos(phi))) / (np.cos(2 * phi) - np.cos(phi))


def _margin(phi, beta, p: int, q: int):
    """Positive where both conditions hold."""
    one = _slope(phi, beta)
    return np.minimum(one, p * one + 2 * q * _slope(2 * phi, beta))
