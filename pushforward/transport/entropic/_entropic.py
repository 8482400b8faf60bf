"""Entropic and unbalanced transport: plan, potentials, values and certificate."""

import time
from collections.abc import Callable
from functools import partial
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
    MEMORY,
    Problem,
    State,
    advance,
    one_step,
    started,
    unfinished,
)
from pushforward.transport.entropic._tables import pairing_of

SAFETY = 0.5  # of the marginal error at which the gap should be as asked
SPOKEN = 1.0  # seconds between two words of progress
MANY = 2**22  # pairs: from here on first steps in single precision pay
DIGITS = 2.0**29  # that double has beyond single precision
BLURRED = 1e-2  # a marginal error so large is not worth the steps

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
    return Problem(pairing, *(jnp.asarray(value, float) for value in numbers))


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
    eps, exact = float(problem.eps), bool(np.isinf(float(problem.rho)))
    certify = _certificate.balanced if exact else _certificate.unbalanced
    floor, spread = map(float, _scales(problem))
    single, blurred = dtype == np.float32, floor * DIGITS
    if single or (_many(problem) and blurred < BLURRED):
        quick, known = _cast((problem, warm), np.float32)
        goals = (max(tol, blurred), max(tol, blurred / 8))
        state = _in_single(quick, started(quick, known), goals, most, progress)
        there = bool(state.eps <= quick.eps)
        state = _cast(state, problem.a.dtype)
        state = state._replace(eps=problem.eps if there else state.eps)
    else:
        state = started(problem, warm)
    # half of the error is mass that is spread as a product, at that cost
    aim = tol * min(1.0, eps / max(spread, eps)) if exact else tol
    while True:
        if not single:
            state = _advanced(problem, state, max(aim, floor), most, progress)
        if single or not np.isfinite(float(state.error)):
            state = one_step(problem, state)
        found = certify(problem, *state.last())
        gap = float(found.value - found.dual)
        if gap <= tol * eps or int(state.steps) >= most or single or aim <= floor:
            break
        aim = float(state.error) * min(1.0, max(tol * eps / gap, 1e-3)) * SAFETY
    f, g, _ = (np.asarray(h) for h in state.last())
    count = int(state.steps)
    return _settled(EntropicPlan(*atoms, (f, g), count, problem, found), eps)


@jax.jit
def _scales(problem: Problem) -> tuple[Array, Array]:
    """The error that rounding leaves, and what the product of the measures costs."""
    cost = problem.pairing.product_cost(problem.a, problem.b)
    return problem.floor(), cost


def _many(problem: Problem) -> bool:
    """Whether there are so many pairs that half of the digits first save time."""
    (n,), (m,) = problem.a.shape, problem.b.shape
    return n * m > MANY and not problem.pairing.near_linear


def _in_single(
    problem: Problem,
    state: State,
    goals: tuple[float, float],
    most: int,
    progress: Progress,
) -> State:
    """As far as float32 goes for sure, and then a few steps further if these help."""
    state = _advanced(problem, state, goals[0], most, progress)
    last = min(most, int(state.steps) + MEMORY)
    return _advanced(problem, state, goals[1], last, progress)


def _advanced(
    problem: Problem, state: State, tol: float, most: int, progress: Progress
) -> State:
    """Many steps at a time, as many as take about a second: it can be interrupted."""
    goal = jnp.asarray(tol, problem.a.dtype)
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


@partial(jax.jit, static_argnums=1)
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
