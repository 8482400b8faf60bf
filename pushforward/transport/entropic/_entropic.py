"""Entropic and unbalanced transport: plan, potentials, values and certificate."""

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from pushforward._checks import above_zero, whole
from pushforward.errors import NumericalError
from pushforward.measures import AbstractMeasure
from pushforward.transport._atoms import Atoms, as_atoms, same_dimension
from pushforward.transport._costs import Cost, SquaredDistance
from pushforward.transport.entropic import _certificate
from pushforward.transport.entropic._entropic_plan import EntropicPlan, as_potentials
from pushforward.transport.entropic._sinkhorn import (
    Problem,
    State,
    advance,
    finished,
    started,
    unfinished,
)
from pushforward.transport.entropic._tables import pairing_of

TIGHTER = 0.1  # the marginals' tolerance, when the gap is not yet as asked
SPOKEN = 1.0  # seconds between two words of progress

Progress = Callable[[int, float], object]


def entropic_plan(
    mu: object,
    nu: object,
    eps: float,
    *,
    cost: Cost = SquaredDistance(),
    tol: float = 1e-10,
    iterations: int = 20_000,
    start: object = None,
    progress: Progress = lambda count, error: None,
) -> EntropicPlan:
    """The coupling of least cost plus entropy, by Sinkhorn's iterations.

        min over couplings P of  <C, P> + eps KL(P | mu x nu).

    The penalty is relative to the product measure (other libraries penalize the
    entropy of P itself: the plan is the same, the value differs by a constant).
    Squared distances and inner products are summed like attention, with memory linear
    in the number of points; other costs make a table. The coupling has exact marginals
    and its `gap` is proved; the iteration stops when that is below `tol` eps. Small eps
    converge slowly, and the gap tells how far a plan that ran out of iterations is.

    Measures in float32 (`mu.astype("float32")`) are iterated in float32, which is many
    times faster on a GPU; the certificate is that of float64 all the same.

    `start` is a plan, or potentials, of a problem nearby. `progress(iterations, error
    of the marginals)` is called about once a second.

    >>> import numpy as np
    >>> x = np.array([[0.0], [1.0]])
    >>> plan = entropic_plan(x, x + 3.0, 0.5)
    >>> bool(plan.gap < 1e-10), round(float(plan.gradient().sum()), 6)
    (True, -6.0)

    [chewi2024statistical] [altschuler2017nearlinear] [walker2011anderson]
    """
    a, b, eps = _checked(mu, nu, eps, mass_one=True)
    problem = _problem(a, b, eps, np.inf, cost)
    warm = as_potentials(start, a.n, b.n)
    limits, dtype = (tol, iterations), _precision(mu, nu)
    return solved(problem, (a, b), warm, limits, progress, dtype)


def unbalanced_plan(
    mu: object,
    nu: object,
    eps: float,
    rho: float,
    *,
    cost: Cost = SquaredDistance(),
    tol: float = 1e-11,
    iterations: int = 20_000,
    start: object = None,
    progress: Progress = lambda count, error: None,
) -> EntropicPlan:
    """Entropic transport that may create and destroy mass at a price rho.

        min over P >= 0 of  <C, P> + eps KL(P | mu x nu)
                            + rho KL(P 1 | mu) + rho KL(P^T 1 | nu).

    Weights need not sum to one. Mass moves about as far as sqrt(rho) for the squared
    distance. All else is as in `entropic_plan`. [chizat2018scaling]
    """
    a, b, eps = _checked(mu, nu, eps, mass_one=False)
    rho = above_zero("rho", rho, "It is the price of a unit of mass; try max cost.")
    problem = _problem(a, b, eps, rho, cost)
    warm = as_potentials(start, a.n, b.n)
    limits, dtype = (tol, iterations), _precision(mu, nu)
    return solved(problem, (a, b), warm, limits, progress, dtype)


