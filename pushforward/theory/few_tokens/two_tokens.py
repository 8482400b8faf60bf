"""Two tokens on the sphere: everything is one angle.

Theta is the angle between the tokens and <x_1, x_2> = cos(theta). In the causal model
token 1 stands still, which halves the speed of SA. [geshkovski2023perspective],
[karagodin2024causal]
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from pushforward.theory._checks import Real, nonnegative, representable, together
from pushforward.theory.few_tokens import equiangular


def angle_rate(theta: ArrayLike, beta: ArrayLike) -> Real:
    """d theta/dt under SA: -2 sin(theta) / (1 + e^{beta (1 - cos theta)})."""
    theta, beta = together(theta=theta, beta=beta)
    return (-2 * np.sin(theta) * expit(-beta * _versine(theta)))[()]


def angle_rate_unnormalized(theta: ArrayLike, beta: ArrayLike) -> Real:
    """d theta/dt under USA: -e^{beta cos theta} sin(theta)."""
    theta, beta = together(theta=theta, beta=beta)
    sine = np.sin(theta)
    with np.errstate(over="ignore", divide="ignore"):  # a factor 0 beats an overflow
        speed = -np.sign(sine) * np.exp(beta * np.cos(theta) + np.log(np.abs(sine)))
    return representable("the USA rate", speed, "e^{-beta} times it")


def angle_rate_causal(theta: ArrayLike, beta: ArrayLike) -> Real:
    """d theta/dt under causal attention: half the speed of SA."""
    return angle_rate(theta, beta) / 2


def angle_at_zero_beta(t: ArrayLike, theta_0: ArrayLike) -> Real:
    """Angle at time t for beta = 0: tan(theta/2) = tan(theta_0/2) e^{-t}.

    Equivalently <x_1, x_2> = tanh(t + artanh <x_1, x_2>(0)); the same for SA and USA.
    """
    t, theta_0 = together(t=nonnegative("t", t), theta_0=theta_0)
    half = theta_0 / 2
    return (2 * np.arctan2(np.sin(half) * np.exp(-t), np.cos(half)))[()]


def angle_at_zero_beta_causal(t: ArrayLike, theta_0: ArrayLike) -> Real:
    """The same for causal attention: tan(theta/2) = tan(theta_0/2) e^{-t/2}."""
    return angle_at_zero_beta(nonnegative("t", t) / 2, theta_0)


def merging_time(beta: ArrayLike, start: float = 0.0, delta: float = 1e-3) -> Real:
    """Time under SA for <x_1, x_2> to rise from `start` to 1 - delta.

    int_start^{1-delta} (1 + e^{beta (1-g)}) / (2 (1 - g^2)) dg

    It is also the time for two clusters of equal mass, and grows like
    e^{beta (1-start)} / (2 beta (1 - start^2)).

    >>> round(float(merging_time(5.0)), 9)
    19.425650497
    """
    return equiangular.merging_time(beta, 2, start, delta)


def merging_time_unnormalized(
    beta: ArrayLike, start: float = 0.0, delta: float = 1e-3
) -> Real:
    """The same under USA: int_start^{1-delta} e^{-beta g} / (1 - g^2) dg."""
    return equiangular.merging_time_unnormalized(beta, 2, start, delta)


def merging_time_causal(
    beta: ArrayLike, start: float = 0.0, delta: float = 1e-3
) -> Real:
    """The same under causal attention: twice the time of SA."""
    return 2 * merging_time(beta, start, delta)


def log10_merging_time(
    beta: ArrayLike, start: float = 0.0, delta: float = 1e-3
) -> Real:
    """Decimal logarithm of the SA merging time, finite for every beta.

    >>> round(float(log10_merging_time(4000.0)), 3)
    1733.275
    """
    return equiangular.log_merging_time(beta, 2, start, delta) / np.log(10)


def log10_merging_time_asymptote(beta: ArrayLike, start: float = 0.0) -> Real:
    """Decimal logarithm of e^{beta (1-start)} / (2 beta (1 - start^2))."""
    return equiangular.log_merging_time_asymptote(beta, start) / np.log(10)


def _versine(theta: np.ndarray) -> np.ndarray:
    """1 - cos(theta) without cancellation."""
    return 2 * np.sin(theta / 2) ** 2
