"""beta = 0 on the circle: identical Kuramoto oscillators, solved exactly.

A density that starts as a Poisson kernel stays one; only its order parameter
r = |mean of e^{i theta}| moves. [geshkovski2023perspective]
"""

import numpy as np
from numpy.typing import ArrayLike

from pushforward.theory._checks import Real, between, scalar, together, whole


def order_parameter(t: ArrayLike, r_0: ArrayLike) -> Real:
    """r at time t: r^2/(1-r^2) = r_0^2/(1-r_0^2) e^t.

    >>> round(float(order_parameter(2.0, 0.3)), 12)
    0.6497905376
    """
    t, r_0 = together(t=t, r_0=between("r_0", r_0, 0, 1))
    with np.errstate(over="ignore"):  # long before the start r is zero
        return (r_0 / np.sqrt(r_0**2 + (1 - r_0**2) * np.exp(-t)))[()]


def poisson_kernel(theta: ArrayLike, r: ArrayLike) -> Real:
    """Density (1-r^2) / (2 pi (1 - 2 r cos theta + r^2)), with order parameter r."""
    theta, r = together(theta=theta, r=between("r", r, 0, 1))
    squared = (1 - r) ** 2 + 4 * r * np.sin(theta / 2) ** 2  # |1 - r e^{i theta}|^2
    return ((1 - r**2) / (2 * np.pi * squared))[()]


def quantile_points(n: int, r: float) -> np.ndarray:
    """n angles of equal mass for the Poisson kernel of order parameter r.

    theta_j = 2 atan((1-r)/(1+r) tan(pi (u_j - 1/2))), u_j = (j + 1/2)/n
    """
    n, r = whole("n", n, 1), scalar("r", between("r", r, 0, 1))
    u = (np.arange(n) + 0.5) / n
    return 2 * np.arctan((1 - r) / (1 + r) * np.tan(np.pi * (u - 0.5)))
