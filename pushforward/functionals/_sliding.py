"""Sliding Frank-Wolfe: add an atom where the first variation is least, then slide all.

Each round ends with a certificate: F(mu) - min F <= lambda - min_x F_mu(x), where
lambda = int F_mu dmu, because F is convex in the measure.
"""

import dataclasses

import numpy as np

from pushforward.functionals._polish import polish
from pushforward.functionals._reduced import AbstractReduced
from pushforward.functionals._simplex import simplex_weights

COARSE, FINE = 4000, 16000  # points of the grid while searching, and to certify
LIGHT = 1e-13  # masses below are pruned


@dataclasses.dataclass(frozen=True)
class Found:
    """Atoms, their masses, and the certificate they come with."""

    s: np.ndarray
    m: np.ndarray
    multiplier: float
    lowest: float
    rounds: int

    @property
    def gap(self) -> float:
        """lambda - min F_mu."""
        return self.multiplier - self.lowest


def sliding_frank_wolfe(problem: AbstractReduced, tol: float, rounds: int) -> Found:
    """The best atomic measure found, with its duality gap."""
    grid = np.concatenate([problem.grid(COARSE), problem.kinks()])
    start = grid[[int(np.argmin(problem.potential(grid)[0]))]]
    found, low = certified(problem, start, np.ones(1), COARSE, 0)
    best = found
    for k in range(1, rounds + 1):
        s, m = _slid(problem, *_with_atoms(problem, found.s, found.m, low))
        merged = [_merged(problem, s, m, radius) for radius in _radii(problem)]
        tries = {len(s): (s, m) for s, m in merged}  # equal counts: the same mergers
        done = [_polished(problem, *atoms, k) for atoms in tries.values()]
        found, low = min(done, key=lambda result: result[0].gap)
        if found.gap <= tol:
            found, low = certified(problem, found.s, found.m, FINE, k)
        if found.gap < best.gap:
            best = found
        if found.gap <= tol:
            return found
    return best


def _radii(problem: AbstractReduced) -> tuple[float, ...]:
    """Radii to merge at: the first always; the others heal atoms that were split.

    Where F_mu is nearly flat, sliding alone would bring two halves of an atom together
    only slowly. A merger that is wrong shows in the gap and is not chosen.
    """
    fastest = max([1.0, *(beta for _, beta in problem.terms.interactions)])
    return tuple(r / np.sqrt(fastest) for r in (0.02, 0.15, 0.5))


def _polished(problem, s, m, k: int):
    s, m = _reweighted(problem, s, m)
    return certified(problem, *polish(problem, s, m), COARSE, k)


def certified(
    problem: AbstractReduced, s: np.ndarray, m: np.ndarray, n: int, rounds: int
) -> tuple[Found, np.ndarray]:
    """The certificate on a grid with refined minima, and where F_mu is below lambda."""
    multiplier = float(m @ problem.variation(s, s, m)[0])
    x = _minima(problem, s, m, n)
    F = problem.variation(x, s, m)[0]
    lowest = min(float(F.min()), multiplier)
    below = F < multiplier - 0.05 * (multiplier - lowest)
    return Found(s, m, multiplier, lowest, rounds), x[below]


def _minima(problem: AbstractReduced, s: np.ndarray, m: np.ndarray, n: int):
    """Local minima of F_mu: found on a grid, then bisected on the slope."""
    x = np.sort(np.concatenate([problem.grid(n), problem.kinks()]))
    F = problem.variation(x, s, m)[0]
    if problem.bounds is None:
        x, F = np.append(x, x[0] + 2 * np.pi), np.append(F, F[0])
        before, after = np.append(F[-2], F[:-1]), np.append(F[1:], F[1])
        left, right = np.append(x[-2] - 2 * np.pi, x[:-1]), np.append(x[1:], x[1])
        right[-1] += 2 * np.pi
    else:
        before, after = np.append(np.inf, F[:-1]), np.append(F[1:], np.inf)
        left, right = np.append(x[0], x[:-1]), np.append(x[1:], x[-1])
    at = (F <= before) & (F <= after)
    low, high, seen = left[at], right[at], x[at]
    for _ in range(40):
        middle = (low + high) / 2
        rising = problem.variation(middle, s, m)[1] > 0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    refined = (low + high) / 2
    candidates = np.concatenate([refined, seen])
    return problem.wrapped(candidates)


def _with_atoms(problem, s, m, new):
    """Add atoms, then the best masses on all of them."""
    s = np.concatenate([s, new])
    m = np.concatenate([m, np.zeros(len(new))])
    return _reweighted(problem, s, m)


def _reweighted(problem, s, m):
    m = simplex_weights(problem.kernel(s, s).value, problem.potential(s)[0], m)
    heavy = m > LIGHT
    return s[heavy], m[heavy] / m[heavy].sum()


def _slid(problem, s, m):
    """L-BFGS on positions and log-masses together."""
    from scipy.optimize import minimize  # late: half of the import time of the folder

    n = len(s)

    def energy(y):
        s, m = y[:n], np.exp(y[n:] - y[n:].max())
        m = m / m.sum()
        F, F1, _ = problem.variation(s, s, m)
        K = problem.kernel(s, s).value
        return m @ F - m @ K @ m / 2, np.concatenate([m * F1, m * (F - m @ F)])

    start = np.concatenate([s, np.log(m)])
    ends = problem.bounds or (None, None)
    limits = [ends] * n + [(None, None)] * n
    options = {"maxiter": 200, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 20}
    y = minimize(  # type: ignore[call-overload]
        energy, start, jac=True, method="L-BFGS-B", bounds=limits, options=options
    ).x
    m = np.exp(y[n:] - y[n:].max())
    return problem.wrapped(y[:n]), m / m.sum()


def _merged(problem, s, m, radius: float):
    """One atom for every chain of atoms within the radius, also across the angle pi."""
    s = problem.wrapped(s)
    order = np.argsort(s)
    s, m = s[order], m[order]
    label = np.concatenate([[0], np.cumsum(np.diff(s) > radius)])
    if problem.bounds is None and label[-1] > 0:
        if s[0] + 2 * np.pi - s[-1] <= radius:
            s = np.where(label == label[-1], s - 2 * np.pi, s)
            label = np.where(label == label[-1], 0, label)
    masses = np.bincount(label, m)
    return problem.wrapped(np.bincount(label, m * s) / masses), masses
