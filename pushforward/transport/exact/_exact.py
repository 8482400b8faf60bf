"""Exact optimal transport between discrete measures, by the network simplex of POT.

Optional libraries, imported when first needed.
"""

import importlib
import warnings
from types import ModuleType

import numpy as np

from pushforward._checks import above_zero, whole
from pushforward.errors import InputError, NumericalError
from pushforward.transport._atoms import (
    LARGEST_TABLE,
    Atoms,
    Plan,
    affordable,
    as_atoms,
    certified_dual,
    same_dimension,
)
from pushforward.transport._costs import (
    Cost,
    CostTable,
    SquaredDistance,
    cost_of_spaces,
    is_cost,
)
from pushforward.transport.exact._multiscale import (
    Progress,
    by_tree,
    largest,
    sparse_plan,
)
from pushforward.transport.exact._simplex import available

ROUNDING = 1e-6  # of costs, of which a millionth is allowed
MANY_PAIRS = 4_000_000  # beyond, promising pairs are faster than all of them


def pot() -> ModuleType:
    """Python Optimal Transport (`ot`), or an error that says how to install it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns about backends we do not use
            return importlib.import_module("ot")
    except ImportError:
        raise InputError(
            "exact and Gromov transport need the POT library, which is not installed; "
            'run pip install "pushforward[transport]".'
        ) from None


def optimal_plan(
    mu: object,
    nu: object,
    *,
    cost: Cost = SquaredDistance(),
    pivots: int = 10_000_000,
    tol: float = 1e-9,
    progress: Progress = lambda count, gap: None,
) -> Plan:
    """The cheapest coupling of mu and nu, with Kantorovich potentials.

        min over couplings P of  sum_ij c(x_i, y_j) P_ij.

    mu and nu are (n, d) arrays, (points, weights) pairs, or measures. On a sphere the
    default cost is that of chords; SphereDistance() is that of arcs. `gap` is the cost
    minus a feasible dual value, zero to rounding.

    Where there is a C++ compiler, thousands of points and more are solved from coarse
    to fine, by rounds that look at promising pairs only (for squared distances and
    inner products in few dimensions these are found by trees, so that a hundred
    thousand points take minutes; other costs look through all pairs, and take long).
    `matrix` is then sparse, and rounds end when the gap is below `tol` times the cost;
    `progress(rounds, gap)` hears of each.

    >>> import numpy as np
    >>> plan = optimal_plan(np.array([[0.0], [1.0]]), np.array([[3.0], [2.0]]))
    >>> plan.cost, plan.map.ravel().tolist()
    (4.0, [2.0, 3.0])

    [chewi2024statistical]
    """
    a, b = as_atoms("mu", mu), as_atoms("nu", nu)
    same_dimension(a, b)
    is_cost("cost", cost)
    pivots = whole("pivots", pivots, 1)
    tol = above_zero("tol", tol, "It bounds the gap, relative to the cost.")
    many = MANY_PAIRS if by_tree(cost, a.points.shape[1]) else LARGEST_TABLE
    if a.n * b.n > many and not isinstance(cost, CostTable) and available():
        plan = sparse_plan(a, b, cost, pivots, tol, progress)
        scale = abs(plan.cost) + ROUNDING * largest(cost, a.points, b.points)
    else:
        affordable(a.n, b.n)
        table = np.ascontiguousarray(cost(a.points, b.points))
        scale = float(np.abs(table).max()) or 1.0
        plan = _dense_plan(a, b, table, scale, pivots)
    off = max(plan.marginal_errors)
    if not (abs(plan.gap or 0.0) <= 1e-6 * scale and off <= 1e-8):
        raise NumericalError(
            f"the network simplex stopped {plan.gap:.2g} from the dual bound with "
            f"marginals off by {off:.2g}. Raise pivots, now {pivots}.",
            partial=plan,
        )
    return plan


def _dense_plan(
    a: Atoms, b: Atoms, table: np.ndarray, scale: float, pivots: int
) -> Plan:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix, log = pot().emd(  # a stopped simplex may return no coupling
            a.weights, b.weights, table / scale, numItermax=pivots, log=True
        )
    dual, potentials = certified_dual(
        table, scale * np.asarray(log["u"]), a.weights, b.weights
    )
    total = float(np.sum(matrix * table))
    return Plan(matrix, a, b, total, total, total - dual, potentials)


def wasserstein_distance(
    mu: object, nu: object, *, p: float = 2.0, cost: Cost | None = None
) -> float:
    """W_p = (min over couplings of E dist(X, Y)^p)^(1/p), p >= 1, exactly.

    The distance is that of the space on which the measures live: arcs on a circle or a
    sphere, as `space.distance`; straight lines in R^d and between plain arrays. Another
    one comes as its p-th power, `cost`: SquaredDistance() measures chords of a sphere.

    >>> from pushforward import Circle, Particles
    >>> mu, nu = (Particles(Circle(), [x]) for x in ([1.0, 0.0], [0.0, 1.0]))
    >>> round(wasserstein_distance(mu, nu), 6)  # pi/2
    1.570796
    >>> round(wasserstein_distance(mu, nu, cost=SquaredDistance()), 6)
    1.414214
    """
    power = above_zero("p", p, "W_1 and W_2 have p = 1 and p = 2.")
    cost = cost_of_spaces(mu, nu, power) if cost is None else cost
    return float(max(optimal_plan(mu, nu, cost=cost).cost, 0.0) ** (1 / power))
