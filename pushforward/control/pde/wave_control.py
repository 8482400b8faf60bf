"""The controlled wave as a linear-quadratic problem, ready for its exact paths."""

import numpy as np
from scipy.linalg import cholesky

from pushforward.control._checks import count, finite
from pushforward.control.linear_quadratic import LinearQuadratic
from pushforward.control.pde.wave import Gradient, NoTracking, Tracking
from pushforward.errors import InputError


def controlled_wave(
    n: int,
    *,
    tracking: Tracking = Gradient(),
    omega: tuple[float, float] = (0.25, 0.75),
    target: object = 0.0,
) -> LinearQuadratic:
    """Minimize 1/2 int |C(y - target, y_t)|^2 + |u|^2 for y_tt = y_xx + u 1_omega.

    The grid is that of `wave_hamiltonian`: n nodes, step 1/(n - 1), Dirichlet one
    step outside; the state is (y, y_t), `target` a number or n values of y. The
    rate is the least |Re| of that spectrum. Highest grid modes do not travel, so
    the rate falls with n although the bulk does not.

    >>> round(controlled_wave(20, omega=(0.0, 1.0)).rate, 4)
    0.4926

    [geshkovski2022turnpike]
    """
    n = count("n", n, 4)
    if isinstance(tracking, NoTracking):
        raise InputError(
            "a wave that is not tracked has no turnpike: its optimal controls are "
            "periodic. Use Gradient() or PositionAndVelocity()."
        )
    low, high = finite("omega", omega, (2,))
    i = np.arange(1, n + 1)
    held = (i >= low * n) & (i <= high * n)
    if not held.any():
        raise InputError(
            f"`omega` {omega} contains no node; widen it, or raise `n` (now {n})."
        )
    stiffness = (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)) * (n - 1) ** 2
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-stiffness, np.zeros((n, n))]])
    B = np.concatenate([np.zeros((n, held.sum())), np.eye(n)[:, held]])
    weight = tracking.matrix(stiffness)
    seen = np.flatnonzero(np.diag(weight))
    C = cholesky(weight[np.ix_(seen, seen)]) @ np.eye(2 * n)[seen]
    goal = np.zeros(2 * n)
    goal[:n] = finite("target", np.broadcast_to(np.asarray(target, float), (n,)), (n,))
    return LinearQuadratic(A, B, C, C @ goal, np.eye(B.shape[1]))
