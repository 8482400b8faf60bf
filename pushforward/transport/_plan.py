"""The result of every transport problem: a coupling with its certificates."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array

from pushforward.errors import InputError
from pushforward.transport._atoms import Atoms


@dataclass(frozen=True, eq=False)
class Plan:
    """A coupling of two measures, what it costs, and how far it is from optimal.

    `cost` is sum_ij C_ij P_ij; `value` is the objective that was minimized (equal to
    `cost` for exact transport, with the entropy and marginal penalties otherwise).
    `gap` is `value` minus a lower bound on the minimum: a feasible dual value for
    convex problems, the linearized (Frank-Wolfe) gap for Gromov problems, None where
    no bound is known. `potentials` are Kantorovich potentials (f, g), f + g <= C.
    """

    matrix: Float[np.ndarray, "n m"] | csr_array = field(repr=False)
    source: Atoms = field(repr=False)
    target: Atoms = field(repr=False)
    cost: float
    value: float
    gap: float | None
    potentials: tuple[np.ndarray, np.ndarray] | None = field(repr=False, default=None)
    iterations: int = 0

    @property
    def marginal_errors(self) -> tuple[float, float]:
        """L1 distances of the two marginals from the two measures."""
        rows = np.asarray(self.matrix.sum(axis=1)).ravel()
        columns = np.asarray(self.matrix.sum(axis=0)).ravel()
        return (
            float(np.abs(rows - self.source.weights).sum()),
            float(np.abs(columns - self.target.weights).sum()),
        )

    @property
    def mass(self) -> float:
        """Total mass transported; one unless the problem is unbalanced."""
        return float(self.matrix.sum())

    @property
    def map(self) -> Float[np.ndarray, "n d"]:
        """Barycentric projection: E[Y | X = x_i] at each source point."""
        return self.apply(self.target.points)

    def apply(
        self, values: Float[np.ndarray, "m k"] | Callable[[np.ndarray], np.ndarray]
    ) -> Float[np.ndarray, "n k"]:
        """E[h(Y) | X = x_i], for h given by its values or as a function of points.

        Rows that carry no mass are NaN.
        """
        h = np.asarray(values(self.target.points) if callable(values) else values)
        if len(h) != self.target.n:
            raise InputError(
                f"values must have one row per target atom ({self.target.n}), got "
                f"shape {h.shape}."
            )
        mass = np.asarray(self.matrix.sum(axis=1)).ravel()
        carried = self.matrix @ h
        mass = mass.reshape((-1,) + (1,) * (carried.ndim - 1))
        return np.divide(
            carried, mass, out=np.full(carried.shape, np.nan), where=mass > 0
        )

    def dense(self) -> Float[np.ndarray, "n m"]:
        """The coupling as a plain array."""
        if isinstance(self.matrix, np.ndarray):
            return self.matrix
        return np.asarray(self.matrix.toarray())


def certified_dual(
    cost: Float[np.ndarray, "n m"],
    f: Float[np.ndarray, "n"],
    a: Float[np.ndarray, "n"],
    b: Float[np.ndarray, "m"],
) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
    """A feasible dual point from any f, by two c-transforms, and its value.

    g_j = min_i C_ij - f_i over the atoms that carry mass, then f_i = min_j C_ij - g_j:
    f + g <= C holds by construction, so the value is a lower bound whatever f was.
    """
    g = np.min(cost[a > 0] - f[a > 0][:, None], axis=0)
    f = np.min(cost[:, b > 0] - g[b > 0], axis=1)
    return float(a @ f + b @ g), (f, g)
