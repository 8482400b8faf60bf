"""Riccati equations, and the two conditions that give them a stabilizing solution.

The value function of a scalar control problem, by dynamic programming on a grid.
"""

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import solve_continuous_are

from pushforward._checks import above_zero
from pushforward.control._checks import count, finite
from pushforward.errors import InputError, NumericalError


def _unreachable_modes(A: np.ndarray, B: np.ndarray) -> list[complex]:
    """Eigenvalues with Re >= 0 that the columns of B cannot move (Hautus test)."""
    scale = 1.0 + np.linalg.norm(A, 2)
    bad: list[complex] = []
    for s in np.linalg.eigvals(A):
        if s.real < -1e-10 * scale:
            continue
        pencil = np.hstack([s * np.eye(len(A)) - A, B])
        if np.linalg.svd(pencil, compute_uv=False)[-1] < 1e-9 * scale:
            bad.append(complex(s))
    return bad


def require_stabilizable(A: np.ndarray, B: np.ndarray) -> None:
    """Refuse a pair (A, B) with an unstable mode that no control reaches."""
    bad = _unreachable_modes(A, B)
    if bad:
        raise InputError(
            f"(A, B) is not stabilizable: the control cannot move the mode(s) "
            f"{_listed(bad)} of A, which do not decay. Without it the Riccati "
            "equation has no stabilizing solution and there is no turnpike. "
            "Add a column to B that reaches them, or make those modes stable."
        )


def require_detectable(A: np.ndarray, C: np.ndarray) -> None:
    """Refuse a pair (A, C) with an unstable mode that the cost does not see."""
    bad = _unreachable_modes(A.T, C.T)
    if bad:
        raise InputError(
            f"(A, C) is not detectable: the running cost does not see the mode(s) "
            f"{_listed(bad)} of A, which do not decay. Without it optimal states "
            "need not stay near the static optimum. Add a row to C that observes "
            "them (a tracking term), or make those modes stable."
        )


def _listed(modes: list[complex]) -> str:
    def written(s: complex) -> str:
        return f"{s.real:.6g}" if abs(s.imag) < 1e-12 else f"{s:.6g}"

    return ", ".join(written(s) for s in modes[:4]) + (", ..." * (len(modes) > 4))


def stabilizing(A: np.ndarray, G: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """The solution P >= 0 of A'P + PA - PGP + Q = 0 for which A - GP is stable.

    Symmetric factors of G are enough for scipy, which wants B and R apart.

    >>> a = np.array([[1.0]])
    >>> round(stabilizing(a, np.eye(1), np.eye(1)).item(), 9)  # 1 + sqrt(2)
    2.414213562
    """
    values, vectors = np.linalg.eigh(G)
    keep = values > 1e-14 * max(values[-1], 1e-300)
    B = vectors[:, keep] * np.sqrt(values[keep])
    try:
        P = solve_continuous_are(A, B, Q, np.eye(B.shape[1]))
    except np.linalg.LinAlgError as error:
        raise NumericalError(
            "the algebraic Riccati equation could not be solved: the Hamiltonian "
            "matrix has eigenvalues on (or too near) the imaginary axis. Check "
            "stabilizability and detectability, or rescale the problem."
        ) from error
    return 0.5 * (P + P.T)


def differential_riccati(
    A: np.ndarray, G: np.ndarray, Q: np.ndarray, times: np.ndarray
) -> np.ndarray:
    """P(T) of the differential Riccati equation P' = A'P + PA - PGP + Q, P(0) = 0.

    P(T) is the Hessian of the value function of horizon T; it tends to the
    stabilizing solution at rate 2 mu. Order 8 Runge-Kutta, rtol 1e-12. Returns
    one matrix per entry of `times` (increasing, from 0 or later).
    """
    n = len(A)

    def slope(_: float, flat: np.ndarray) -> np.ndarray:
        P = flat.reshape(n, n)
        return (A.T @ P + P @ A - P @ G @ P + Q).ravel()

    run = solve_ivp(
        slope,
        (0.0, float(times[-1])),
        np.zeros(n * n),
        method="DOP853",
        t_eval=times,
        rtol=1e-12,
        atol=1e-14,
    )
    if not run.success:
        raise NumericalError(f"the Riccati flow stopped: {run.message}", run.y)
    return run.y.T.reshape(-1, n, n)


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
    dt = above_zero("t1", t1, "It is the horizon.") / count("steps", steps)
    x, u = states[:, None], controls[None, :]
    feet = np.clip(x + dt * velocity(x, u), states[0], states[-1])
    running = dt * cost(x, u)
    value = np.zeros(len(states))
    for _ in range(steps):
        value = np.min(running + CubicSpline(states, value)(feet), axis=1)
    return value
