"""Optimal control of M y' + K y + M f(y) = B u: one sparse Newton system in time."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from pushforward._checks import above_zero
from pushforward.control._checks import count, finite
from pushforward.control.classical.linear_quadratic import Static
from pushforward.control.classical.riccati import stabilizing
from pushforward.errors import NumericalError

Scalar = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Reaction:
    """A pointwise nonlinearity f with its first two derivatives."""

    value: Scalar
    slope: Scalar
    curvature: Scalar


def cubic() -> Reaction:
    """f(y) = y^3, the defocusing reaction."""
    return Reaction(lambda y: y**3, lambda y: 3 * y**2, lambda y: 6 * y)


def no_reaction() -> Reaction:
    """f = 0: a linear equation, for which Newton takes one step."""
    return Reaction(np.zeros_like, np.zeros_like, np.zeros_like)


@dataclass(frozen=True)
class EvolutionPath:
    """Optimal states (t, n) at `times`, controls and adjoints at the step midpoints."""

    times: np.ndarray
    states: np.ndarray
    controls: np.ndarray
    adjoints: np.ndarray
    cost: float
    residuals: np.ndarray

    @property
    def midpoints(self) -> np.ndarray:
        """Times at which controls and adjoints live."""
        return 0.5 * (self.times[1:] + self.times[:-1])


@dataclass(frozen=True)
class Evolution:
    """Minimize 1/2 int (y-z)'Q(y-z) + u'Ru dt under M y' + K y + M f(y) = B u.

    Matrices are sparse; M is the mass matrix (h times the identity for finite
    differences), so that a constant vector y has the norm of the constant
    function. Time is discretized by the implicit midpoint rule with the cost at
    midpoints: implicit Euler would bias the turnpike rate at first order.
    [geshkovski2022turnpike]
    """

    mass: sp.csr_matrix
    stiffness: sp.csr_matrix
    B: sp.csr_matrix
    tracking: sp.csr_matrix
    R: sp.csr_matrix
    z: np.ndarray
    reaction: Reaction
    floor: float = 0.0  # running cost of the part of the target no state reaches

    @property
    def n(self) -> int:
        """Number of unknowns in space."""
        return self.mass.shape[0]

    def static(self, *, tolerance: float = 1e-11) -> Static:
        """The stationary optimum by Newton on its optimality system, from zero."""
        n, m = self.B.shape
        y, u, p = np.zeros(n), np.zeros(m), np.zeros(n)
        weight = self.mass @ np.ones(n)  # lumped: the reaction is pointwise
        for _ in range(60):
            slope = sp.diags(weight * self.reaction.slope(y))
            state = self.stiffness @ y + weight * self.reaction.value(y) - self.B @ u
            adjoint = (self.stiffness + slope).T @ p + self.tracking @ (y - self.z)
            gradient = self.R @ u - self.B.T @ p
            residual = np.concatenate([adjoint, gradient, state])
            if np.max(np.abs(residual)) < tolerance * (1 + np.max(np.abs(p))):
                cost = 0.5 * (y - self.z) @ (self.tracking @ (y - self.z)) + self.floor
                return Static(y, u, p, float(cost + 0.5 * u @ (self.R @ u)))
            hessian = self.tracking + sp.diags(weight * self.reaction.curvature(y) * p)
            linear = self.stiffness + slope
            kkt = sp.bmat(
                [
                    [hessian, None, linear.T],
                    [None, self.R, -self.B.T],
                    [linear, -self.B, None],
                ],
                format="csc",
            )
            step = splu(kkt).solve(residual)
            y, u, p = y - step[:n], u - step[n : n + m], p - step[n + m :]
        raise NumericalError("stationary Newton did not converge in 60 steps.", y)

    def rate(self) -> float:
        """mu of the linearization at the static optimum (dense: n up to ~300)."""
        s = self.static()
        weight = self.mass @ np.ones(self.n)
        M = self.mass.toarray()
        slope = np.diag(weight * self.reaction.slope(s.state))
        A = -np.linalg.solve(M, self.stiffness.toarray() + slope)
        B = np.linalg.solve(M, self.B.toarray())
        G = B @ np.linalg.solve(self.R.toarray(), B.T)
        curvature = np.diag(weight * self.reaction.curvature(s.state) * s.adjoint)
        P = stabilizing(A, 0.5 * (G + G.T), self.tracking.toarray() + curvature)
        return float(-np.max(np.linalg.eigvals(A - G @ P).real))

    def optimize(
        self,
        y0: np.ndarray,
        t1: float,
        *,
        steps: int,
        gauss_newton: bool = False,
        tolerance: float = 1e-10,
    ) -> EvolutionPath:
        """Optimal path from `y0` over [0, t1] by Lagrange-Newton, started at zero.

        `gauss_newton` drops f''(y) p from the Hessian: more iterations, but the
        matrix stays convex in y. A linear equation needs one sparse LU.
        """
        y0 = finite("y0", y0, (self.n,))
        t1 = above_zero("t1", t1, "It is the horizon.")
        system = _TimeSystem(self, y0, t1 / count("steps", steps), steps)
        unknown = np.zeros(system.size)
        history: list[float] = []
        for _ in range(50):
            residual = system.residual(unknown)
            history.append(float(np.max(np.abs(residual))))
            if not np.isfinite(history[-1]):
                raise NumericalError("Lagrange-Newton diverged.", unknown)
            if history[-1] < tolerance * (1 + history[0]):
                return system.path(unknown, np.array(history))
            if len(history) > 3 and history[-1] > 0.9 * history[-2] < 1e-8:
                return system.path(unknown, np.array(history))  # rounding floor
            kkt = system.kkt(unknown, gauss_newton)
            unknown = unknown - splu(kkt).solve(residual)
        raise NumericalError(
            f"Lagrange-Newton did not converge in 50 steps (residual "
            f"{history[-1]:.2e}); shorten the horizon or start closer.",
            unknown,
        )


class _TimeSystem:
    """Optimality system of one discretized evolution; unknowns (Y, U, P) stacked."""

    def __init__(self, problem: Evolution, y0: np.ndarray, dt: float, steps: int):
        self.problem, self.y0, self.dt, self.steps = problem, y0, dt, steps
        n, m = problem.B.shape
        self.shape = (steps * n, steps * m, steps * n)
        self.size = sum(self.shape)
        one = sp.identity(steps, format="csr")
        down = sp.eye(steps, k=-1, format="csr")
        self.mean = sp.kron(0.5 * (one + down), sp.identity(n), format="csr")
        self.flow = sp.kron((one - down) / dt, problem.mass, format="csr")
        self.K = sp.kron(one, problem.stiffness, format="csr")
        self.B = sp.kron(one, problem.B, format="csr")
        self.Q = sp.kron(one, problem.tracking, format="csr")
        self.R = sp.kron(one, problem.R, format="csr")
        self.weight = np.tile(problem.mass @ np.ones(n), steps)
        self.start = np.zeros(steps * n)
        self.start[:n] = y0
        self.flow0 = np.zeros(steps * n)
        self.flow0[:n] = -(problem.mass @ y0) / dt
        self.target = np.tile(problem.z, steps)

    def split(self, unknown: np.ndarray):
        Y, U, P = np.split(unknown, np.cumsum(self.shape)[:2])
        return self.mean @ Y + 0.5 * self.start, Y, U, P

    def residual(self, unknown: np.ndarray) -> np.ndarray:
        mid, Y, U, P = self.split(unknown)
        f = self.problem.reaction
        pull = self.Q @ (mid - self.target) + self.K.T @ P
        pull = pull + self.weight * f.slope(mid) * P
        state = self.flow @ Y + self.flow0 + self.K @ mid - self.B @ U
        state = state + self.weight * f.value(mid)
        gradient = self.R @ U - self.B.T @ P
        return np.concatenate([self.flow.T @ P + self.mean.T @ pull, gradient, state])

    def kkt(self, unknown: np.ndarray, gauss_newton: bool) -> sp.spmatrix:
        mid, _, _, P = self.split(unknown)
        f = self.problem.reaction
        curvature = 0.0 if gauss_newton else self.weight * f.curvature(mid) * P
        hessian = self.mean.T @ (self.Q + sp.diags(curvature * np.ones(len(mid))))
        linear = self.K + sp.diags(self.weight * f.slope(mid))
        state = self.flow + linear @ self.mean
        return sp.bmat(
            [
                [hessian @ self.mean, None, state.T],
                [None, self.R, -self.B.T],
                [state, -self.B, None],
            ],
            format="csc",
        )

    def path(self, unknown: np.ndarray, residuals: np.ndarray) -> EvolutionPath:
        mid, Y, U, P = self.split(unknown)
        n, m = self.problem.B.shape
        miss = mid - self.target
        cost = 0.5 * self.dt * (miss @ (self.Q @ miss) + U @ (self.R @ U))
        cost = cost + self.steps * self.dt * self.problem.floor
        states = np.vstack([self.y0, Y.reshape(self.steps, n)])
        times = self.dt * np.arange(self.steps + 1)
        shape = (self.steps, m), (self.steps, n)
        return EvolutionPath(
            times,
            states,
            U.reshape(shape[0]),
            P.reshape(shape[1]),
            float(cost),
            residuals,
        )
