"""Measures as transport sees them: finite points, weights that sum to one.

Nothing reaches a solver unchecked: some return 0.0 on NaN and crash on nothing.

The result of every transport problem: a coupling with its certificates.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array

from pushforward.errors import InputError
from pushforward.measures import Density, Gaussian

FARTHEST = 1e75  # fourth powers of distances must stay below the largest float
LARGEST_TABLE = 400_000_000  # entries of a cost matrix: 3.2 GB


@dataclass(frozen=True, eq=False)
class Atoms:
    """Checked points and weights of a discrete measure."""

    points: Float[np.ndarray, "n d"]
    weights: Float[np.ndarray, "n"]

    def __post_init__(self) -> None:
        for name in ("points", "weights"):
            if not np.isfinite(as_floats(name, getattr(self, name))).all():
                raise InputError(f"`{name}` of Atoms must be finite; drop bad rows.")

    @property
    def n(self) -> int:
        """Number of atoms."""
        return len(self.weights)


def as_atoms(name: str, mu: object, *, mass_one: bool = True) -> Atoms:
    """Points and weights of an (n, d) array, a (points, weights) pair or a measure.

    A measure is any object with `.points` and `.weights`. Equal weights unless given.
    A density stands for its quadrature; a Gaussian has no atoms and is refused.
    With `mass_one=False` (unbalanced transport) the total mass is free.
    """
    if isinstance(mu, Gaussian):
        raise InputError(
            f"{name} must be made of atoms, got a Gaussian. Pass mu.sample(key, n) or "
            "mu.quadrature(), or use semidiscrete_plan or gaussian_distance."
        )
    if isinstance(mu, Density):
        mu = mu.quadrature()
    if hasattr(mu, "points") and hasattr(mu, "weights"):
        points, weights = mu.points, mu.weights
    elif isinstance(mu, tuple) and len(mu) == 2:
        points, weights = mu
    else:
        points, weights = mu, None
    x = as_floats(f"points of {name}", points)
    if x.ndim == 1 and x.size:
        raise InputError(
            f"points of {name} must have shape (n, d), got {x.shape}; for n numbers on "
            f"a line pass x[:, None]."
        )
    if x.ndim != 2 or x.size == 0:
        raise InputError(
            f"points of {name} must have shape (n, d) with n, d >= 1, got {x.shape}."
        )
    bad = ~np.isfinite(x).all(axis=1)
    if bad.any():
        raise InputError(
            f"points of {name} have NaN or infinity in {bad.sum()} of {len(x)} rows, "
            f"first in row {int(np.argmax(bad))}; drop them."
        )
    if np.abs(x).max() > FARTHEST:
        raise InputError(
            f"points of {name} reach {np.abs(x).max():.2g}: their powers overflow; "
            f"rescale both measures."
        )
    return Atoms(x, _as_weights(f"weights of {name}", weights, len(x), mass_one))


def on_the_line(name: str, mu: object) -> Atoms:
    """As `as_atoms`, in dimension one, where a plain vector is accepted too."""
    if not hasattr(mu, "points"):
        points, weights = mu if isinstance(mu, tuple) and len(mu) == 2 else (mu, None)
        x = as_floats(f"points of {name}", points)
        column = x[:, None] if x.ndim == 1 else x
        mu = column if weights is None else (column, weights)
    atoms = as_atoms(name, mu)
    if atoms.points.shape[1] != 1:
        raise InputError(
            f"{name} must be one-dimensional, got points of shape "
            f"{atoms.points.shape}; use optimal_plan or sliced_distance."
        )
    return atoms


def same_dimension(mu: Atoms, nu: Atoms) -> None:
    """Refuse two measures that do not live in the same space."""
    if mu.points.shape[1] != nu.points.shape[1]:
        raise InputError(
            f"mu and nu must have points of one dimension, got shapes "
            f"{mu.points.shape} and {nu.points.shape}, convention (n, d)."
        )


def affordable(n: int, m: int) -> None:
    """Refuse a dense problem that would not fit in memory."""
    if n * m > LARGEST_TABLE:
        raise InputError(
            f"{n} x {m} pairs need {n * m * 8 / 1e9:.0f} GB for the cost alone; use "
            f"sliced_distance, gaussian_distance, or a subsample."
        )


def simplex_weights(name: str, weights: object | None, n: int) -> np.ndarray:
    """n weights that sum to one, equal unless given."""
    return _as_weights(name, weights, n, True)


def as_floats(name: str, values: object) -> np.ndarray:
    """An array of numbers, or an error with its name."""
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must be an array of numbers: {error}.") from None


def _as_weights(
    name: str, weights: object | None, n: int, mass_one: bool
) -> Float[np.ndarray, "n"]:
    if weights is None:
        return np.full(n, 1 / n)
    w = as_floats(name, weights)
    if w.shape != (n,):
        raise InputError(f"{name} must have shape ({n},), got {w.shape}.")
    if not np.isfinite(w).all() or (w < 0).any():
        raise InputError(f"{name} must be finite and non-negative.")
    total = float(w.sum())
    if total <= 0:
        raise InputError(f"{name} must not all be zero.")
    if mass_one and abs(total - 1) > 1e-6:
        raise InputError(
            f"{name} must sum to one, got {total:.6g}; pass w / w.sum(), or use "
            f"unbalanced_plan if the mass matters."
        )
    return w / total if mass_one else w


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
        self, values: Float[np.ndarray, "m *k"] | Callable[[np.ndarray], np.ndarray]
    ) -> Float[np.ndarray, "n *k"]:
        """E[h(Y) | X = x_i], for h given by its values or as a function of points.

        Rows that carry no mass are NaN.
        """
        h = values_at(values, self.target)
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


def values_at(
    values: np.ndarray | Callable[[np.ndarray], np.ndarray], atoms: Atoms
) -> Float[np.ndarray, "m *k"]:
    """One row for each atom, from an array or a function of the points."""
    h = np.asarray(values(atoms.points) if callable(values) else values)
    if h.ndim == 0 or len(h) != atoms.n:
        raise InputError(
            f"values must have one row per target atom ({atoms.n}), got shape "
            f"{h.shape}."
        )
    return h


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
