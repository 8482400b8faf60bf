"""Linear-quadratic control over a long horizon, solved exactly for any horizon."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Real
from scipy.linalg import expm, solve_continuous_lyapunov

from pushforward._checks import above_zero
from pushforward.control._checks import count, finite
from pushforward.control.classical.riccati import (
    require_detectable,
    require_stabilizable,
    stabilizing,
)
from pushforward.errors import InputError

State = Real[ArrayLike, "n"] | Sequence[float]


@dataclass(frozen=True)
class Static:
    """Optimum of the stationary problem: state, control, multiplier, cost."""

    state: np.ndarray
    control: np.ndarray
    adjoint: np.ndarray
    cost: float


@dataclass(frozen=True)
class OptimalPath:
    """An optimal trajectory: times (t), states (t, n), controls (t, m), adjoints."""

    times: np.ndarray
    states: np.ndarray
    controls: np.ndarray
    adjoints: np.ndarray
    static: Static

    def deviation(self) -> np.ndarray:
        """|x - xbar| + |u - ubar| at every time: the distance to the turnpike."""
        dx = self.states - self.static.state
        du = self.controls - self.static.control
        return np.linalg.norm(dx, axis=1) + np.linalg.norm(du, axis=1)


@dataclass(frozen=True)
class LinearQuadratic:
    """Minimize 1/2 int |Cx - z|^2 + u'Ru dt subject to x' = Ax + Bu.

    The static optimum minimizes the same integrand over Ax + Bu = 0. `rate` is
    mu = -max Re spec(A - GP), G = B R^{-1} B': optimal paths stay within
    C (e^{-mu t} + e^{-mu (T - t)}) of the static optimum. A pair that is not
    stabilizable or not detectable is refused, and the message names the mode.

    >>> lq = LinearQuadratic([[1.0]], [[1.0]], [[1.0]], [1.0], [[1.0]])
    >>> lq.static.state.item(), lq.static.cost, round(lq.rate, 6)
    (0.5, 0.25, 1.414214)

    [geshkovski2022turnpike]
    """

    A: Any  # lists become arrays
    B: Any
    C: Any
    z: Any
    R: Any

    def __post_init__(self):
        A = finite("A", self.A, (None, None))
        n = len(A)
        A = finite("A", A, (n, n))
        B = finite("B", self.B, (n, None))
        C = finite("C", self.C, (None, n))
        z = finite("z", self.z, (len(C),))
        R = finite("R", self.R, (B.shape[1], B.shape[1]))
        if not np.allclose(R, R.T, rtol=1e-12, atol=0):
            raise InputError("`R` must be symmetric; pass (R + R.T) / 2.")
        smallest = float(np.linalg.eigvalsh(R)[0])
        if smallest <= 0:
            raise InputError(
                f"`R` must be positive definite, its smallest eigenvalue is "
                f"{smallest:g}: a free control has no optimum. Add a multiple of "
                "the identity."
            )
        for name, value in dict(A=A, B=B, C=C, z=z, R=R).items():
            object.__setattr__(self, name, value)
        require_stabilizable(A, B)
        require_detectable(A, C)

    @cached_property
    def gain(self) -> np.ndarray:
        """G = B R^{-1} B'."""
        return self.B @ np.linalg.solve(self.R, self.B.T)

    @cached_property
    def static(self) -> Static:
        """The stationary optimum from one symmetric linear system."""
        n, m = self.B.shape
        kkt = np.block(
            [
                [self.C.T @ self.C, np.zeros((n, m)), self.A.T],
                [np.zeros((m, n)), self.R, self.B.T],
                [self.A, self.B, np.zeros((n, n))],
            ]
        )
        right = np.concatenate([self.C.T @ self.z, np.zeros(m + n)])
        x, u, p = np.split(np.linalg.solve(kkt, right), [n, n + m])
        cost = 0.5 * np.sum((self.C @ x - self.z) ** 2) + 0.5 * u @ self.R @ u
        return Static(x, u, p, float(cost))

    @cached_property
    def P(self) -> np.ndarray:
        """Stabilizing solution of A'P + PA - PGP + C'C = 0."""
        return stabilizing(self.A, self.gain, self.C.T @ self.C)

    @cached_property
    def closed_loop(self) -> np.ndarray:
        """A_c = A - GP."""
        return self.A - self.gain @ self.P

    @cached_property
    def W(self) -> np.ndarray:
        """Solution of A_c W + W A_c' + G = 0; stable where inverting P is not."""
        W = solve_continuous_lyapunov(self.closed_loop, -self.gain)
        return 0.5 * (W + W.T)

    @property
    def rate(self) -> float:
        """mu, the exponential rate of both boundary layers."""
        return float(-np.max(np.linalg.eigvals(self.closed_loop).real))

    @property
    def hamiltonian(self) -> np.ndarray:
        """[A, -G; -C'C, -A'], whose spectrum is symmetric and off the axis."""
        return np.block([[self.A, -self.gain], [-self.C.T @ self.C, -self.A.T]])

    def path(self, x0: State, t1: float, *, save: int = 201) -> OptimalPath:
        """The exact optimal trajectory from `x0` over [0, t1] at `save` times.

        p - pbar = P dx + q with q(t) = e^{A_c'(T-t)} q_T; only decaying
        exponentials are formed, so long horizons and stiff A are safe.
        """
        n = len(self.A)
        x0 = finite("x0", x0, (n,))
        t1 = above_zero("t1", t1, "It is the horizon.")
        steps = count("save", save, 2) - 1
        times = np.linspace(0.0, t1, save)
        P, W, s = self.P, self.W, self.static
        small = expm(self.closed_loop * (t1 / steps))
        dx0 = x0 - s.state
        forward = _powers(small, dx0, steps)
        end = np.linalg.matrix_power(small, steps)
        q_end = np.linalg.solve(
            np.eye(n) - P @ (W - end @ W @ end.T), -s.adjoint - P @ forward[-1]
        )
        q = _powers(small.T, q_end, steps)[::-1]
        fed = _powers(small, W @ end.T @ q_end, steps)
        dx = forward - (q @ W.T - fed)
        adjoints = s.adjoint + dx @ P.T + q
        controls = -np.linalg.solve(self.R, self.B.T @ adjoints.T).T
        return OptimalPath(times, s.state + dx, controls, adjoints, s)

    def value(self, t1: float, x: State) -> float:
        """V(T, x), the optimal cost from `x` over the horizon T, in closed form.

        With E = e^{A_c T}, W_T = W - E W E' and S = (I - P W_T)^{-1} it is T V_s
        - 1/2 pbar' W_T S pbar + (pbar - E'S pbar).dx + 1/2 dx'(P - E' S P E) dx.
        """
        n = len(self.A)
        dx = finite("x", x, (n,)) - self.static.state
        t1 = above_zero("t1", t1, "It is the horizon.")
        pbar, P = self.static.adjoint, self.P
        E = expm(self.closed_loop * t1)
        W_T = self.W - E @ self.W @ E.T
        S = np.linalg.inv(np.eye(n) - P @ W_T)
        slope = pbar - E.T @ S @ pbar
        hessian = P - E.T @ S @ P @ E
        rest = -0.5 * pbar @ W_T @ S @ pbar + slope @ dx + 0.5 * dx @ hessian @ dx
        return float(t1 * self.static.cost + rest)

    def value_limit(self, x: State) -> float:
        """phi(x) + c, the limit of V(T, x) - T V_s as T grows."""
        n = len(self.A)
        dx = finite("x", x, (n,)) - self.static.state
        pbar = self.static.adjoint
        c = -0.5 * pbar @ np.linalg.solve(np.eye(n) - self.W @ self.P, self.W @ pbar)
        return float(0.5 * dx @ self.P @ dx + pbar @ dx + c)


def _powers(matrix: np.ndarray, vector: np.ndarray, steps: int) -> np.ndarray:
    """Rows matrix^k vector, k = 0..steps."""
    rows = np.empty((steps + 1, len(vector)))
    rows[0] = vector
    for k in range(steps):
        rows[k + 1] = matrix @ rows[k]
    return rows
