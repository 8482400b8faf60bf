"""Newton's method on the optimality system of an atomic measure."""

import numpy as np

from pushforward.functionals._reduced import AbstractReduced

STEPS = 40
OVER = 1e-10  # a step that meets a kink stops this far beyond it, in the next cell


def polish(
    problem: AbstractReduced, s: np.ndarray, m: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Solve F'(s_i) = 0, F(s_i) = lambda, sum m_i = 1 for positions and masses.

    Atoms at the end of an interval that F pushes outward stay there. Steps keep masses
    positive, stop at kinks of the potential, and are halved until the residual falls.
    """
    kinks = problem.kinks()
    size, system, free = _system(problem, s, m)
    for _ in range(STEPS):
        step = -np.linalg.lstsq(system, _residual(problem, s, m, free), rcond=1e-15)[0]
        moved = _searched(problem, s, m, free, step, kinks, size)
        if moved is None:
            break
        s, m = moved
        size, system, free = _system(problem, s, m)
    return s, m


def settle(problem: AbstractReduced, s: np.ndarray, m: np.ndarray) -> np.ndarray:
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


def _searched(problem, s, m, free, step, kinks, size):
    """The longest of the halved steps that lowers the residual, or None."""
    ds, dm = np.zeros(len(s)), step[free.sum() : -1]
    ds[free] = step[: free.sum()]
    shrink = np.where(dm < 0, 0.9 * m / np.where(dm < 0, -dm, 1.0), np.inf)
    share = min(1.0, shrink.min())
    for _ in range(12):
        new_s = problem.wrapped(_stopped(s, share * ds, kinks))
        new_m = m + share * dm
        new_m = new_m / new_m.sum()
        if np.abs(_residual(problem, new_s, new_m, free)).max() < size:
            return new_s, new_m
        share /= 2
    return None


def _stopped(s: np.ndarray, ds: np.ndarray, kinks: np.ndarray) -> np.ndarray:
    """s + ds, except that an atom stops at the first kink on its way."""
    moved = s + ds
    for kink in kinks:
        ahead = (kink - s) * ds > 0
        crossed = ahead & (np.abs(kink - s) < np.abs(moved - s))
        moved = np.where(crossed, kink + np.sign(ds) * OVER, moved)
    return moved


def _residual(problem, s, m, free) -> np.ndarray:
    F, F1, _ = problem.variation(s, s, m)
    return np.concatenate([F1[free], F - m @ F, [m.sum() - 1.0]])


def _system(problem, s, m):
    """The size of the residual, its Jacobian in (s_free, m, lambda), and who is free."""
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
    residual = np.concatenate([F1[free], F - m @ F])
    return float(np.abs(residual).max()), system, free
