"""Separated clusters: how soon they shrink to points, how long they then stay apart.

Tokens start in caps S_q(epsilon) = {x : <x, w_q> >= 1 - epsilon} around centers w_q.
Bounds hold for SA, and for USA divided by e^beta. [geshkovski2024metastability]
"""

import numpy as np
from numpy.typing import ArrayLike

from pushforward.errors import InputError, NumericalError
from pushforward.theory._checks import between, nonnegative, scalar, table, whole


def cap_overlap(angle: float, epsilon: float) -> float:
    """alpha: largest inner product between two caps S(2 epsilon), `angle` apart.

    cos(angle - 2 arccos(1 - 2 epsilon)); 1 when the caps meet.
    """
    angle = scalar("angle", between("angle", angle, 0, np.pi + 1e-12))
    radius = np.arccos(1 - 2 * _epsilon(epsilon))
    return float(np.cos(max(angle - 2 * radius, 0.0)))


def configuration_overlap(centers: ArrayLike, epsilon: float) -> float:
    """alpha of several unit centers, given as rows: the largest over pairs."""
    centers = _unit("centers", centers)
    if len(centers) < 2:
        raise InputError("`centers` must have at least 2 rows: alpha compares pairs.")
    cosines = (centers @ centers.T)[np.triu_indices(len(centers), 1)]
    angle = np.arccos(np.clip(cosines.max(), -1, 1))
    return cap_overlap(max(float(angle), 1e-300), epsilon)


def separation(beta: float, alpha: float, epsilon: float, n: int) -> float:
    """gamma = 1 - alpha - 8 epsilon - log(2 n^2/epsilon)/beta, positive if apart."""
    beta, alpha, epsilon, n = _instance(beta, alpha, epsilon, n)
    return 1 - alpha - 8 * epsilon - np.log(2 * n**2 / epsilon) / beta


def is_separated(
    points: ArrayLike, centers: ArrayLike, beta: float, epsilon: float
) -> bool:
    """Whether every token lies in a cap S_q(epsilon) and gamma is positive."""
    points, centers = _unit("points", points), _unit("centers", centers)
    if points.shape[1] != centers.shape[1]:
        raise InputError(
            "`points` and `centers` must have one dimension, got shapes "
            f"{points.shape} and {centers.shape}."
        )
    alpha = configuration_overlap(centers, epsilon)
    in_caps = ((points @ centers.T).max(1) >= 1 - epsilon).all()
    return bool(in_caps and separation(beta, alpha, epsilon, len(points)) > 0)


def contraction_exponent(beta: float, alpha: float, epsilon: float, n: int) -> float:
    """The supremum of lambda such that tokens of a cap get within 2 e^{-lambda beta}.

    The smaller of 1 - alpha - log(2 n^2/(1 - 8 epsilon))/beta - 8 epsilon and
    e^{(1-alpha) beta} (beta-1) epsilon (1 - e^{-gamma beta}) / (beta^2 n^2 e).
    """
    gap = separation(beta, alpha, epsilon, n)
    beta, alpha, epsilon, n = _instance(beta, alpha, epsilon, n)
    first = 1 - alpha - np.log(2 * n**2 / (1 - 8 * epsilon)) / beta - 8 * epsilon
    if gap <= 0:
        return 0.0
    log_second = (1 - alpha) * beta + np.log(
        (beta - 1) * epsilon * -np.expm1(-gap * beta) / (beta**2 * n**2 * np.e)
    )
    second = np.exp(min(log_second, 700.0))
    return float(max(0.0, min(first, second)))


def entry_time(beta: float, epsilon: float, n: int, exponent: float) -> float:
    """T_1 <= 2 n e^{8 epsilon beta} + e n lambda beta^2/(beta-1): clusters are points.

    From T_1 on, squared distances inside a cap are below 2 e^{-lambda beta}, with
    lambda = `exponent` below `contraction_exponent`.
    """
    beta, _, epsilon, n = _instance(beta, 0.0, epsilon, n)
    exponent = scalar("exponent", nonnegative("exponent", exponent))
    return _exp_or_say(np.log(2 * n) + 8 * epsilon * beta, "entry time") + float(
        np.e * n * exponent * beta**2 / (beta - 1)
    )


def log_exit_time(beta: float, alpha: float, epsilon: float, n: int) -> float:
    """Natural logarithm of T_2 >= (epsilon/n) e^{(1-alpha) beta}.

    Up to T_2 tokens that started in S_q(epsilon) stay in S_q(2 epsilon).
    """
    beta, alpha, epsilon, n = _instance(beta, alpha, epsilon, n)
    return float(np.log(epsilon / n) + (1 - alpha) * beta)


def exit_time(beta: float, alpha: float, epsilon: float, n: int) -> float:
    """The time T_2 itself.

    >>> alpha = cap_overlap(1.5707963267948966, 0.01)
    >>> round(exit_time(30.0, alpha, 0.01, 6), -1)
    147560.0
    """
    return _exp_or_say(log_exit_time(beta, alpha, epsilon, n), "exit time")


def contraction_time(u_0: float, beta: float, c: float) -> float:
    """Time for u' = u (1-u) e^{beta (u-1)} to bring 1 - u below e^{-c beta}.

    The bound e^{beta (1-u_0)}/u_0 + beta^2 c e/(beta-1).
    """
    u_0 = scalar("u_0", between("u_0", u_0, 0, 1))
    beta = scalar("beta", between("beta", beta, 1, np.inf))
    c = scalar("c", nonnegative("c", c))
    waiting = _exp_or_say(beta * (1 - u_0) - np.log(u_0), "contraction time")
    return waiting + beta**2 * c * float(np.e) / (beta - 1)


def _exp_or_say(logarithm: float, name: str) -> float:
    if logarithm > 709:
        raise NumericalError(
            f"the {name} is e^{logarithm:.6g}, beyond the largest float64. "
            "Work with its logarithm.",
            partial=logarithm,
        )
    return float(np.exp(logarithm))


def _epsilon(epsilon: float) -> float:
    return scalar("epsilon", between("epsilon", epsilon, 0, 1 / 16))


def _instance(beta, alpha, epsilon, n):
    return (
        scalar("beta", between("beta", beta, 1, np.inf)),
        scalar("alpha", between("alpha", alpha, -1 - 1e-12, 1 + 1e-12)),
        _epsilon(epsilon),
        whole("n", n, 2),
    )


def _unit(name: str, points: ArrayLike) -> np.ndarray:
    points = table(name, points)
    off = np.abs(np.linalg.norm(points, axis=1) - 1)
    if off.max() > 1e-6:
        raise InputError(
            f"`{name}` must be unit vectors, row {off.argmax()} has norm off by "
            f"{off.max():.3g}. Divide rows by their norm."
        )
    return points
