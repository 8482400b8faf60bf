"""Tokens with one common inner product gamma: the exact scalar dynamics.

An orthonormal start stays equiangular, and gamma obeys a scalar equation. So do k
clusters of equal mass: take n = k. "Unnormalized" is USA with its 1/n, not scaled by
e^{-beta}. [geshkovski2023perspective]
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from pushforward.theory._checks import (
    Real,
    between,
    nonnegative,
    real,
    representable,
    scalar,
    together,
    whole,
)
from pushforward.theory._clock import Clock

# Below this gap 1 - gamma the flow is exponential to rounding, and is continued so.
_TINY = 1e-18


def rate(gamma: ArrayLike, beta: ArrayLike, n: int) -> Real:
    """Speed of the common inner product under SA.

    2 (1-gamma) ((n-1) gamma + 1) / (e^{beta (1-gamma)} + n - 1)
    """
    n, (gamma, beta) = whole("n", n, 2), together(gamma=gamma, beta=beta)
    gap = 1 - gamma
    shift = np.maximum(beta * gap, 0)  # before exp: beta may reach thousands
    attention = np.exp(-shift) / (np.exp(beta * gap - shift) + (n - 1) * np.exp(-shift))
    return (2 * gap * ((n - 1) * gamma + 1) * attention)[()]


def rate_unnormalized(gamma: ArrayLike, beta: ArrayLike, n: int) -> Real:
    """Speed under USA: (2/n) e^{beta gamma} (1-gamma) ((n-1) gamma + 1)."""
    n, (gamma, beta) = whole("n", n, 2), together(gamma=gamma, beta=beta)
    shape = 2 / n * (1 - gamma) * ((n - 1) * gamma + 1)
    with np.errstate(over="ignore", divide="ignore"):  # a factor 0 beats an overflow
        speed = np.sign(shape) * np.exp(beta * gamma + np.log(np.abs(shape)))
    return representable("the USA rate", np.asarray(speed), "e^{-beta} times it")


def gamma(t: ArrayLike, beta: float, n: int, start: float = 0.0) -> Real:
    """Common inner product at time t under SA, from `start` at time 0.

    The time integral is inverted, so that t = 1e15 costs what t = 1 does.

    >>> from pushforward.theory import equiangular
    >>> round(float(equiangular.gamma(1.0, 4.0, 8)), 10)
    0.0383792759
    """
    return _gamma(t, beta, n, start, normalized=True)


def gamma_unnormalized(t: ArrayLike, beta: float, n: int, start: float = 0.0) -> Real:
    """Common inner product at time t under USA."""
    return _gamma(t, beta, n, start, normalized=False)


def gamma_at_zero_beta(t: ArrayLike, n: int) -> Real:
    """The closed form (e^{2t} - 1) / (e^{2t} + n - 1), orthonormal start, beta = 0."""
    n, t = whole("n", n, 2), nonnegative("t", t)
    return (-np.expm1(-2 * t) / (1 + (n - 1) * np.exp(-2 * t)))[()]


def log_merging_time(
    beta: ArrayLike, n: int, start: float = 0.0, delta: float = 1e-3
) -> Real:
    """Natural logarithm of the time from gamma = start to 1 - delta under SA.

    Finite for every beta: at beta in the thousands only the logarithm is a float.
    """
    return _log_time(beta, n, start, delta, normalized=True)


def log_merging_time_unnormalized(
    beta: ArrayLike, n: int, start: float = 0.0, delta: float = 1e-3
) -> Real:
    """The same under USA."""
    return _log_time(beta, n, start, delta, normalized=False)


def merging_time(
    beta: ArrayLike, n: int, start: float = 0.0, delta: float = 1e-3
) -> Real:
    """Time t* at which gamma, started at `start`, reaches 1 - delta under SA.

    int_start^{1-delta} (e^{beta (1-y)} + n - 1) / (2 (1-y) ((n-1) y + 1)) dy

    As a function of beta this is the phase curve of high-dimensional attention; use
    the n of the simulation. For k orthonormal clusters of equal mass take n = k.
    """
    return _exp_time(log_merging_time(beta, n, start, delta), "log_merging_time")


def merging_time_unnormalized(
    beta: ArrayLike, n: int, start: float = 0.0, delta: float = 1e-3
) -> Real:
    """The phase curve of USA."""
    logarithm = log_merging_time_unnormalized(beta, n, start, delta)
    return _exp_time(logarithm, "log_merging_time_unnormalized")


def log_merging_time_asymptote(beta: ArrayLike, start: float = 0.0) -> Real:
    """Logarithm of e^{beta (1-g)} / (2 beta (1-g) (1 + (n-1) g)) for n = 2 or g = 0.

    The leading term at large beta, either of a pair started at inner product
    g = start, or (start = 0) of any number of orthonormal clusters.
    """
    beta, g = _positive_beta(beta), scalar("start", between("start", start, -1, 1))
    return (beta * (1 - g) - np.log(2 * beta * (1 - g) * (1 + g)))[()]


def window_exit(t_max: float, n: int, delta: float = 1e-3) -> float:
    """The beta at which the phase curve of SA leaves the window t <= t_max.

    >>> round(window_exit(30.0, 32), 6)
    6.906459
    """
    log_t = np.log(scalar("t_max", between("t_max", t_max, 0, np.inf)))

    def excess(beta: float) -> float:
        return float(log_merging_time(beta, n, delta=delta)) - log_t

    if excess(0.0) > 0:
        earliest = float(merging_time(0.0, n, delta=delta))
        between("t_max", t_max, earliest, np.inf)
    high = 1.0
    while excess(high) < 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-13, rtol=1e-14))


def _positive_beta(beta: ArrayLike) -> np.ndarray:
    return between("beta", beta, 0, np.inf)


def _gap(n: int, start: float) -> float:
    # The regular simplex gamma = -1/(n-1) is a fixed point, and nothing lies below.
    return 1 - scalar("start", between("start", start, -1 / (n - 1), 1))


def _log_time(beta, n, start, delta, normalized):
    n = whole("n", n, 2)
    gap = _gap(n, start)
    delta = scalar("delta", between("delta", delta, 0, gap))
    betas = real("beta", beta)
    times = [Clock(b, n, gap, delta, normalized).log_total() for b in betas.flat]
    return np.array(times).reshape(betas.shape)[()]


def _exp_time(logarithm: Real, instead: str) -> Real:
    with np.errstate(over="ignore"):
        time = np.exp(np.asarray(logarithm))
    return representable("the time", time, f"`{instead}`")


def _gamma(t, beta, n, start, normalized):
    n, t, beta = whole("n", n, 2), nonnegative("t", t), scalar("beta", beta)
    gap = _gap(n, start)
    if gap <= _TINY:
        return np.full(t.shape, start)[()]
    clock = Clock(beta, n, gap, _TINY, normalized)
    return (1 - clock.gap_at(t.ravel()).reshape(t.shape))[()]