def _problem(a: Atoms, b: Atoms, eps: float, rho: float, cost: Cost) -> Problem:
    pairing = pairing_of(cost, a.points, b.points)
    numbers = (a.weights, b.weights, float(eps), float(rho))
    return Problem(pairing, *(jnp.asarray(value) for value in numbers))


def solved(
    problem: Problem,
    atoms: tuple[Atoms, Atoms],
    warm: tuple[Array, Array] | None,
    limits: tuple[float, int],
    progress: Progress,
    dtype: object = np.float64,
) -> EntropicPlan:
    """Iterate until the certificate is as asked, and hand the plan over.

    Steps are made in `dtype`; what is proved is proved in the precision of the problem.
    """
    tol = above_zero("tol", limits[0], "It bounds the gap, in units of eps.")
    most = whole("iterations", limits[1], 1)
    quick, known = _cast((problem, warm), dtype)
    state, own = started(quick, known), problem.a.dtype
    eps, floor = float(problem.eps), float(quick.floor())
    certify = _certificate.unbalanced
    if np.isinf(float(problem.rho)):
        certify = _certificate.balanced
    aim = tol
    while True:
        state = _advanced(quick, state, aim, most, progress)
        last = finished(problem, _cast(state, own))
        found = certify(problem, last.f, last.g)
        enough = float(found.value - found.dual) <= tol * eps
        if enough or int(state.steps) >= most or aim <= floor:
            break
        aim *= TIGHTER
    potentials = (np.asarray(last.f), np.asarray(last.g))
    count = int(state.steps)
    return _settled(EntropicPlan(*atoms, potentials, count, problem, found), eps)


def _advanced(
    problem: Problem, state: State, tol: float, most: int, progress: Progress
) -> State:
    """Many steps at a time, as many as take about a second: it can be interrupted."""
    goal = jnp.asarray(max(tol, float(problem.floor())), problem.a.dtype)
    stride = 1
    while bool(unfinished(state, goal, jnp.asarray(most))):
        clock = time.monotonic()
        stop = min(most, int(state.steps) + stride)
        state = advance(problem, state, goal, jnp.asarray(stop))
        state.error.block_until_ready()
        taken = time.monotonic() - clock
        progress(int(state.steps), float(state.error))
        stride = max(1, min(2 * stride, round(stride * SPOKEN / max(taken, 1e-6))))
    return state


def _cast(tree: Any, dtype: Any) -> Any:
    """Floats in another precision; counts stay."""
    floating = lambda z: jnp.issubdtype(z.dtype, jnp.floating)  # noqa: E731
    move = lambda z: z.astype(dtype) if floating(z) else z  # noqa: E731
    return jax.tree_util.tree_map(move, tree)


def _precision(mu: object, nu: object) -> object:
    """Single where both measures were asked to be, by `astype`."""
    single = [
        isinstance(z, AbstractMeasure) and z.points.dtype == jnp.float32
        for z in (mu, nu)
    ]
    return np.float32 if all(single) else np.float64


def _checked(
    mu: object, nu: object, eps: float, *, mass_one: bool
) -> tuple[Atoms, Atoms, float]:
    a = as_atoms("mu", mu, mass_one=mass_one)
    b = as_atoms("nu", nu, mass_one=mass_one)
    same_dimension(a, b)
    eps = above_zero(
        "eps", eps, "It has the units of the cost; use optimal_plan for 0."
    )
    return a, b, eps


def _settled(plan: EntropicPlan, eps: float) -> EntropicPlan:
    """The plan, unless its own certificate says that the iteration is far from done."""
    allowed = 1e-2 * eps + 1e-9 * abs(plan.value)
    if not abs(plan.gap) <= allowed:
        raise NumericalError(
            f"Sinkhorn left a gap of {plan.gap:.1e} in {plan.iterations} iterations; "
            f"raise iterations (or eps, now {eps:.3g}).",
            partial=plan,
        )
    return plan
