"""Unbalanced Gromov-Wasserstein on a list of admissible pairs only."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from pushforward._checks import above_zero, whole
from pushforward.errors import NumericalError

# An s x s table of distortions is kept while it fits in half a gigabyte.
STORED_PAIRS = 8_000


@dataclass(frozen=True)
class Pairs:
    """Admissible pairs (rows[s], cols[s]), sorted by row then column."""

    rows: Int[np.ndarray, "s"]
    cols: Int[np.ndarray, "s"]
    shape: tuple[int, int]

    @property
    def count(self) -> int:
        """Number of pairs."""
        return len(self.rows)


class Segments:
    """Groups of equal labels in a list; reductions return one value per group."""

    def __init__(self, labels: Int[np.ndarray, "s"]):
        self.order = np.argsort(labels, kind="stable")
        ordered = labels[self.order]
        new = np.ones(len(labels), dtype=bool)
        new[1:] = ordered[1:] != ordered[:-1]
        self.starts = np.flatnonzero(new)
        self.count = len(self.starts)
        self.ordered_group = np.cumsum(new) - 1
        self.group = np.empty(len(labels), dtype=np.intp)
        self.group[self.order] = self.ordered_group

    def sums(self, values: Float[np.ndarray, "s"]) -> Float[np.ndarray, "k"]:
        """Sum of each group."""
        return np.add.reduceat(values[self.order], self.starts)

    def maxima(self, values: Float[np.ndarray, "s"]) -> Float[np.ndarray, "k"]:
        """Maximum of each group."""
        return np.maximum.reduceat(values[self.order], self.starts)

    def logsumexp(self, values: Float[np.ndarray, "s"]) -> Float[np.ndarray, "k"]:
        """log sum exp of each group, shifted by the group's maximum."""
        v = values[self.order]
        top = np.maximum.reduceat(v, self.starts)
        shifted = np.exp(v - top[self.ordered_group])
        return top + np.log(np.add.reduceat(shifted, self.starts))

    def spread(self, values: Float[np.ndarray, "k"]) -> Float[np.ndarray, "s"]:
        """Each member's group value."""
        return values[self.group]


@dataclass(frozen=True)
class Coupling:
    """Masses on the admissible pairs, and how the solver ended.

    `change` is the last max |dPi|; `converged` says whether it fell below `tol`.
    """

    pairs: Pairs
    values: Float[np.ndarray, "s"]
    rounds: int
    change: float
    converged: bool

    @property
    def mass(self) -> float:
        """Total transported mass, at most about one."""
        return float(self.values.sum())

    def dense(self) -> Float[np.ndarray, "p q"]:
        """The coupling as a full matrix."""
        plan = np.zeros(self.pairs.shape)
        plan[self.pairs.rows, self.pairs.cols] = self.values
        return plan


@dataclass(frozen=True)
class SparseGromov:
    """Entropic unbalanced Gromov-Wasserstein, restricted to admissible pairs.

        sum (D^A_ik - D^B_jl)^2 Pi_ij Pi_kl + rho KL(Pi_1 x Pi_1 | a x a)
          + rho KL(Pi_2 x Pi_2 | b x b) + eps KL(Pi x Pi | (a x b)^2)

    with a = 1/p, b = 1/q, by alternating unbalanced Sinkhorn solves in the log domain.
    The gate is exact: pairs outside carry no variable at all. [sejourne2021ugw,
    breeur2024gromovmatcher]
    """

    rho: float = 0.05
    eps: float = 0.005
    tol: float = 1e-9
    max_rounds: int = 100

    def __post_init__(self) -> None:
        for name in ("rho", "eps", "tol"):
            above_zero(
                name,
                getattr(self, name),
                "The published values are rho=0.05, eps=0.005; tol=1e-9 stops after 5 "
                "to 8 rounds.",
            )
        whole("max_rounds", self.max_rounds, 1)

    def couple(self, D_A: np.ndarray, D_B: np.ndarray, pairs: Pairs) -> Coupling:
        """The coupling of two distance matrices (p, p) and (q, q) on `pairs`."""
        p, q = pairs.shape
        cost_of = distortion(D_A, D_B, pairs)
        solve = _Sinkhorn(self, pairs)
        # the first cost is that of the full product plan, whose logarithms vanish
        first = np.square(D_A).mean(1)[pairs.rows] + np.square(D_B).mean(1)[pairs.cols]
        first -= 2.0 * D_A.mean(1)[pairs.rows] * D_B.mean(1)[pairs.cols]
        plan, change, rounds = solve(first, 1.0), np.inf, 0
        for rounds in range(1, self.max_rounds + 1):
            before = plan
            for _ in range(2 if rounds > 1 else 1):
                cost = cost_of(plan) + solve.scalars(plan)
                plan = solve(cost, float(plan.sum()))
            change = float(np.abs(plan - before).max())
            if not np.isfinite(change):
                raise NumericalError(
                    f"The coupling is not finite after round {rounds} with eps = "
                    f"{self.eps}. Increase `eps`.",
                    before,
                )
            if change < self.tol:
                break
        return Coupling(pairs, plan, rounds, change, change < self.tol)


