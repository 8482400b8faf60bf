"""Waves and transport: spectra of Hamiltonians, simulation, null control, inflow."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cholesky, lstsq
from scipy.sparse.linalg import spsolve

from pushforward._checks import above_zero
from pushforward.control._checks import count, finite
from pushforward.control.classical.linear_quadratic import LinearQuadratic
from pushforward.errors import InputError


def _laplacian(n: int, h: float) -> np.ndarray:
    return (np.eye(n, k=1) + np.eye(n, k=-1) - 2 * np.eye(n)) / h**2


@dataclass(frozen=True)
class PositionAndVelocity:
    """Track y and y_t in the plain Euclidean norm (the convention of the survey)."""

    def matrix(self, stiffness: np.ndarray) -> np.ndarray:
        """C'C for the stacked state (y, y_t)."""
        return np.eye(2 * len(stiffness))


@dataclass(frozen=True)
class Gradient:
    """Track y_x: the tracking of energy type that waves need."""

    def matrix(self, stiffness: np.ndarray) -> np.ndarray:
        """C'C for the stacked state (y, y_t)."""
        return np.kron(np.diag([1.0, 0.0]), stiffness)


@dataclass(frozen=True)
class Position:
    """Track y in L2 only: too weak at high frequency, no uniform turnpike."""

    def matrix(self, stiffness: np.ndarray) -> np.ndarray:
        """C'C for the stacked state (y, y_t)."""
        return np.kron(np.diag([1.0, 0.0]), np.eye(len(stiffness)))


@dataclass(frozen=True)
class NoTracking:
    """No running cost on the state: the spectrum collapses on the imaginary axis."""

    def matrix(self, stiffness: np.ndarray) -> np.ndarray:
        """C'C for the stacked state (y, y_t)."""
        return np.zeros((2 * len(stiffness), 2 * len(stiffness)))


Tracking = PositionAndVelocity | Gradient | Position | NoTracking


def wave_hamiltonian(
    n: int, tracking: Tracking, *, omega: tuple[float, float] = (0.25, 0.75)
) -> np.ndarray:
    """[A, -BB'; -C'C, -A'] of y_tt = y_xx + u 1_omega on a grid of n nodes.

    Step 1/(n - 1) with the Dirichlet condition one step outside, and node i of
    1..n controlled when omega[0] n <= i <= omega[1] n: the convention of the
    survey's figures. Eigenvalues off the imaginary axis mean a turnpike.
    """
    n = count("n", n, 4)
    A = np.zeros((2 * n, 2 * n))
    laplacian = _laplacian(n, 1.0 / (n - 1))
    A[:n, n:] = np.eye(n)
    A[n:, :n] = laplacian
    i = np.arange(1, n + 1)
    held = (i >= omega[0] * n) & (i <= omega[1] * n)
    G = np.diag(np.concatenate([np.zeros(n), held.astype(float)]))
    return np.block([[A, -G], [-tracking.matrix(-laplacian), -A.T]])


def grid_frequencies(n: int) -> np.ndarray:
    """Frequencies of the n-node grid of `wave_hamiltonian`: 2(n-1) sin(k pi/(2n+2))."""
    k = np.arange(1, n + 1)
    return 2 * (n - 1) * np.sin(0.5 * k * np.pi / (n + 1))


def leapfrog_dirichlet(
    y0: np.ndarray, control: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Wave on (0, 1) from y0 at rest, y(t, 0) = 0, y(t, 1) = control, unit Courant.

    `control` lists the boundary value at every step, its first entry at time 0.
    Returns the last two states (one per step), exact for grid data because each
    step moves both families of characteristics by one cell.
    """
    y0 = finite("y0", y0, (None,))
    control = finite("control", control, (None,))
    before = y0.copy()
    before[-1] = control[0]
    now = before.copy()
    now[1:-1] = 0.5 * (before[2:] + before[:-2])
    now[0], now[-1] = 0.0, control[1]
    for u in control[2:]:
        after = np.empty_like(now)
        after[1:-1] = now[2:] + now[:-2] - before[1:-1]
        after[0], after[-1] = 0.0, u
        before, now = now, after
    return before, now


@dataclass(frozen=True)
class NullControl:
    """A boundary control that stops the wave: times, values, squared norm."""

    times: np.ndarray
    controls: np.ndarray
    cost: float
    defect: float


def wave_null_control(n: int, courant: float, t1: float) -> NullControl:
    """Least-norm Neumann control at x = 1 that brings sin(pi x) to rest in time t1.

    n interior nodes, explicit scheme of Courant number about `courant` with
    reflecting ends; the last two states must vanish. The grid with courant < 1
    has modes that do not travel, and the norm then explodes as n grows: use 1.
    The cost is int u^2 by the trapezoid rule.
    [geshkovski2022turnpike]
    """
    n = count("n", n, 2)
    if not 0 < courant <= 1:
        raise InputError(
            f"`courant` must be in (0, 1], got {courant}: above one the scheme is "
            "unstable."
        )
    h = 1.0 / (n + 1)
    dt = h * courant
    steps = round(above_zero("t1", t1, "It is the horizon.") / dt)
    weights = np.full(steps, 1.0)
    weights[[0, -1]] = 0.5
    free, kicks = _neumann_response(n, courant, h, steps)
    # unknowns sqrt(w) u, so that the least-squares norm is the cost
    scaled = kicks / np.sqrt(weights)
    solution, *_ = lstsq(scaled, -free, cond=1e-14, lapack_driver="gelsd")
    controls = solution / np.sqrt(weights)
    defect = float(np.max(np.abs(kicks @ controls + free)))
    cost = dt * float(np.sum(weights * controls**2))
    return NullControl(dt * np.arange(steps), controls, cost, defect)


def _neumann_response(
    n: int, courant: float, h: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Last two states without control, and their response to a unit control.

    The scheme is time invariant, so the response to a kick at step k is the
    response to one at step 1 read off earlier; the first step alone differs.
    """
    r2 = courant**2
    x = np.linspace(0.0, 1.0, n + 2)
    move = 2 * (1 - r2) * np.eye(n + 2) + r2 * (
        np.eye(n + 2, k=1) + np.eye(n + 2, k=-1)
    )
    move[0, 1] = move[-1, -2] = 2 * r2

    def run(before: np.ndarray, now: np.ndarray, count: int) -> np.ndarray:
        states = [before, now]
        for _ in range(count):
            states.append(move @ states[-1] - states[-2])
        return np.array(states)

    y0 = np.sin(np.pi * x)
    free = run(y0, 0.5 * move @ y0, steps - 1)
    kick = np.zeros(n + 2)
    kick[-1] = 2 * r2 * h
    rest = np.zeros(n + 2)
    response = run(rest, kick, steps)  # kick enters at index 1
    columns = np.zeros((2 * (n + 2), steps))
    columns[:, 0] = 0.5 * np.concatenate([response[steps - 1], response[steps]])
    for k in range(1, steps):
        columns[:, k] = np.concatenate([response[steps - 1 - k], response[steps - k]])
    return np.concatenate([free[-2], free[-1]]), columns


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
