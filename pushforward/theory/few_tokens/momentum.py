"""Attention with momentum: two tokens, plateaus that last the square root of the time.

On the sphere D_t v_i = -a v_i + P A_i, dx_i/dt = v_i, with a constant (heavy ball) or
a = r / t (Nesterov). Two tokens at the angle theta obey theta'' + a theta' = -U' with
U = -(2/beta) log(1 + e^{-beta (1 - cos theta)}). From a right angle the flow of first
order takes e^beta / (2 beta), without friction pi e^{beta/2} / (2 sqrt(beta)).
[zimin2026yuriiformer]
"""

import math

import numpy as np
from scipy.integrate import quad, solve_ivp
from scipy.special import ellipk

from pushforward.errors import InputError, NumericalError
from pushforward.theory._checks import between, scalar

NEAR = 0.999  # the cosine at which two tokens have met
PRECISE = {"rtol": 1e-12, "atol": 1e-13, "method": "DOP853"}


def undamped_time(beta: float) -> float:
    """From rest at a right angle to the cosine 0.999 without friction.

    >>> round(undamped_time(3.0), 7)
    4.3590295
    """
    beta = _beta(beta)
    top, end = _potential(math.pi / 2, beta), math.acos(NEAR)

    def density(v: float) -> float:  # theta = pi/2 - v^2 takes the start's root away
        drop = top - _potential(math.pi / 2 - v * v, beta)
        return 2 * v / math.sqrt(2 * drop)

    whole = math.sqrt(math.pi / 2 - end)
    return float(quad(density, 0, whole, epsabs=0, epsrel=1e-12, limit=500)[0])


def first_order_time(beta: float) -> float:
    """The same by the flow without momentum.

    >>> round(first_order_time(3.0), 7)
    6.970371
    """
    beta = _beta(beta)
    rate = lambda x: (1 + math.exp(beta * (1 - math.cos(x)))) / (2 * math.sin(x))  # noqa: E731
    end = math.acos(NEAR)
    return float(quad(rate, end, math.pi / 2, epsabs=0, epsrel=1e-12, limit=500)[0])


def damped_time(beta: float, a: float) -> float:
    """The same with the constant friction a.

    >>> round(damped_time(3.0, 2.0), 6)
    13.871378
    """
    a = _friction("a", a)
    return _met(_beta(beta), lambda t: a)


def nesterov_time(beta: float, r: float = 3.0) -> float:
    """The same with the friction r / t.

    >>> round(nesterov_time(3.0), 6)
    7.53735
    """
    r = _friction("r", r)
    return _met(_beta(beta), lambda t: r / t)


def plateau_constant(r: float = 3.0) -> float:
    """tau of nesterov_time ~ tau e^{beta/2} / sqrt(2 beta): where y'' + (r/t) y' = e^y,

    y(0) = y'(0) = 0, becomes infinite.

    >>> round(plateau_constant(), 8)
    3.64278739
    """
    r = _friction("r", r)

    def rates(t, state):
        y, v = state
        friction = r / t * v if t > 0 else r / (1 + r)
        return [v, math.exp(y) - friction]

    def far(t, state):
        return state[0] - 60.0

    far.terminal = True  # type: ignore[attr-defined]
    start = 1e-6  # y = t^2 / (2 (1 + r)) there
    begin = [start**2 / (2 * (1 + r)), start / (1 + r)]
    end = solve_ivp(rates, (start, 100.0), begin, events=far, **PRECISE)
    y, v = end.y[:, -1]
    return float(end.t[-1] + 2 / v)  # there y = -2 log((tau - t) / sqrt 2)


def pendulum_time(theta: float) -> float:
    """beta = 0 without friction, from rest at theta to 0: K(sin^2(theta / 2)).

    >>> round(pendulum_time(2.0), 10)
    2.0874382317
    """
    theta = scalar("theta", between("theta", theta, 0, math.pi))
    return float(ellipk(math.sin(theta / 2) ** 2))


def layer_radius(gamma: float, b: float, mu: float = 0.0) -> float:
    """How much a layer Y = X + mu V, V <- b V + gamma A(Y), X <- X + V shrinks.

    The largest root of z^2 - (1 + b - gamma (1 + mu)) z + (b - gamma mu) = 0.

    >>> round(layer_radius(0.1, 0.5, 0.5), 10)
    0.75
    """
    gamma = scalar("gamma", between("gamma", gamma, 0, 4))
    b, mu = (scalar(k, between(k, v, -2, 2)) for k, v in (("b", b), ("mu", mu)))
    roots = np.roots([1, -(1 + b - gamma * (1 + mu)), b - gamma * mu])
    return float(np.abs(roots).max())


def _beta(beta: float) -> float:
    beta = scalar("beta", beta)
    if not 0.01 <= beta <= 30:
        raise InputError(f"`beta` must lie between 0.01 and 30, got {beta:g}.")
    return beta


def _friction(name: str, value: float) -> float:
    value = scalar(name, value)
    if not 0 <= value <= 100:
        raise InputError(f"`{name}` must lie between 0 and 100, got {value:g}.")
    return value


def _potential(theta: float, beta: float) -> float:
    return -2 / beta * math.log1p(math.exp(-beta * (1 - math.cos(theta))))


def _met(beta: float, friction) -> float:
    """When the cosine is first 0.999."""
    force = lambda x: -2 * math.sin(x) / (1 + math.exp(beta * (1 - math.cos(x))))  # noqa: E731

    def rates(t, state):
        theta, v = state
        return [v, force(theta) - friction(t) * v]

    def met(t, state):
        return state[0] - math.acos(NEAR)

    met.terminal = True  # type: ignore[attr-defined]
    start = 1e-9  # a = r / t has no meaning at 0, where v = 0
    longest = 20 + 100 * math.exp(beta)
    state = [math.pi / 2, 0.0]
    end = solve_ivp(rates, (start, longest), state, events=met, **PRECISE)
    if end.status != 1:
        raise NumericalError(
            f"the tokens have not met at t = {longest:g}: lower `beta`."
        )
    return float(end.t[-1])
