"""One attention layer on a long context, with beta = gamma log n.

Inputs are n unit tokens with common overlap rho. Below the critical gamma the layer
averages everything away, above it the layer does nothing. [chen2025longcontext],
[rigollet2025meanfield]
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from pushforward.errors import NumericalError
from pushforward.theory._checks import Real, between, scalar, together, whole

MOST_LAYERS = 100_000


def critical_gamma(rho: ArrayLike) -> Real:
    """The phase transition: 1/(1 - rho)."""
    return (1 / (1 - between("rho", rho, -1, 1)))[()]


def output_overlap(gamma: ArrayLike, rho: ArrayLike, n: int) -> Real:
    """Cosine between two outputs of softmax attention (Q = K = V = I, no residual).

    >>> round(float(output_overlap(1 / 0.7, 0.3, 100)), 6)
    0.63795
    """
    n = whole("n", n, 2)
    gamma, rho = together(gamma=gamma, rho=between("rho", rho, -1 / (n - 1), 1))
    own = expit(gamma * np.log(n) * (1 - rho) - np.log(n - 1))  # attention to itself
    other = (1 - own) / (n - 1)
    excess, total = own - other, 1 + (n - 1) * rho  # y_i = excess x_i + other sum_j x_j
    shared = total * other * (2 * excess + n * other)
    return ((excess**2 * rho + shared) / (excess**2 + shared))[()]


def output_overlap_limit(gamma: ArrayLike, rho: ArrayLike) -> Real:
    """The limit of long contexts: 1 below the critical gamma, rho above it.

    At the critical gamma itself it is 4 rho / (1 + 3 rho).

    rho must be positive, as it is for infinitely many equiangular tokens.
    """
    gamma, rho = together(gamma=gamma, rho=between("rho", rho, 0, 1))
    critical = 1 / (1 - rho)
    at = np.isclose(gamma, critical, rtol=1e-12, atol=0)
    beyond = np.where(gamma > critical, rho, 1.0)
    return np.where(at, 4 * rho / (1 + 3 * rho), beyond)[()]


def transition_overlap(s: ArrayLike, rho: ArrayLike) -> Real:
    """The limit inside the transition, where gamma (1 - rho) = 1 + s / log n.

    A token keeps the share p = 1 / (1 + e^{-s}) of its own attention; the overlap of
    two outputs is rho / (rho + (1 - rho) p^2).

    >>> round(float(transition_overlap(1.0, 0.3)), 10)
    0.4450294757
    """
    s, rho = together(s=s, rho=between("rho", rho, 0, 1))
    return (rho / (rho + (1 - rho) * expit(s) ** 2))[()]


def layers_to_collapse(gamma: float, rho: float, n: int, target: float = 0.99) -> int:
    """How many layers without residual take the overlap from rho to the target.

    Each raises rho and with it the critical gamma, so that a finite context always
    collapses.

    >>> layers_to_collapse(1.2 / 0.7, 0.3, 10_000)
    4
    """
    n, gamma = whole("n", n, 2), scalar("gamma", gamma)
    rho, target = (float(between("rho", v, 0, 1)) for v in (rho, target))
    for count in range(MOST_LAYERS):
        if rho >= target:
            return count
        rho = float(output_overlap(gamma, rho, n))
    raise NumericalError(
        f"`gamma` = {gamma:g} keeps n = {n} tokens apart for more than {MOST_LAYERS} "
        "layers: lower it."
    )
