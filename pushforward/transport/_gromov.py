"""Gromov-Wasserstein: couplings of spaces that share no coordinates.

    GW = min over couplings P of  sum_{ijkl} (A_ik - B_jl)^2 P_ij P_kl,

A and B the tables of distances (or similarities) inside each space. Not convex:
the answer is a stationary point, and `gap` is its linearized optimality gap.
"""

import warnings

import numpy as np
from jaxtyping import Float

from pushforward._checks import above_zero, whole
from pushforward.errors import InputError
from pushforward.transport._atoms import Atoms, simplex_weights
from pushforward.transport._costs import CostTable
from pushforward.transport._exact import optimal_plan
from pushforward.transport._extras import pot
from pushforward.transport._plan import Plan


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
