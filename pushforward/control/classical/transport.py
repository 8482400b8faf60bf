"""Transport with inflow control, by the scheme that shifts one cell per step."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from pushforward.control._checks import count, finite


@dataclass(frozen=True)
class TransportPath:
    """Optimal inflow: times (t), controls (t), states (t, cells)."""

    times: np.ndarray
    controls: np.ndarray
    states: np.ndarray
    cost: float


def optimal_transport_inflow(
    y0: np.ndarray, periods: int, *, target: float = 1.0
) -> TransportPath:
    """Minimize int u^2 + int int (y - target)^2 for y_t + y_x = 0, y(t, 0) = u.

    `y0` holds the cells of (0, 1) at time 0, `periods` is the horizon T. Steps
    have Courant number one, so characteristics are exact: the state of time k
    in cell j is u_{k-j}. The quadratic problem in u is assembled from that map
    and solved by one sparse factorization.

    >>> path = optimal_transport_inflow(np.zeros(4), 3)
    >>> path.controls[:2], path.controls[-1]
    (array([0.5, 0.5]), np.float64(0.2))

    [geshkovski2022turnpike]
    """
    y0 = finite("y0", y0, (None,))
    cells = len(y0)
    steps = count("periods", periods) * cells
    dt = 1.0 / cells
    k, j = np.meshgrid(np.arange(steps), np.arange(cells), indexing="ij")
    born = (k - j).ravel()  # when the value now in cell j entered
    rows = np.flatnonzero(born >= 0)
    shape = (steps * cells, steps)
    entered = sp.csr_matrix((np.ones(len(rows)), (rows, born[rows])), shape=shape)
    leftover = np.zeros(steps * cells)
    old = np.flatnonzero(born < 0)
    leftover[old] = y0[-1 - born[old]]
    hessian = sp.identity(steps, format="csc") + dt * (entered.T @ entered).tocsc()
    right = dt * (entered.T @ (target - leftover))
    controls = np.asarray(spsolve(hessian, right))
    states = entered @ controls + leftover
    cost = dt * np.sum(controls**2) + dt * dt * np.sum((states - target) ** 2)
    return TransportPath(
        dt * np.arange(steps), controls, states.reshape(steps, cells), float(cost)
    )
