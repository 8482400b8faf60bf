"""Attention with a perceptron as a problem of one coordinate, for Frank-Wolfe.

Masses on fixed atoms: a small convex quadratic program on the simplex.
"""

import dataclasses

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError
from pushforward.functionals._frank_wolfe import (
    AbstractProblem,
    Atoms,
    Certified,
    Masses,
    Points,
    Positions,
)
from pushforward.functionals._functional import AbstractFunctional
from pushforward.functionals._polish import polish
from pushforward.functionals._reduced import AbstractReduced, Angles, parallels
from pushforward.functionals._terms import Terms
from pushforward.measures import Particles
from pushforward.spaces import AbstractSpace, Circle, Sphere

RIDGE = 1e-14  # of a kernel whose largest value is one


def simplex_weights(
    K: Float[np.ndarray, "k k"], V: Float[np.ndarray, "k"], m: Float[np.ndarray, "k"]
) -> Float[np.ndarray, "k"]:
    """argmin of m^T K m / 2 + V^T m over m >= 0, sum m = 1, from a feasible m.

    Active set on the optimality system K m + V = lambda on the support, K m + V >=
    lambda off it. K is expected in units in which its largest value is one.
    """
    m = m.copy()
    for _ in range(10 * len(m) + 10):
        m = _optimal_on_support(K, V, m)
        F = K @ m + V
        reduced = F - m @ F
        reduced[m > 0] = 0.0
        enter = int(np.argmin(reduced))
        if reduced[enter] >= -1e-14 * (1 + np.abs(F).max()):
            break
        m[enter] = 1e-12 * m.max()  # in the support from now on
        m /= m.sum()
    return m


def _optimal_on_support(
    K: Float[np.ndarray, "k k"], V: Float[np.ndarray, "k"], m: Float[np.ndarray, "k"]
) -> Float[np.ndarray, "k"]:
    """The minimizer over the support, which shrinks whenever a mass reaches zero."""
    m = m.copy()
    while True:
        on = np.flatnonzero(m > 0)
        goal = _equalized(K[np.ix_(on, on)], V[on])
        step = goal - m[on]
        falling = step < 0
        room = np.where(falling, m[on] / np.where(falling, -step, 1.0), np.inf)
        share = min(1.0, room.min(initial=np.inf))
        moved = m[on] + share * step
        if share < 1.0:
            moved[np.argmin(room)] = 0.0
        m[on] = np.maximum(moved, 0.0)
        m /= m.sum()
        if share == 1.0:
            return m


def _equalized(
    K: Float[np.ndarray, "k k"], V: Float[np.ndarray, "k"]
) -> Float[np.ndarray, "k"]:
    """m with K m + V = lambda and sum m = 1.

    The ridge makes directions without curvature long steps downhill, which end where
    a mass reaches zero.
    """
    n = len(V)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n], system[:n, n], system[n, :n] = K, -1.0, 1.0
    system[:n, :n] += RIDGE * np.eye(n)
    return np.linalg.solve(system, np.append(-V, 1.0))[:n]


COARSE, FINE = 4000, 16000  # points of the grid while searching, and to certify
LIGHT = 1e-13  # masses below are pruned


