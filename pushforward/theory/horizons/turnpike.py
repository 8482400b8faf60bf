"""Turnpikes in closed form: rates, plateaus and values of long-horizon control."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import gamma

from pushforward.errors import InputError
from pushforward.theory import _checks


def _positive(name: str, value: float) -> float:
    return _checks.scalar(name, _checks.positive(name, value))


def scalar(a: float, z: float) -> dict[str, float]:
    """Turnpike of x' = a x + u with running cost (x - z)^2/2 + u^2/2.

    Static optimum, rate mu = sqrt(a^2 + 1), Riccati solution P = a + mu,
    W = 1/(2 mu), and the constant c of V(T, x) = T V_s + phi(x) + c + o(1).

    >>> scalar(1.0, 1.0)["state"], round(scalar(1.0, 1.0)["rate"], 6)
    (0.5, 1.414214)

    [geshkovski2022turnpike]
    """
    a, z = _checks.scalar("a", a), _checks.scalar("z", z)
    if abs(a) > 1e7:
        raise InputError(f"`a` must be at most 1e7 in size, got {a:g}: mu - a rounds.")
    mu = math.hypot(a, 1.0)
    x = z / (1.0 + a * a)
    u = -a * x
    p = a * x
    P, W = a + mu, 0.5 / mu
    return {
        "state": x,
        "control": u,
        "adjoint": p,
        "cost": 0.5 * (x - z) ** 2 + 0.5 * u * u,
        "rate": mu,
        "riccati": P,
        "constant": -0.5 * p * p * W / (1.0 - W * P),
    }


def scalar_value_limit(a: float, z: float, x: float) -> float:
    """phi(x) + c of the scalar problem: the limit of V(T, x) - T V_s."""
    s, x = scalar(a, z), _checks.scalar("x", x)
    dx = x - s["state"]
    return 0.5 * s["riccati"] * dx * dx + s["adjoint"] * dx + s["constant"]


def scalar_value_remainder(a: float, z: float, x: float) -> float:
    """Limit of e^{mu T} (V(T, x) - T V_s - phi(x) - c): -2 mu pbar dx/(mu - a)."""
    s, a, x = scalar(a, z), _checks.scalar("a", a), _checks.scalar("x", x)
    mu = s["rate"]
    return -2.0 * mu / (mu - a) * s["adjoint"] * (x - s["state"])


def heat_rate(beta: float) -> float:
    """Rate of y_t = y_xx + u on (0, 1), Dirichlet, cost beta|y|^2 + |u|^2.

    The slowest mode sin(pi x) gives sqrt(pi^4 + beta).

    >>> round(heat_rate(1.0), 7)
    9.9201356
    """
    return math.sqrt(math.pi**4 + _positive("beta", beta))


def boundary_heat_rate() -> float:
    """Rate of heat on (0, 1) with y(0) = 0, y_x(1) = u and cost |y - 1|^2 + |u|^2.

    mu = r^2 with r the first positive root of tan r = tanh r - 2 r^3.

    >>> round(boundary_heat_rate(), 9)
    2.842241103
    """

    def defect(r: float) -> float:
        return math.sin(r) - math.cos(r) * (math.tanh(r) - 2 * r**3)

    return brentq(defect, 1.6, 1.8, xtol=1e-15) ** 2


def boundary_heat_static() -> dict[str, float]:
    """Static optimum of the same problem: ybar = 3x/8, ubar = 3/8, cost 13/32."""
    return {"slope": 3 / 8, "control": 3 / 8, "cost": 13 / 32}


def wave_rate(frequency: ArrayLike) -> np.ndarray:
    """Real part of the Hamiltonian eigenvalue of one wave mode.

    y_tt = y_xx + u, full control, tracking of y_x: a mode of frequency w has
    w sqrt((sqrt(1 + 1/w^2) - 1)/2), increasing to 1/2.

    >>> round(float(wave_rate(np.pi)), 7)
    0.4939324
    """
    w = _checks.positive("frequency", frequency)
    # sqrt(1 + e) - 1 = e/(sqrt(1 + e) + 1): no cancellation at high frequency
    return np.sqrt(0.5 / (np.sqrt(1.0 + w**-2.0) + 1.0))


def wave_cloud(share: float) -> float:
    """Abscissa of the bulk of the wave spectrum, control on a set of measure `share`.

    sqrt(|omega|)/2 with unit tracking of position and velocity; the observability
    gap of a grid may be smaller because its highest modes do not travel.
    """
    return 0.5 * math.sqrt(_positive("share", share))


def wave_null_control(t: np.ndarray, t1: float) -> np.ndarray:
    """sin(pi t)/T: the minimal-norm null control from sin(pi x) when T is even.

    Dirichlet control at x = 1 of y_tt = y_xx. Periodic, spread over all of
    (0, T), squared norm 1/(2T): without tracking there is no turnpike.
    """
    half = _positive("t1", t1) / 2
    if abs(half - round(half)) > 1e-12:
        raise InputError(
            f"`t1` must be an even integer, got {t1}: the formula is exact"
            " only over whole periods of the wave."
        )
    return np.sin(np.pi * _checks.real("t", t)) / (2 * half)


def transport_control(t: np.ndarray, t1: float) -> np.ndarray:
    """u = m/(1 + m), m = min(1, T - t): inflow of y_t + y_x = 0 tracking y = 1.

    >>> transport_control(np.array([0.0, 5.0, 10.0]), 10.0)
    array([0.5, 0.5, 0. ])
    """
    left = _positive("t1", t1) - _checks.real("t", t)
    if np.any(left < 0):
        raise InputError(f"`t` must not be after t1 = {t1}, got {np.max(t)}.")
    m = np.minimum(1.0, left)
    return m / (1.0 + m)


def transport_final_mean() -> float:
    """Mean of the transported state at the end: 1 - ln 2."""
    return 1.0 - math.log(2.0)


def cubic_ceiling() -> float:
    """Supremum of |y(1/2)| over all v: -y'' + y^3 = 0, y(0) = y(1) = v.

    However large the boundary value, the middle stays below
    2 sqrt(2) Gamma(1/4)^2/(4 sqrt(2 pi)).

    >>> round(cubic_ceiling(), 9)
    3.708149355
    """
    return 2 * math.sqrt(2) * float(gamma(0.25)) ** 2 / (4 * math.sqrt(2 * math.pi))
