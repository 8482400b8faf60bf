"""Gaussian tokens in R^d: attention keeps them Gaussian, and moments close.

Tokens of law N(m, S) under dx/dt = V int y e^{<Ax, y>} dmu / int e^{<Ax, y>} dmu, with
A = beta K^T Q and no projection: a Gaussian tilted linearly keeps its covariance, so

    v(x) = V (m + S A x),   dm/dt = V (I + S A) m,   dS/dt = V S A S + S A^T S V^T.

The rank of S is constant. Other attentions of one coordinate have closed forms, too.
[castin2025unified], [alcalde2026gaussian]
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp
from scipy.linalg import sqrtm
from scipy.optimize import brentq

from pushforward.errors import InputError, NumericalError
from pushforward.theory._checks import nonnegative, real, scalar


class Moments(NamedTuple):
    """Mean and covariance."""

    mean: np.ndarray
    covariance: np.ndarray


def moments(
    t: float, V: ArrayLike, A: ArrayLike, mean: ArrayLike, covariance: ArrayLike
) -> Moments:
    """Mean and covariance at time t, from the closed equations.

    >>> moments(1.0, [[-1.0]], [[1.0]], [0.5], [[0.8]]).covariance.round(9).item()
    0.307692308
    """
    t, (V, A, S) = scalar("t", nonnegative("t", t)), _square(V, A, covariance)
    m = _vector(mean, len(S))
    d = len(m)

    def rates(_, state):
        m, S = state[:d], state[d:].reshape(d, d)
        move = V @ S @ A
        return np.concatenate([V @ m + move @ m, (move @ S + S @ move.T).ravel()])

    start = np.concatenate([m, S.ravel()])
    if t == 0:
        return Moments(m, S)
    solution = solve_ivp(rates, (0, t), start, method="DOP853", rtol=1e-12, atol=1e-14)
    if not solution.success:
        raise NumericalError(f"the tokens blow up before t = {t:g}.", partial=solution)
    end = solution.y[:, -1]
    return Moments(end[:d], end[d:].reshape(d, d))


def covariance_by_identity(t: float, A: ArrayLike, covariance: ArrayLike) -> np.ndarray:
    """V = I: S(t)^{-1} = S_0^{-1} - t (A + A^T), up to the time of blow-up.

    >>> float(covariance_by_identity(1.0, [[1.0]], [[0.2]]).round(9)[0, 0])
    0.333333333
    """
    t, (A, S) = scalar("t", nonnegative("t", t)), _square(A, covariance)
    if t >= blow_up(A, S):
        raise InputError(
            f"`t` must be below the blow-up at {blow_up(A, S):g}, got {t}."
        )
    return np.linalg.solve(np.eye(len(S)) - t * S @ (A + A.T), S)


def blow_up(A: ArrayLike, covariance: ArrayLike) -> float:
    """V = I: when the covariance becomes infinite, if ever.

    >>> blow_up([[1.0]], [[0.2]])
    2.5
    """
    A, S = _square(A, covariance)
    root = np.real(sqrtm(S))
    fastest = float(np.linalg.eigvalsh(root @ (A + A.T) @ root)[-1])
    return 1 / fastest if fastest > 0 else np.inf


def with_linear_layer(t: float, w: float, va: float, s_0: float) -> float:
    """One coordinate, dx/dt = attention + w x: the variance at time t.

    1/s = (1/s_0 + va/w) e^{-2wt} - va/w.

    >>> round(with_linear_layer(1.0, 0.5, -1.0, 0.8), 10)
    0.5800159834
    """
    t, w, va = scalar("t", nonnegative("t", t)), _moderate("w", w), _moderate("va", va)
    s_0 = _variance(s_0)
    if w == 0:
        inverse = 1 / s_0 - 2 * va * t
    else:
        inverse = (1 / s_0 + va / w) * np.exp(-2 * w * t) - va / w
    if not 0 < inverse < np.inf:
        raise InputError(f"`t` = {t:g} is beyond the blow-up of the variance.")
    return float(1 / inverse)


def linear_layer_blow_up(w: float, va: float, s_0: float) -> float:
    """When that variance becomes infinite, if ever: log(1 + w / (va s_0)) / (2 w).

    >>> round(linear_layer_blow_up(0.5, 1.0, 0.8), 10)
    0.4855078158
    """
    w, va, s_0 = _moderate("w", w), _moderate("va", va), _variance(s_0)
    if va <= 0:
        return np.inf
    if w == 0:
        return 1 / (2 * va * s_0)
    inside = 1 + w / (va * s_0)
    return float(np.log(inside) / (2 * w)) if inside > 0 else np.inf


def squared_distance_attention(t: float, V: float, s_0: float) -> float:
    """One coordinate under e^{-(x - y)^2/2}: -1/s + log s = const + 2 V t, no blow-up.

    >>> round(squared_distance_attention(1.0, 1.0, 0.8), 9)
    2.518959215
    """
    t, V, s_0 = scalar("t", nonnegative("t", t)), _moderate("V", V), _variance(s_0)
    level = -1 / s_0 + np.log(s_0) + 2 * V * t
    # with x = log s: x - e^{-x} = level, increasing in x
    return float(np.exp(_root(lambda x: x - np.exp(-x) - level, level)))


def sinkhorn_attention(t: float, V: float, s_0: float) -> float:
    """One coordinate under the doubly stochastic scaling of e^{xy}: no blow-up.

    With 2 s = sinh(phi): phi - coth(phi / 2) = const + 2 V t.

    >>> round(sinkhorn_attention(1.0, 1.0, 0.8), 7)
    3.3624076
    """
    t, V, s_0 = scalar("t", nonnegative("t", t)), _moderate("V", V), _variance(s_0)
    phi_0 = np.arcsinh(2 * s_0)
    level = phi_0 - 1 / np.tanh(phi_0 / 2) + 2 * V * t
    # phi = e^x keeps it positive
    value = lambda x: np.exp(x) - 1 / np.tanh(np.exp(x) / 2) - level  # noqa: E731
    return float(np.sinh(np.exp(_root(value, 0.0))) / 2)


def _root(value, guess: float) -> float:
    """Of an increasing function."""
    low, high = guess - 1, guess + 1
    for _ in range(200):
        if value(low) < 0 < value(high):
            return float(brentq(value, low, high, xtol=1e-14, rtol=1e-14))
        low, high = low - 0.5 * abs(low - guess), high + 0.5 * abs(high - guess)
        high = min(high, 6.0 + abs(guess))
    raise NumericalError("the variance leaves the range of numbers: lower `t`.")


def _square(*matrices: ArrayLike) -> list[np.ndarray]:
    arrays = [real("matrices", M) for M in matrices]
    shape = arrays[-1].shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(f"`covariance` must be a square matrix, got shape {shape}.")
    for M in arrays[:-1]:
        if M.shape != shape:
            raise InputError(f"matrices must have shape {shape}, got {M.shape}.")
    S = arrays[-1]
    if not np.allclose(S, S.T) or np.linalg.eigvalsh(S)[0] < -1e-12 * np.abs(S).max():
        raise InputError("`covariance` must be symmetric and positive.")
    if max(np.abs(M).max() for M in arrays) > 1e6:
        raise InputError("matrices must be at most 1e6 in size.")
    return arrays


def _vector(mean: ArrayLike, d: int) -> np.ndarray:
    m = real("mean", mean)
    if m.shape != (d,) or np.abs(m).max() > 1e6:
        raise InputError(f"`mean` must have shape ({d},) and moderate size.")
    return m


def _moderate(name: str, value: float) -> float:
    value = scalar(name, value)
    if abs(value) > 1e3:
        raise InputError(f"`{name}` must be at most 1000 in size, got {value:g}.")
    return value


def _variance(s_0: float) -> float:
    s_0 = scalar("s_0", s_0)
    if not 1e-6 <= s_0 <= 1e6:
        raise InputError(f"`s_0` must lie between 1e-6 and 1e6, got {s_0:g}.")
    return s_0
