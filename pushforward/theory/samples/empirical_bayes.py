"""Attention as empirical Bayes: Y = theta + N(0, sigma^2), and a context of such Y.

One step of attention is the posterior mean under the context as a prior, with noise
1 / beta: m(y) = sum_j w_j x_j, and beta (m(y) - y) is the score of the kernel density
estimate of the context. So y + sigma^2 beta (m(y) - y) is Tweedie's rule with that
estimate, and plain m(y) at beta = 1 / sigma^2 takes the noisy context for the prior.
Risks are for infinitely many tokens and theta = +a or -a with equal chance, sigma = 1.
[smart2026empirical]
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from pushforward.errors import InputError
from pushforward.theory._checks import scalar

NODES = 400


def bayes_risk(a: float) -> float:
    """Of the best rule, a tanh(a y).

    >>> round(bayes_risk(2.0), 10)
    0.2743896352
    """
    a = _between("a", a, 0.0, 20.0)
    return _risk(a, lambda y: a * np.tanh(a * y))


def one_step_risk(beta: float, a: float) -> float:
    """Of m(y) = (beta y + a tanh(a y / (1 + 1/beta))) / (1 + beta).

    >>> round(one_step_risk(1.0, 2.0), 10)
    0.5206705665
    """
    beta, a = _between("beta", beta, 1e-6, 1e6), _between("a", a, 0.0, 20.0)
    return _risk(a, lambda y: (beta * y + _pull(y, a, beta)) / (1 + beta))


def tweedie_risk(beta: float, a: float) -> float:
    """Of y + beta (m(y) - y) = (y + beta a tanh(a y / (1 + 1/beta))) / (1 + beta).

    >>> round(tweedie_risk(16.0, 2.0), 8)
    0.27783038
    """
    beta, a = _between("beta", beta, 1e-6, 1e6), _between("a", a, 0.0, 20.0)
    return _risk(a, lambda y: (y + beta * _pull(y, a, beta)) / (1 + beta))


def best_one_step(a: float) -> tuple[float, float]:
    """The beta of the least risk of one step, and that risk.

    >>> [round(v, 5) for v in best_one_step(2.0)]
    [0.66092, 0.49872]
    """
    a = _between("a", a, 0.1, 20.0)
    risk = lambda log: one_step_risk(math.exp(log), a)  # noqa: E731
    found = minimize_scalar(
        risk, bounds=(-6, 6), method="bounded", options={"xatol": 1e-10}
    )
    return math.exp(found.x), float(found.fun)


def gaussian_beta(tau: float, sigma: float = 1.0) -> float:
    """theta ~ N(0, tau^2): the beta at which one step is Bayes' rule.

    tau^2 / (sigma^2 (tau^2 + sigma^2)).

    >>> round(gaussian_beta(math.sqrt(1.5)), 10)
    0.6
    """
    tau, sigma = _between("tau", tau, 1e-3, 1e3), _between("sigma", sigma, 1e-3, 1e3)
    return tau**2 / (sigma**2 * (tau**2 + sigma**2))


def gaussian_one_step_risk(beta: float, tau: float, sigma: float = 1.0) -> float:
    """The risk of m(y) = y (tau^2 + sigma^2) / (tau^2 + sigma^2 + 1/beta).

    >>> round(gaussian_one_step_risk(1.0, math.sqrt(1.5)), 10)
    0.6326530612
    """
    beta = _between("beta", beta, 1e-6, 1e6)
    tau, sigma = _between("tau", tau, 1e-3, 1e3), _between("sigma", sigma, 1e-3, 1e3)
    total = tau**2 + sigma**2
    factor = total / (total + 1 / beta)
    return (1 - factor) ** 2 * tau**2 + factor**2 * sigma**2


def gaussian_depth(beta: float, tau: float, sigma: float = 1.0) -> float:
    """How long dy/dt = beta (m - y) takes to remove the noise of a Gaussian context.

    T = (sigma^2 + log(1 + sigma^2 / tau^2) / beta) / 2.

    >>> round(gaussian_depth(4.0, math.sqrt(1.5)), 10)
    0.563853203
    """
    beta = _between("beta", beta, 1e-6, 1e6)
    tau, sigma = _between("tau", tau, 1e-3, 1e3), _between("sigma", sigma, 1e-3, 1e3)
    return (sigma**2 + math.log1p(sigma**2 / tau**2) / beta) / 2


def _pull(y: np.ndarray, a: float, beta: float) -> np.ndarray:
    return a * np.tanh(a * y / (1 + 1 / beta))


def _risk(a: float, rule: Callable[[np.ndarray], np.ndarray]) -> float:
    """E (rule(Y) - theta)^2; by symmetry theta = a."""
    node, weight = np.polynomial.legendre.leggauss(NODES)
    y = a + 10 * node
    normal = np.exp(-((y - a) ** 2) / 2) / math.sqrt(2 * math.pi)
    return float((10 * weight * normal) @ (rule(y) - a) ** 2)


def _between(name: str, value: float, low: float, high: float) -> float:
    value = scalar(name, value)
    if not low <= value <= high:
        raise InputError(f"`{name}` must lie in [{low:g}, {high:g}], got {value:g}.")
    return value