class _Sinkhorn:
    """Unbalanced entropic transport on the pair list, warm-started between solves."""

    def __init__(self, settings: SparseGromov, pairs: Pairs):
        self.settings = settings
        self.by_row, self.by_col = Segments(pairs.rows), Segments(pairs.cols)
        self.log_a, self.log_b = (-np.log(size) for size in pairs.shape)
        self.y = np.zeros(self.by_col.count)

    def __call__(self, cost: np.ndarray, mass: float) -> np.ndarray:
        """Solve with marginal penalty rho m and entropy eps m; rescale to sqrt mass."""
        tau = self.settings.rho / (self.settings.rho + self.settings.eps)
        K = cost / (self.settings.eps * mass)  # potentials below are in units eps m
        for _ in range(2_000):
            spread_y = self.by_col.spread(self.y)
            x = -tau * self.by_row.logsumexp(self.log_b + spread_y - K)
            spread_x = self.by_row.spread(x)
            y = -tau * self.by_col.logsumexp(self.log_a + spread_x - K)
            change = np.abs(y - self.y).max()
            self.y = y
            if change < 1e-10:
                break
        plan = np.exp(self.log_a + self.log_b + spread_x + self.by_col.spread(y) - K)
        return plan * np.sqrt(mass / plan.sum())

    def scalars(self, plan: np.ndarray) -> float:
        """rho <Pi_1, log Pi_1/a> + rho <Pi_2, log Pi_2/b> + eps <Pi, log Pi/ab>."""
        row, col = self.by_row.sums(plan), self.by_col.sums(plan)
        rho, eps = self.settings.rho, self.settings.eps
        marginals = _entropy(row, self.log_a) + _entropy(col, self.log_b)
        return rho * marginals + eps * _entropy(plan, self.log_a + self.log_b)


def _entropy(m: np.ndarray, log_reference: float) -> float:
    m = m[m > 0]
    return float(np.sum(m * (np.log(m) - log_reference)))


def distortion(
    D_A: np.ndarray, D_B: np.ndarray, pairs: Pairs
) -> Callable[[np.ndarray], np.ndarray]:
    """The linear map Pi -> sum_ij (D^A_ki - D^B_lj)^2 Pi_ij on the pairs (k, l)."""
    k, l = pairs.rows, pairs.cols
    if pairs.count <= STORED_PAIRS:
        table = D_A[np.ix_(k, k)]
        table -= D_B[np.ix_(l, l)]
        np.square(table, out=table)
        return lambda plan: table @ plan

    def streamed(plan: np.ndarray) -> np.ndarray:
        sparse = csr_array((plan, (k, l)), shape=pairs.shape)
        mu, nu = sparse.sum(1), sparse.sum(0)
        M = np.ascontiguousarray((sparse.T @ D_A).T)  # D_A Pi, since D_A is symmetric
        cost = np.empty(pairs.count)
        for start in range(0, pairs.count, 1024):  # bounds the gathered rows
            block = slice(start, start + 1024)
            a, b = D_A[k[block]], D_B[l[block]]
            own = np.square(a) @ mu + np.square(b) @ nu
            cost[block] = own - 2.0 * np.einsum("sj,sj->s", M[k[block]], b)
        return cost

    return streamed
