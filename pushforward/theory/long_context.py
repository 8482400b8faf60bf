"""One attention layer on a long context, with beta = gamma log n.

Inputs are n unit tokens with common overlap rho. Below the critical gamma the layer
averages everything away, above it the layer does nothing. [chen2025longcontext],
[rigollet2025meanfield]
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from pushforward.theory._checks import Real, between, together, whole


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
