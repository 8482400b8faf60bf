"""Tokens on the line without layer norm: leaders, escape, and the symmetric pair.

Q = K = 1; V = 1 pushes two tokens +-u apart, V = -1 lets them collapse.
[geshkovski2023clusters]
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp
from scipy.special import lambertw

from pushforward.errors import InputError, NumericalError
from pushforward.theory._checks import (
    Real,
    between,
    nonnegative,
    real,
    representable,
    scalar,
    whole,
)


def escape_radius(n: int) -> float:
    """A = sqrt(W(n^2)), the solution of A^2 = n^2 e^{-A^2}, W the Lambert function.

    A token farther than A from the origin moves outwards for ever.

    >>> round(escape_radius(40), 6)
    2.376276
    """
    return float(np.sqrt(lambertw(float(whole("n", n, 1)) ** 2).real))


def pair_rate(w: ArrayLike) -> Real:
    """Speed of w = u^2 for two tokens +-u and V = 1: 2 w tanh(w)."""
    w = nonnegative("w", w)
    return (2 * w * np.tanh(w))[()]


def pair_square(t: ArrayLike, w_0: float) -> Real:
    """w = u^2 at time t for two tokens +-u and V = 1: dw/dt = 2 w tanh(w).

    >>> round(float(pair_square(1.0, 0.25)), 8)
    0.48158131
    """
    return _flow(nonnegative("t", t), w_0)


def collapsing_pair_square(t: ArrayLike, w_0: float) -> Real:
    """The same for V = -1: dw/dt = -2 w tanh(w), so that w t tends to 1/2."""
    return _flow(-nonnegative("t", t), w_0)


def collapse_covariance(t: ArrayLike) -> Real:
    """Each eigenvalue of the covariance of many tokens under V = -I: 1/(2t), late."""
    return (1 / (2 * between("t", t, 0, np.inf)))[()]


def attention_limit(points: ArrayLike) -> np.ndarray:
    """Leader of each token on the line (V > 0, Q K > 0) once all have escaped.

    Entry i is the index of the smallest or of the largest token, by the sign of the
    escaped token i: the limit row of the attention matrix is its indicator. Meant for
    tokens beyond the escape radius; at most one token never escapes.
    """
    points = real("points", points).ravel()
    if not points.size:
        raise InputError("`points` must hold at least one token, got none.")
    return np.where(points > 0, points.argmax(), points.argmin())


def _flow(t: np.ndarray, w_0: float) -> Real:
    log_w = np.log(scalar("w_0", between("w_0", w_0, 0, np.inf)))
    grid, inverse = np.unique(np.abs(t), return_inverse=True)
    sign = -1.0 if np.any(t < 0) else 1.0
    with np.errstate(over="ignore", invalid="ignore"):  # tanh of infinity is 1
        solution = solve_ivp(
            lambda _, z: 2 * sign * np.tanh(np.exp(z)),  # z = log w
            (0.0, max(float(grid[-1]), 1e-12)),
            [log_w],
            method="DOP853",
            t_eval=grid,
            rtol=1e-12,
            atol=1e-13,
        )
        if not solution.success:
            raise NumericalError(f"pair law: {solution.message}", partial=solution)
        w = np.exp(solution.y[0][inverse].reshape(t.shape))
    return representable("u^2", w, "a shorter time")
