"""Masses on fixed atoms: a small convex quadratic program on the simplex."""

import numpy as np

RIDGE = 1e-14  # of a kernel whose largest value is one


def simplex_weights(K: np.ndarray, V: np.ndarray, m: np.ndarray) -> np.ndarray:
    """argmin of m^T K m / 2 + V^T m over m >= 0, sum m = 1, from a feasible m.

    Active set on the optimality system K m + V = lambda on the support, K m + V >=
    lambda off it. K is expected in units in which its largest value is one.
    """
    m = m.copy()
    for _ in range(10 * len(m) + 10):
        m = _optimal_on_support(K, V, m)
        F = K @ m + V
        reduced = F - m @ F
        reduced[m > 0] = 0.0
        enter = int(np.argmin(reduced))
        if reduced[enter] >= -1e-14 * (1 + np.abs(F).max()):
            break
        m[enter] = 1e-12 * m.max()  # in the support from now on
        m /= m.sum()
    return m


def _optimal_on_support(K: np.ndarray, V: np.ndarray, m: np.ndarray) -> np.ndarray:
    """The minimizer over the support, which shrinks whenever a mass reaches zero."""
    m = m.copy()
    while True:
        on = np.flatnonzero(m > 0)
        goal = _equalized(K[np.ix_(on, on)], V[on])
        step = goal - m[on]
        falling = step < 0
        room = np.where(falling, m[on] / np.where(falling, -step, 1.0), np.inf)
        share = min(1.0, room.min(initial=np.inf))
        moved = m[on] + share * step
        if share < 1.0:
            moved[np.argmin(room)] = 0.0
        m[on] = np.maximum(moved, 0.0)
        m /= m.sum()
        if share == 1.0:
            return m


def _equalized(K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """m with K m + V = lambda and sum m = 1.

    The ridge makes directions without curvature long steps downhill, which end where
    a mass reaches zero.
    """
    n = len(V)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n], system[:n, n], system[n, :n] = K, -1.0, 1.0
    system[:n, :n] += RIDGE * np.eye(n)
    return np.linalg.solve(system, np.append(-V, 1.0))[:n]