@dataclasses.dataclass(frozen=True)
class OneCoordinate(AbstractProblem):
    """Angles on the circle, or heights of parallels on S^2.

    `reduced` is in units in which the largest kernel value is one: safe at every beta.
    """

    reduced: AbstractReduced
    unit: float = 1.0

    @classmethod
    def of(cls, F: AbstractFunctional, space: AbstractSpace) -> "OneCoordinate":
        """The problem of a sum of interaction energies and potentials."""
        terms = Terms.of(F)
        terms.check_convex()
        return cls(_reduced(terms.over(terms.scale), space), terms.scale)

    @property
    def coordinate(self) -> str:  # type: ignore[override]
        """In words."""
        return "angle" if isinstance(self.reduced, Angles) else "height"

    def start(self) -> Certified:
        """One atom where the potential is least."""
        grid = np.concatenate([self.reduced.grid(COARSE), self.reduced.kinks()])
        least = int(np.argmin(self.reduced.potential(grid)[0]))
        return self.certified(grid[[least]], np.ones(1))

    def reweighted(self, s: Positions, m: Masses, gap: float = 0.0) -> Atoms:
        """By an active set, to rounding."""
        K, V = self.reduced.kernel(s, s).value, self.reduced.potential(s)[0]
        m = simplex_weights(K, V, m)
        heavy = m > LIGHT
        return s[heavy], m[heavy] / m[heavy].sum()

    def slid(self, s: Positions, m: Masses) -> list[Atoms]:
        """By L-BFGS, then by Newton's method on atoms merged at each of a few radii."""
        s, m = _slid(self.reduced, s, m)
        merged = [_merged(self.reduced, s, m, r) for r in _radii(self.reduced)]
        tries = {len(s): (s, m) for s, m in merged}  # equal counts: the same mergers
        return [
            polish(self.reduced, *self.reweighted(*atoms)) for atoms in tries.values()
        ]

    def certified(self, s: Positions, m: Masses, n: int = COARSE) -> Certified:
        """lambda - min F_mu on a grid of n points whose minima are refined."""
        multiplier = float(m @ self.variation(s, s, m))
        x = _minima(self.reduced, s, m, n)
        F = self.variation(x, s, m)
        gap = max(multiplier - float(F.min()), 0.0)
        return Certified(s, m, gap, x[F < multiplier - 0.05 * gap])

    def searched(self, state: Certified) -> Certified:
        """On the fine grid."""
        return self.certified(state.positions, state.masses, FINE)

    def value(self, s: Positions, m: Masses) -> float:
        """F(mu)."""
        return self.reduced.value(s, m)

    def variation(self, x: Points, s: Positions, m: Masses) -> np.ndarray:
        """F_mu at the angles or heights x."""
        return self.reduced.variation(x, s, m)[0]

    def at_atoms(self, s: Positions, m: Masses) -> tuple[float, np.ndarray]:
        """Slope and curvature; an atom at a pole is not free."""
        _, slope, curvature = self.reduced.variation(s, s, m)
        if self.reduced.bounds is not None:
            slope = slope[np.abs(s) < 1.0]
        return float(np.abs(slope).max(initial=0.0)), curvature

    def ordered(self, s: Positions, m: Masses) -> Atoms:
        """Sorted; an atom at pi is at pi, not at -pi."""
        if self.reduced.bounds is None:
            s = np.where(s < 1e-9 - np.pi, s + 2 * np.pi, s)
        order = np.argsort(s)
        return s[order], m[order]

    def measure(self, space: AbstractSpace, s: Positions, m: Masses) -> Particles:
        """The atoms on the circle; on S^2 every parallel as a ring of points."""
        return Particles(space, *self.reduced.points(s, m))


def _reduced(terms: Terms, space: AbstractSpace) -> AbstractReduced:
    """The functional in one coordinate: angles, or heights on S^2."""
    circle = isinstance(space, Circle) or (isinstance(space, Sphere) and space.d == 2)
    if not (circle or (isinstance(space, Sphere) and space.d == 3)):
        raise InputError(
            f"`space` must be Circle() or Sphere(3), got {space!r}. In higher "
            "dimension only particles are available: pf.flow(pf.GradientFlow(F), ...)."
        )
    for neurons in terms.neurons:
        if neurons.A.shape[1] != space.d:
            raise InputError(
                f"`A` must have rows of dimension {space.d} on {space!r}, got shape "
                f"{neurons.A.shape}."
            )
    return Angles(terms) if circle else parallels(terms)


def _radii(problem: AbstractReduced) -> tuple[float, ...]:
    """Radii to merge at: the first always; the others heal atoms that were split.

    Where F_mu is nearly flat, sliding alone would bring two halves of an atom together
    only slowly. A merger that is wrong shows in the gap and is not chosen.
    """
    fastest = max([1.0, *(beta for _, beta in problem.terms.interactions)])
    return tuple(r / np.sqrt(fastest) for r in (0.02, 0.15, 0.5))


def _minima(problem: AbstractReduced, s: Positions, m: Masses, n: int):
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
