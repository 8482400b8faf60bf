"""The value function of a scalar control problem, by dynamic programming on a grid."""

from collections.abc import Callable

import numpy as np

from pushforward.control._checks import count, finite, positive
from pushforward.errors import InputError


def semi_lagrangian_value(
    velocity: Callable[[np.ndarray, np.ndarray], np.ndarray],
    cost: Callable[[np.ndarray, np.ndarray], np.ndarray],
    states: np.ndarray,
    controls: np.ndarray,
    t1: float,
    *,
    steps: int,
) -> np.ndarray:
    """V(t1, x) on the grid `states`: V_T = min_u { l(x, u) + V_x f(x, u) }, V_0 = 0.

    Each step is V <- min_u { dt l(x, u) + V(x + dt f(x, u)) } over the listed
    `controls`, with cubic interpolation in x, so the error is of first order in
    dt. Feet that leave the grid are held at its ends: make the grid wide enough
    that optimal paths stay inside. [geshkovski2022turnpike]
    """
    from scipy.interpolate import CubicSpline

    states = finite("states", states, (None,))
    controls = finite("controls", controls, (None,))
    if len(states) < 4 or np.any(np.diff(states) <= 0):
        raise InputError(
            f"`states` must be an increasing grid of at least 4 points, got "
            f"{len(states)}; try np.linspace(-2, 2, 401)."
        )
    dt = positive("t1", t1, "It is the horizon.") / count("steps", steps)
    x, u = states[:, None], controls[None, :]
    feet = np.clip(x + dt * velocity(x, u), states[0], states[-1])
    running = dt * cost(x, u)
    value = np.zeros(len(states))
    for _ in range(steps):
        value = np.min(running + CubicSpline(states, value)(feet), axis=1)
    return value
