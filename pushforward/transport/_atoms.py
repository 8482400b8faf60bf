"""Measures as transport sees them: finite points, weights that sum to one.

Nothing reaches a solver unchecked: some return 0.0 on NaN and crash on nothing.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError

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
    With `mass_one=False` (unbalanced transport) the total mass is free.
    """
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


def positive(name: str, value: object, fix: str) -> float:
    """A finite positive number, or an error with the fix."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a number, got {value!r}; {fix}") from None
    if not (np.isfinite(number) and number > 0):
        raise InputError(f"{name} must be positive and finite, got {number}; {fix}")
    return number


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
