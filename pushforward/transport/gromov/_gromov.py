"""Gromov-Wasserstein: couplings of spaces that share no coordinates.

    GW = min over couplings P of  sum_{ijkl} (A_ik - B_jl)^2 P_ij P_kl,

A and B the tables of distances (or similarities) inside each space. Not convex:
the answer is a stationary point, and `gap` is its linearized optimality gap.

Gromov-Wasserstein that may leave mass unmatched.

With m the mass of P, p and q its marginals, and for a measure p against a

    K(p | a) = KL(p x p | a x a) = 2 m sum_i p_i log(p_i / a_i) - m^2 + 1,

the objective is  L(P) = sum (A_ik - B_jl)^2 P_ij P_kl + alpha <M, P>
+ rho K(p | a) + rho K(q | b) + eps K(P | a x b). Not convex: a stationary point.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pushforward._checks import above_zero, whole
from pushforward.errors import InputError, NumericalError
from pushforward.transport._atoms import Atoms, Plan, simplex_weights
from pushforward.transport._costs import CostTable
from pushforward.transport.exact._exact import optimal_plan, pot


def gromov_plan(
    A: Float[np.ndarray, "n n"],
    B: Float[np.ndarray, "m m"],
    *,
    a: Float[np.ndarray, "n"] | None = None,
    b: Float[np.ndarray, "m"] | None = None,
    start: Float[np.ndarray, "n m"] | None = None,
    iterations: int = 1_000,
    tol: float = 1e-9,
) -> Plan:
    """A Gromov-Wasserstein coupling, by conditional gradient from `start`.

    `start` is the product coupling unless given; the result depends on it. `cost` and
    `value` are the Gromov objective.
    """
    A, a = space("A", A, a)
    B, b = space("B", B, b)
    first = np.outer(a, b) if start is None else _coupling(start, a, b)
    iterations = whole("iterations", iterations, 1)
    tol = above_zero("tol", tol, "It is the change at which to stop.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix = pot().gromov.gromov_wasserstein(
            A, B, a, b, "square_loss", symmetric=True, G0=first,
            max_iter=iterations, tol_rel=tol, tol_abs=tol,
        )  # fmt: skip
    gradient = gromov_gradient(A, B, matrix)
    value = 0.5 * float(np.sum(gradient * matrix))
    best = optimal_plan(
        (np.zeros((len(a), 1)), a), (np.zeros((len(b), 1)), b), cost=CostTable(gradient)
    )
    gap = float(np.sum(gradient * matrix)) - best.cost
    source, target = Atoms(A, a), Atoms(B, b)
    return Plan(matrix, source, target, value, value, max(gap, 0.0))


def gromov_gradient(
    A: Float[np.ndarray, "n n"],
    B: Float[np.ndarray, "m m"],
    P: Float[np.ndarray, "n m"],
) -> Float[np.ndarray, "n m"]:
    """The gradient of the Gromov objective at P, for symmetric A and B.

    2 (A^2 p 1^T + 1 (B^2 q)^T - 2 A P B), p and q the marginals of P.
    """
    left = (A**2) @ P.sum(axis=1)
    right = (B**2) @ P.sum(axis=0)
    return 2 * (left[:, None] + right[None, :] - 2 * A @ P @ B)


def space(name: str, table: object, weights: object) -> tuple[np.ndarray, np.ndarray]:
    """A checked symmetric table and the weights of its points."""
    try:
        matrix = np.array(table, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must be a table of numbers: {error}.") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise InputError(f"{name} must be square and not empty, got {matrix.shape}.")
    if not np.isfinite(matrix).all():
        raise InputError(f"{name} has NaN or infinity.")
    if np.abs(matrix - matrix.T).max() > 1e-10 * max(np.abs(matrix).max(), 1e-300):
        raise InputError(f"{name} must be symmetric; use ({name} + {name}.T) / 2.")
    return matrix, simplex_weights(f"weights of {name}", weights, len(matrix))


def _coupling(start: object, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    try:
        p = np.asarray(start, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"start must be a table of numbers: {error}.") from None
    wrong = p.shape != (len(a), len(b)) or not np.isfinite(p).all() or (p < 0).any()
    if wrong or max(abs(p.sum(1) - a).max(), abs(p.sum(0) - b).max()) > 1e-6:
        raise InputError(
            f"start must be a coupling of shape {(len(a), len(b))} whose marginals are "
            f"the weights; leave it out for the product."
        )
    return p


SMALLEST = 1e-300  # a mass that underflowed is judged as this one


@dataclass(frozen=True, eq=False)
class UnbalancedGromov:
    """The objective L of two spaces; `linear` is alpha M."""

    A: Float[np.ndarray, "n n"]
    B: Float[np.ndarray, "m m"]
    a: Float[np.ndarray, "n"]
    b: Float[np.ndarray, "m"]
    linear: Float[np.ndarray, "n m"]
    rho: float
    eps: float

    def value(self, P: Float[np.ndarray, "n m"]) -> float:
        """L(P)."""
        pull = 0.5 * gromov_gradient(self.A, self.B, P) + self.linear
        total = float(np.sum(pull * P))
        for price, part, reference in self._penalties(P):
            mass = float(part.sum())
            relative = float(np.sum(part * _log_ratio(part, reference)))
            total += price * (2 * mass * relative - mass**2 + 1)
        return total

    def gradient(self, P: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n m"]:
        """The gradient of L; the penalty K has 2 sum p log(p/a) + 2 m log(p_i/a_i)."""
        slope = gromov_gradient(self.A, self.B, P) + self.linear
        for price, part, reference in self._penalties(P):
            logs = _log_ratio(part, reference)
            slope = slope + price * 2 * (np.sum(part * logs) + part.sum() * logs)
        return slope

    def gap(self, P: Float[np.ndarray, "n m"]) -> float:
        """The linearized gap <G, P> - min <G, Q>, over all Q of mass at most one.

        Zero exactly where P satisfies the first-order conditions: G >= 0, and G = 0
        where P > 0.
        """
        slope = self.gradient(P)
        room = max(1.0, float(P.sum()))
        return float(np.sum(slope * P)) + room * max(0.0, -float(slope.min()))

    def _penalties(self, P: np.ndarray) -> list[tuple[float, np.ndarray, np.ndarray]]:
        a, b = self.a[:, None], self.b[None, :]
        priced = [
            (self.rho, P.sum(axis=1, keepdims=True), a),
            (self.rho, P.sum(axis=0, keepdims=True), b),
            (self.eps, P, a * b),
        ]
        return [one for one in priced if one[0] > 0]


def fused_unbalanced_gromov_plan(
    A: Float[np.ndarray, "n n"],
    B: Float[np.ndarray, "m m"],
    *,
    rho: float,
    eps: float = 0.0,
    fused: Float[np.ndarray, "n m"] | None = None,
    alpha: float = 0.0,
    a: Float[np.ndarray, "n"] | None = None,
    b: Float[np.ndarray, "m"] | None = None,
    iterations: int = 100,
    tol: float = 1e-9,
) -> Plan:
    """Gromov-Wasserstein that may leave mass unmatched, with a linear term.

        min over P >= 0 of  Gromov(P) + alpha <M, P> + rho K(marginals) + eps K(P),

    K the Kullback-Leibler divergence of products, P x P against the weights. `fused`
    is M, a table of costs between the two spaces. No lower bound on the minimum is
    known; `gap` is the linearized gap over plans of mass at most one, zero exactly at
    stationary points, and `marginal_errors` are the mass left behind. With eps = 0
    the solver is slow and the gap tells how far it came.
    """
    A, a = space("A", A, a)
    B, b = space("B", B, b)
    rho = above_zero("rho", rho, "It is the price of a unit of mass.")
    if not (np.isfinite(eps) and eps >= 0 and np.isfinite(alpha) and alpha >= 0):
        raise InputError(f"eps and alpha must be >= 0, got {eps} and {alpha}.")
    linear = None
    if fused is not None:
        shape = np.zeros((len(a), 1)), np.zeros((len(b), 1))
        linear = CostTable(fused)(*shape)
    with warnings.catch_warnings(), _named_failure():
        warnings.simplefilter("ignore")
        first, second, log = pot().gromov.fused_unbalanced_gromov_wasserstein(
            A, B, a, b, reg_marginals=rho, epsilon=eps, divergence="kl", alpha=alpha,
            M=linear, unbalanced_solver="sinkhorn_log" if eps > 0 else "mm",
            max_iter=iterations, tol=tol, max_iter_ot=2_000, tol_ot=tol, log=True,
        )  # fmt: skip
    matrix = (np.asarray(first) + np.asarray(second)) / 2
    table = np.zeros(matrix.shape) if linear is None else alpha * linear
    problem = UnbalancedGromov(A, B, a, b, table, rho, eps)
    cost = 0.5 * float(np.sum(gromov_gradient(A, B, matrix) * matrix))
    value, gap, done = problem.value(matrix), problem.gap(matrix), len(log["error"])
    return Plan(matrix, Atoms(A, a), Atoms(B, b), cost, value, gap, iterations=done)


def _log_ratio(part: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """log(p / a), zero where the reference has no mass: the solver puts none there."""
    ratio = np.maximum(part, SMALLEST) / np.where(reference > 0, reference, 1.0)
    return np.where(reference > 0, np.log(ratio), 0.0)


@contextmanager
def _named_failure() -> Iterator[None]:
    """The solver's own complaint about NaN, as ours."""
    try:
        yield
    except ValueError as error:
        raise NumericalError(
            f"unbalanced Gromov broke down ({' '.join(str(error).split())}); raise eps "
            f"or divide both tables by their maximum."
        ) from error
