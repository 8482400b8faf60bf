"""Entropic and unbalanced transport, with the primal and the dual value."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pushforward._checks import as_float_array
from pushforward.errors import InputError, NumericalError
from pushforward.transport._atoms import (
    Atoms,
    affordable,
    as_atoms,
    positive,
    same_dimension,
)
from pushforward.transport._costs import Cost, SquaredDistance
from pushforward.transport._plan import Plan
from pushforward.transport._sinkhorn import solve_potentials


def entropic_plan(
    mu: object,
    nu: object,
    eps: float,
    *,
    cost: Cost = SquaredDistance(),
    tol: float = 1e-10,
    iterations: int = 20_000,
) -> Plan:
    """The coupling of least cost plus entropy, by log-domain Sinkhorn.

        min over couplings P of  <C, P> + eps KL(P | mu x nu).

    The penalty is relative to the product measure (other libraries penalize the
    entropy of P itself: the plan is the same, the value differs by a constant).
    The returned coupling is rounded to exact marginals, so `gap` is an honest bound.
    Stops when potentials change by less than `tol` eps; small eps converge slowly, and
    the gap tells how far a plan that ran out of iterations is.

    [chewi2024statistical] [altschuler2017nearlinear]
    """
    a, b, table, eps = _checked(mu, nu, eps, cost, mass_one=True)
    f, g, count = _potentials(a, b, table, eps, np.inf, tol, iterations)
    raw = a.weights[:, None] * b.weights * np.exp((f[:, None] + g - table) / eps)
    matrix = rounded(raw, a.weights, b.weights)
    total = float(np.sum(matrix * table))
    value = total + eps * _kl(matrix, np.outer(a.weights, b.weights))
    dual = float(a.weights @ f + b.weights @ g - eps * (raw.sum() - 1))
    return _settled(Plan(matrix, a, b, total, value, value - dual, (f, g), count), eps)


def unbalanced_plan(
    mu: object,
    nu: object,
    eps: float,
    rho: float,
    *,
    cost: Cost = SquaredDistance(),
    tol: float = 1e-11,
    iterations: int = 20_000,
) -> Plan:
    """Entropic transport that may create and destroy mass at a price rho.

        min over P >= 0 of  <C, P> + eps KL(P | mu x nu)
                            + rho KL(P 1 | mu) + rho KL(P^T 1 | nu).

    Weights need not sum to one. Mass moves about as far as sqrt(rho) for the squared
    distance. [chizat2018scaling]
    """
    a, b, table, eps = _checked(mu, nu, eps, cost, mass_one=False)
    rho = positive("rho", rho, "it is the price of a unit of mass; try max cost.")
    f, g, count = _potentials(a, b, table, eps, rho, tol, iterations)
    product = np.outer(a.weights, b.weights)
    matrix = product * np.exp((f[:, None] + g - table) / eps)
    total = float(np.sum(matrix * table))
    penalty = _kl(matrix.sum(axis=1), a.weights) + _kl(matrix.sum(axis=0), b.weights)
    value = total + eps * _kl(matrix, product) + rho * penalty
    dual = -eps * float(matrix.sum() - product.sum())
    for potential, w in ((f, a.weights), (g, b.weights)):
        dual -= rho * float(w @ np.expm1(-potential / rho))
    return _settled(Plan(matrix, a, b, total, value, value - dual, (f, g), count), eps)


def _numbers(name: str, value: object) -> np.ndarray:
    array = np.asarray(as_float_array(name, value))
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise InputError(f"{name} must be finite and not negative; it holds masses.")
    return array


def rounded(
    matrix: Float[np.ndarray, "n m"],
    a: Float[np.ndarray, "n"],
    b: Float[np.ndarray, "m"],
) -> Float[np.ndarray, "n m"]:
    """The nearest simple coupling with marginals exactly a and b.

    Rows, then columns, are scaled down to fit, and the missing mass is spread as a
    product. [altschuler2017nearlinear]
    """
    matrix, a, b = (
        _numbers(*pair) for pair in (("matrix", matrix), ("a", a), ("b", b))
    )
    if matrix.shape != (a.size, b.size) or a.ndim != 1 or b.ndim != 1:
        raise InputError(
            f"matrix must have shape (len(a), len(b)), got {matrix.shape} for a of "
            f"shape {a.shape} and b of shape {b.shape}."
        )
    rows = matrix.sum(axis=1)
    matrix = matrix * np.minimum(1, a / np.where(rows > 0, rows, 1))[:, None]
    columns = matrix.sum(axis=0)
    matrix = matrix * np.minimum(1, b / np.where(columns > 0, columns, 1))
    missing_a, missing_b = a - matrix.sum(axis=1), b - matrix.sum(axis=0)
    total = missing_a.sum()
    if total <= 0:
        return matrix
    return np.maximum(matrix + np.outer(missing_a, missing_b) / total, 0)


def _checked(
    mu: object, nu: object, eps: float, cost: Cost, *, mass_one: bool
) -> tuple[Atoms, Atoms, np.ndarray, float]:
    a = as_atoms("mu", mu, mass_one=mass_one)
    b = as_atoms("nu", nu, mass_one=mass_one)
    same_dimension(a, b)
    affordable(a.n, b.n)
    eps = positive("eps", eps, "it has the units of the cost; use optimal_plan for 0.")
    return a, b, cost(a.points, b.points), eps


def _potentials(
    a: Atoms,
    b: Atoms,
    table: np.ndarray,
    eps: float,
    rho: float,
    tol: float,
    iterations: int,
) -> tuple[np.ndarray, np.ndarray, int]:
    with np.errstate(divide="ignore"):
        logs = jnp.asarray(np.log(a.weights)), jnp.asarray(np.log(b.weights))
    numbers = (jnp.asarray(float(v)) for v in (eps, rho, tol, iterations))
    f, g, count, _ = solve_potentials(jnp.asarray(table), *logs, *numbers)
    return np.asarray(f), np.asarray(g), int(count)


def _settled(plan: Plan, eps: float) -> Plan:
    """The plan, unless its own certificate says that the iteration is far from done."""
    allowed = 1e-2 * eps + 1e-9 * abs(plan.value)
    if plan.gap is None or not abs(plan.gap) <= allowed:
        raise NumericalError(
            f"Sinkhorn left a gap of {plan.gap:.1e} in {plan.iterations} iterations; "
            f"raise iterations (or eps, now {eps:.3g}).",
            partial=plan,
        )
    return plan


def _kl(p: np.ndarray, q: np.ndarray) -> float:
    """sum p log(p / q) - p + q, with 0 log 0 = 0."""
    safe = np.where(p > 0, p / np.where(q > 0, q, 1), 1.0)
    return float(np.sum(p * np.log(safe) - p + q))
