"""Newton's method on the optimality system of an atomic measure.

Critical points of the flow: clusters of particles, polished at their masses.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from pushforward.errors import InputError
from pushforward.functionals._functional import AbstractFunctional
from pushforward.functionals._reduced import AbstractReduced, Angles
from pushforward.functionals._terms import Terms
from pushforward.measures import Particles
from pushforward.spaces import Circle

STEPS = 50
ROUNDING = 1e-15  # residuals below are rounding, in units of the largest kernel value
OVER = 1e-10  # a step that meets a kink stops this far beyond it, in the next cell


def polish(
    problem: AbstractReduced, s: Float[np.ndarray, "k"], m: Float[np.ndarray, "k"]
) -> tuple[Float[np.ndarray, "k"], Float[np.ndarray, "k"]]:
    """Solve F'(s_i) = 0, F(s_i) = lambda, sum m_i = 1 for positions and masses.

    Newton steps, damped as Levenberg and Marquardt do while the residual does not fall:
    where F_mu is nearly flat the system is nearly singular. Atoms at the end of an
    interval that F pushes outward stay there; masses stay positive; steps stop at kinks
    of the potential.
    """
    kinks, damping = problem.kinks(), 0.0
    residual, system, free = _system(problem, s, m)
    for _ in range(STEPS):
        size = np.linalg.norm(residual)
        step = _damped(system, residual, damping)
        new_s, new_m = _stepped(problem, s, m, free, step, kinks)
        new = _system(problem, new_s, new_m)
        if np.linalg.norm(new[0]) < size:
            s, m, (residual, system, free) = new_s, new_m, new
            damping = damping / 100 if damping > 1e-12 else 0.0
        elif damping > 1.0 or size < ROUNDING:
            break
        else:
            damping = max(10 * damping, 1e-9)
    return s, m


def settle(
    problem: AbstractReduced, s: Float[np.ndarray, "k"], m: Float[np.ndarray, "k"]
) -> Float[np.ndarray, "k"]:
    """Solve F'(s_i) = 0 for the positions alone, at frozen masses."""
    kinks = problem.kinks()
    for _ in range(STEPS):
        _, F1, F2 = problem.variation(s, s, m)
        J = problem.kernel(s, s).st * m[None, :] + np.diag(F2)
        step = -np.linalg.lstsq(J, F1, rcond=1e-15)[0]
        for _ in range(12):
            moved = problem.wrapped(_stopped(s, step, kinks))
            if np.abs(problem.variation(moved, moved, m)[1]).max() < np.abs(F1).max():
                break
            step = step / 2
        else:
            break
        s = moved
    return s


def _damped(
    system: Float[np.ndarray, "r u"], residual: Float[np.ndarray, "r"], damping: float
) -> Float[np.ndarray, "u"]:
    """The least-squares step; stacked rows do not square the condition number."""
    k = system.shape[1]
    rows = np.vstack([system, damping * np.eye(k)])
    right = np.concatenate([-residual, np.zeros(k)])
    return np.linalg.lstsq(rows, right, rcond=1e-15)[0]


def _stepped(
    problem: AbstractReduced,
    s: Float[np.ndarray, "k"],
    m: Float[np.ndarray, "k"],
    free: Bool[np.ndarray, "k"],
    step: Float[np.ndarray, "u"],
    kinks: Float[np.ndarray, "c"],
):
    ds, dm = np.zeros(len(s)), step[free.sum() : -1]
    ds[free] = step[: free.sum()]
    shrink = np.where(dm < 0, 0.9 * m / np.where(dm < 0, -dm, 1.0), np.inf)
    share = min(1.0, shrink.min())
    new_m = m + share * dm
    return problem.wrapped(_stopped(s, share * ds, kinks)), new_m / new_m.sum()


def _stopped(
    s: Float[np.ndarray, "k"], ds: Float[np.ndarray, "k"], kinks: Float[np.ndarray, "c"]
) -> Float[np.ndarray, "k"]:
    """s + ds, except that an atom stops at the first kink on its way."""
    moved = s + ds
    for kink in kinks:
        ahead = (kink - s) * ds > 0
        crossed = ahead & (np.abs(kink - s) < np.abs(moved - s))
        moved = np.where(crossed, kink + np.sign(ds) * OVER, moved)
    return moved


def _system(
    problem: AbstractReduced, s: Float[np.ndarray, "k"], m: Float[np.ndarray, "k"]
):
    """The residual, its Jacobian in (s_free, m, lambda), and who is free."""
    F, F1, F2 = problem.variation(s, s, m)
    free = np.ones(len(s), dtype=bool)
    if problem.bounds is not None:
        low, high = problem.bounds
        free = ~(((s <= low) & (F1 >= 0)) | ((s >= high) & (F1 <= 0)))
    k, n = problem.kernel(s, s), len(s)
    of_slopes = np.hstack([np.diag(F2) + k.st * m, k.s, np.zeros((n, 1))])
    of_values = np.hstack([np.diag(F1) + k.t * m, k.value, -np.ones((n, 1))])
    of_mass = np.concatenate([np.zeros(n), np.ones(n), [0.0]])[None]
    columns = np.concatenate([free, np.ones(n + 1, dtype=bool)])
    system = np.vstack([of_slopes[free], of_values, of_mass])[:, columns]
    return np.concatenate([F1[free], F - m @ F, [0.0]]), system, free


def settled(F: AbstractFunctional, mu: Particles) -> Particles:
    """The critical point near mu with the same masses: Newton on F_mu'(theta_i) = 0.

    Transport keeps the mass of every atom, so this is where the flow of F is going (in
    either direction). Merge clusters first: `settled(F, mu.merge(0.1))`.
    """
    if not isinstance(mu.space, Circle):
        raise InputError(f"`mu` must live on Circle(), got {mu.space!r}.")
    terms = Terms.of(F)
    problem = Angles(terms.over(terms.scale))
    s = np.asarray(mu.space.angles(mu.points), dtype=float)
    s = settle(problem, s, np.asarray(mu.weights, dtype=float))
    return Particles(mu.space, mu.space.points(jnp.asarray(s)), mu.weights)
