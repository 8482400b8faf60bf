"""Deep networks as long horizons: closed forms for optimal weights and depths."""

import math

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from pushforward.errors import InputError
from pushforward.theory import _checks


def _positive(name: str, value: float) -> float:
    return _checks.scalar(name, _checks.positive(name, value))


def scalar_minimal_norm(start: float, end: float) -> float:
    """Least int_0^1 |v|^2 that moves start to end (> 0): x' = w relu(x) + b.

    The cheapest (w, b) of velocity x' has |v|^2 = x'^2/(1 + x^2), so the minimum
    is the squared distance (asinh(end) - asinh(start))^2.

    >>> round(scalar_minimal_norm(0.5, math.e), 10)
    1.5479608148

    [esteveyague2020large]
    """
    start, end = _positive("start", start), _positive("end", end)
    return (math.asinh(end) - math.asinh(start)) ** 2


def squared_risk_constant(start: float, end: float, lam: float) -> float:
    """Limit of T^2 E(T) for the same particle and E = (x - end)^2.

    lam^2 D^2/(1 + end^2) with D^2 = `scalar_minimal_norm`: the risk falls like
    T^-2, faster than the general bound lam D^2/T.
    """
    lam = _positive("lam", lam)
    end = _positive("end", end)
    return lam**2 * scalar_minimal_norm(start, end) / (1 + end**2)


def tracking_rates(
    activated_targets: np.ndarray, omega: float, lam: float
) -> np.ndarray:
    """Decay rates near fixed targets: sqrt(omega/lam) times singular values.

    Form OUT, running cost omega |X - Xbar|^2 + lam |u|^2; `activated_targets`
    holds sigma(xbar_i) as rows. The matrix of rows (sigma(xbar_i), 1) has N
    singular values s_j, in decreasing order here; decay is exponential only if
    all are positive, hence N <= d + 1.
    """
    rows = _checks.table("activated_targets", activated_targets)
    full = np.hstack([rows, np.ones((len(rows), 1))])
    s = np.zeros(len(rows))
    found = np.linalg.svd(full, compute_uv=False)
    s[: len(found)] = found[: len(s)]
    return math.sqrt(_positive("omega", omega) / _positive("lam", lam)) * s


def scalar_tracking_cost(start: float, end: float, lam: float) -> float:
    """Infinite-horizon cost of x' = w relu(x) + b, running (x - end)^2 + lam|u|^2.

    On the optimal path lam |u|^2 = (x - end)^2, so the cost is
    2 sqrt(lam) int |x - end|/sqrt(1 + x^2) dx from start to end.
    """
    lam = _positive("lam", lam)
    low, high = sorted((_positive("start", start), _positive("end", end)))
    end = _positive("end", end)
    area, _ = quad(lambda x: abs(x - end) / math.sqrt(1 + x * x), low, high)
    return 2 * math.sqrt(lam) * area


def sparse_scalar(t1: float, lam: float, bound: float) -> dict[str, float]:
    """Optimal stopping of x' = w relu(x) + b from 1/2 to e under ||u||_1 <= bound.

    Cost int_0^T (x - e)^2 + lam ||u||_1. The bias alone acts until x = 1, where
    the weight becomes cheaper, then the weight alone until x*, which solves
    (T - T*) 2 (e - x) x = lam with T* = (1/2 + ln x)/bound.

    >>> round(sparse_scalar(10.0, 0.1, 2.0)["active_time"], 10)
    0.7496338415

    [esteveyague2023sparsity]
    """
    t1, lam, M = (_positive(*p) for p in (("t1", t1), ("lam", lam), ("bound", bound)))

    def active(x: float) -> float:
        return (0.5 + math.log(x)) / M

    def surplus(x: float) -> float:
        return (t1 - active(x)) * 2 * (math.e - x) * x - lam

    if t1 <= active(math.e) or surplus(1.0) <= 0:
        raise InputError(
            f"`t1` = {t1:g} is too short (or `lam` = {lam:g} too large) for the path "
            f"to pass x = 1; take t1 > {active(math.e):g} and a smaller lam."
        )
    x = brentq(surplus, 1.0, math.e, xtol=1e-15)
    switch, stop = 0.5 / M, active(x)
    rising, _ = quad(lambda t: (0.5 + M * t - math.e) ** 2, 0, switch)
    growing, _ = quad(
        lambda t: (math.exp(M * (t - switch)) - math.e) ** 2, switch, stop
    )
    cost = rising + growing + (t1 - stop) * (x - math.e) ** 2 + lam * M * stop
    return {"switch_time": switch, "active_time": stop, "end": x, "cost": cost}


def sparse_distance_active_time(bound: float) -> float:
    """The same with the plain distance |x - e|: T* = (1/2 + 1)/bound, end reached."""
    return 1.5 / _positive("bound", bound)


def sparse_logistic(t1: float, lam: float, bound: float) -> dict[str, float]:
    """x' = b from 0 with running ln(1 + e^{-x}) + lam |b|, |b| <= bound.

    Stops where (T - x/bound)/(1 + e^x) = lam: T E -> lam and
    bound T* - ln(T/lam) -> 0, so the active depth grows with T.
    """
    t1, lam, M = (_positive(*p) for p in (("t1", t1), ("lam", lam), ("bound", bound)))
    if t1 / 2 <= lam:
        raise InputError(
            f"`lam` = {lam:g} is so large that nothing moves; take lam < t1/2."
        )
    top = min(M * t1, 2 + math.log(t1 / lam))
    x = brentq(lambda x: (t1 - x / M) - lam * (1 + math.exp(x)), 0, top, xtol=1e-15)
    return {"active_time": x / M, "risk": math.log1p(math.exp(-x)), "end": x}


def rank_one_network(t: float, zeta: np.ndarray) -> np.ndarray:
    """State of the space-time network with kernel w = a(zeta) c(xi), ReLU, no bias.

    a = 1 + sin(2 pi zeta)/2, c = e^{-xi}, x(0) = 3/2 + cos 3 zeta > 0, so that
    x = x0 + a m0 (e^{kt} - 1)/k with k = int a c and m0 = int c x0.

    >>> round(float(rank_one_network(1.0, np.array(0.25))), 10)
    4.5967033199
    """
    k, _ = quad(lambda s: (1 + 0.5 * math.sin(2 * math.pi * s)) * math.exp(-s), 0, 1)
    m0, _ = quad(lambda s: math.exp(-s) * (1.5 + math.cos(3 * s)), 0, 1)
    zeta, t = _checks.real("zeta", zeta), _checks.scalar("t", t)
    if t * k > 700:
        raise InputError(
            f"`t` must be at most {700 / k:.0f}, got {t:g}: e^t overflows."
        )
    a = 1 + 0.5 * np.sin(2 * np.pi * zeta)
    return 1.5 + np.cos(3 * zeta) + a * m0 * math.expm1(k * t) / k
