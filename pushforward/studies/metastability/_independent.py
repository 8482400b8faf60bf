"""kinetic.py once more without the library: angles by SciPy, its own steps by NumPy.

Predictions of the claims on that data come from here, not from the run they check.
"""

import numpy as np
from scipy.integrate import solve_ivp

from pushforward.studies.metastability.runs import KINETIC

BETA, CLOSE = 4.0, 0.999


def _velocity(_: float, angles: np.ndarray) -> np.ndarray:
    """theta_i' = sum_j softmax_j(beta cos a_ij) sin a_ij, a_ij = theta_j - theta_i."""
    apart = angles[None, :] - angles[:, None]
    weights = np.exp(BETA * (np.cos(apart) - 1))
    weights /= weights.sum(axis=1, keepdims=True)
    return (weights * np.sin(apart)).sum(axis=1)


def _narrowest(_: float, angles: np.ndarray) -> float:
    return np.cos(angles[None, :] - angles[:, None]).min() - CLOSE


_narrowest.terminal = True  # type: ignore[attr-defined]


def _followed(t1: float, **options):
    start = np.unwrap(np.arctan2(KINETIC[:, 1], KINETIC[:, 0]))
    return solve_ivp(
        _velocity, (0.0, t1), start, method="LSODA", rtol=1e-11, atol=1e-13, **options
    )


def energy(t: float) -> float:
    """n^{-2} sum_ij e^{beta (cos(theta_i - theta_j) - 1)} at time t."""
    angles = _followed(t).y[:, -1]
    return float(np.exp(BETA * (np.cos(angles[None] - angles[:, None]) - 1)).mean())


def last_merger() -> float:
    """When all cosines exceed 0.999."""
    return float(_followed(1000.0, events=_narrowest).t_events[0][0])


def last_merger_in_steps(step: float = 0.1) -> float:
    """The same for x <- N(x + step softmax(beta X X^T) X)."""
    x = KINETIC / np.linalg.norm(KINETIC, axis=1, keepdims=True)
    for k in range(10_000):
        if (x @ x.T).min() > CLOSE:
            return k * step
        weights = np.exp(BETA * (x @ x.T - 1))
        x = x + step * (weights / weights.sum(axis=1, keepdims=True)) @ x
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    raise RuntimeError("no merger in 10,000 steps")
