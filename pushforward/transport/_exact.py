"""Exact optimal transport between discrete measures, by the network simplex of POT."""

import warnings

import numpy as np

from pushforward.errors import NumericalError
from pushforward.transport._atoms import affordable, as_atoms, same_dimension
from pushforward.transport._costs import Cost, DistancePower, SquaredDistance
from pushforward.transport._extras import pot
from pushforward.transport._plan import Plan, certified_dual


def optimal_plan(
    mu: object,
    nu: object,
    *,
    cost: Cost = SquaredDistance(),
    pivots: int = 10_000_000,
) -> Plan:
    """The cheapest coupling of mu and nu, with Kantorovich potentials.

        min over couplings P of  sum_ij c(x_i, y_j) P_ij.

    mu and nu are (n, d) arrays, (points, weights) pairs, or measures. `gap` is the
    cost minus a feasible dual value, zero to rounding.

    >>> import numpy as np
    >>> plan = optimal_plan(np.array([[0.0], [1.0]]), np.array([[3.0], [2.0]]))
    >>> plan.cost, plan.map.ravel().tolist()
    (4.0, [2.0, 3.0])

    [chewi2024statistical]
    """
    a, b = as_atoms("mu", mu), as_atoms("nu", nu)
    same_dimension(a, b)
    affordable(a.n, b.n)
    table = np.ascontiguousarray(cost(a.points, b.points))
    scale = float(np.abs(table).max()) or 1.0  # the solver's tolerances are absolute
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix, log = pot().emd(
            a.weights, b.weights, table / scale, numItermax=pivots, log=True
        )
    dual, potentials = certified_dual(
        table, scale * np.asarray(log["u"]), a.weights, b.weights
    )
    total = float(np.sum(matrix * table))
    plan = Plan(matrix, a, b, total, total, total - dual, potentials)
    # a stopped simplex may return a matrix that is no coupling, at too low a cost
    off = max(plan.marginal_errors)
    if not (abs(total - dual) <= 1e-6 * scale and off <= 1e-8):
        raise NumericalError(
            f"the network simplex stopped {total - dual:.2g} from the dual bound with "
            f"marginals off by {off:.2g}. Raise pivots, now {pivots}.",
            partial=plan,
        )
    return plan


def wasserstein_distance(mu: object, nu: object, *, p: float = 2.0) -> float:
    """W_p = (min over couplings of E|X - Y|^p)^(1/p), p >= 1, exactly."""
    cost: Cost = SquaredDistance() if p == 2 else DistancePower(p)
    return float(max(optimal_plan(mu, nu, cost=cost).cost, 0.0) ** (1 / p))
